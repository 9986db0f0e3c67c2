package bench

import (
	"fmt"
	"strings"
)

// Page puts sections in the place of the old ones in a page. A section stands
// between two comments:
//
//	<!-- bench:NAME -->
//	<!-- /bench:NAME -->
//
// A page needs not have all sections, but a comment without its other half is an
// error, and so is a page without any.
func Page(page string, sections map[string]string) (string, error) {
	found := 0
	for name, text := range sections {
		begin, end := fmt.Sprintf("<!-- bench:%s -->\n", name), fmt.Sprintf("<!-- /bench:%s -->", name)
		before, rest, hasBegin := strings.Cut(page, begin)
		_, after, hasEnd := strings.Cut(rest, end)
		switch {
		case !hasBegin && !strings.Contains(page, end):
			continue
		case !hasBegin || !hasEnd:
			return "", fmt.Errorf("the page has one of the two comments of bench:%s", name)
		}
		found++
		page = before + begin + "\n" + strings.TrimSpace(text) + "\n\n" + end + after
	}
	if found == 0 {
		return "", fmt.Errorf("the page has no place for figures: write <!-- bench:table --> and <!-- /bench:table -->")
	}
	return page, nil
}

// Sections are the report in Markdown: figures, required, table, conditions, and
// what was measured of bulk and curves. pictures is where the files of the curves lie, as
// seen from the page.
func (r Report) Sections(pictures string) map[string]string {
	s := map[string]string{
		"figures": r.figures(), "required": r.required(), "table": rowsTable(r.Table), "conditions": r.Conditions.text(),
	}
	if len(r.Bulk) > 0 {
		s["bulk"] = rowsTable(r.Bulk)
	}
	if r.Curves != nil {
		s["curves"] = r.Curves.text(pictures)
	}
	return s
}

func (r Report) required() string {
	rows := [][]string{{"measure", "figure", "required", ""}}
	for _, q := range r.Requirements {
		verdict := "met"
		if !q.Met {
			verdict = "**not met**"
		}
		rows = append(rows, []string{q.Name, Figure(q.Figure) + " " + q.Unit, q.Want(), verdict})
	}
	return markdown(rows)
}

func rowsTable(list []Row) string {
	rows := [][]string{Columns()}
	for _, r := range list {
		rows = append(rows, r.Cells())
	}
	return markdown(rows)
}

func (c Conditions) text() string {
	return fmt.Sprintf("%d CPUs, org latency %.0f ms, %d senders, bodies of %d bytes; load of the machine before: %s. %s.",
		c.CPUs, c.LatencyMS, c.Senders, c.BodyBytes, c.LoadBefore, strings.Join(c.Notes, "; "))
}

func (c Curves) text(dir string) string {
	var out strings.Builder
	for _, curve := range c.Curves {
		fmt.Fprintf(&out, "### %s\n\n![%s](%s/%s.svg)\n\n", curve.Title, curve.Title, dir, curve.Name)
		rows := [][]string{{curve.Unit}}
		for _, l := range lines() {
			rows[0] = append(rows[0], l.name)
		}
		for _, p := range curve.Points {
			row := []string{fmt.Sprint(p.X)}
			for _, l := range lines() {
				row = append(row, grouped(l.of(p)))
			}
			rows = append(rows, row)
		}
		out.WriteString(markdown(rows) + "\n")
	}
	fmt.Fprintf(&out, "Spooled events lie in the %s. %s", c.Spool, c.Conditions.text())
	return out.String()
}

// markdown writes a table; the first row is its head.
func markdown(rows [][]string) string {
	var out strings.Builder
	for i, cells := range rows {
		fmt.Fprintf(&out, "| %s |\n", strings.Join(cells, " | "))
		if i == 0 {
			out.WriteString("|" + strings.Repeat("---|", len(cells)) + "\n")
		}
	}
	return out.String()
}

// Figure writes large numbers without a fraction and small ones with enough.
func Figure(v float64) string {
	switch {
	case v >= 100 || v == 0:
		return grouped(v)
	case v >= 1:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.4f", v)
}
