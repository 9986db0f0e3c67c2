package path

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/theory/jsonpath"
	"github.com/theory/jsonpath/spec"
)

// Parse compiles a path. Its error is a [*ParseError].
func Parse(text string) (Path, error) {
	if bare := strings.TrimSpace(text); bare != text && bare != "" {
		return Path{}, &ParseError{Text: strconv.Quote(text), What: "has white space at an end", Fix: "write " + bare}
	}
	if isHeaderPath(text) {
		return parseHeader(text)
	}
	root, query, err := splitRoot(text)
	if err != nil {
		return Path{}, err
	}
	segments, err := parseQuery(text, query)
	if err != nil {
		return Path{}, err
	}
	steps := make([]step, 0, len(segments))
	for _, seg := range segments {
		s, ok := singular(seg)
		if !ok {
			return Path{}, &ParseError{Text: text, What: "may select several values",
				Fix: "name one with member names and indexes, such as $.items[0].id; for all of them use each or split"}
		}
		steps = append(steps, s)
	}
	return Path{text: text, root: root, steps: steps}, nil
}

// ParseList compiles a list. Its error is a [*ParseError].
func ParseList(text string) (List, error) {
	root, query, err := splitRoot(text)
	if err != nil {
		return List{}, err
	}
	if root == RootElement {
		return List{}, &ParseError{Text: text, What: "a list can't start at @",
			Fix: "start at the event and write the nested level in one: $.orders[*].lines[*]"}
	}
	if !strings.HasSuffix(query, "[*]") {
		return List{}, &ParseError{Text: text, What: "isn't a list", Fix: "end it with [*]: " + text + "[*]"}
	}
	segments, err := parseQuery(text, query)
	if err != nil {
		return List{}, err
	}
	l := List{text: text, outer: Path{root: root}}
	cut := strings.Index(unquoted(text), "[*]")
	l.outer.text = text[:max(cut, 0)]
	for _, seg := range segments {
		if err := l.add(seg); err != nil {
			return List{}, err
		}
	}
	return l, nil
}

func (l *List) add(seg *spec.Segment) error {
	if s, ok := singular(seg); ok {
		if l.depth == 0 {
			l.outer.steps = append(l.outer.steps, s)
		} else {
			l.inner = append(l.inner, s)
		}
		return nil
	}
	if !isWildcard(seg) || strings.Contains(unquoted(l.text), ".*") {
		return &ParseError{Text: l.text, What: "only member names, indexes and [*] may stand in a list",
			Fix: "write it like $.orders[*] or $.orders[*].lines[*]"}
	}
	if l.depth++; l.depth > 2 {
		return &ParseError{Text: l.text, What: "has more than two [*]", Fix: "one nested level is the most"}
	}
	return nil
}

// singular returns the only selector of a segment that can select one value at
// most.
func singular(seg *spec.Segment) (step, bool) {
	if seg.IsDescendant() || len(seg.Selectors()) != 1 {
		return step{}, false
	}
	switch s := seg.Selectors()[0].(type) {
	case spec.Name:
		return step{name: string(s)}, true
	case spec.Index:
		return step{index: int(s), isIndex: true}, true
	}
	return step{}, false
}

func isWildcard(seg *spec.Segment) bool {
	if seg.IsDescendant() || len(seg.Selectors()) != 1 {
		return false
	}
	_, ok := seg.Selectors()[0].(spec.WildcardSelector)
	return ok
}

// splitRoot tells the root of a query and returns the query as RFC 9535
// writes it, with $ in front.
func splitRoot(text string) (Root, string, error) {
	switch {
	case strings.HasPrefix(text, "$$"):
		return RootDelivery, text[1:], nil
	case strings.HasPrefix(text, "$"):
		return RootEvent, text, nil
	case strings.HasPrefix(text, "@"):
		return RootElement, "$" + text[1:], nil
	case text == "":
		return 0, "", &ParseError{Text: `""`, What: "is empty", Fix: "write a path such as $.data.id"}
	case strings.HasPrefix(text, "{"):
		return 0, "", &ParseError{Text: text, What: "a path has no braces",
			Fix: "write " + strings.Trim(text, "{}") + "; text with paths in braces goes into template"}
	case strings.ContainsAny(text, "{}"):
		return 0, "", &ParseError{Text: text, What: "is a template, not a path", Fix: "write it as template"}
	}
	fix := "write $." + text
	if _, err := jsonpath.Parse("$." + text); err != nil {
		fix = "write $.NAME"
	}
	return 0, "", &ParseError{Text: text, What: "doesn't begin with $, $$, @ or header.",
		Fix: fix + " for a member of the event, value for fixed text"}
}

func parseQuery(text, query string) ([]*spec.Segment, error) {
	p, err := jsonpath.Parse(query)
	if err != nil {
		what, fix := describe(text, query, err)
		return nil, &ParseError{Text: text, What: what, Fix: fix}
	}
	return p.Query().Segments(), nil
}

var (
	plainName = regexp.MustCompile(`^[A-Za-z_\x{80}-\x{10FFFF}][0-9A-Za-z_\x{80}-\x{10FFFF}]*$`)
	digits    = regexp.MustCompile(`^[0-9]+$`)
	dotted    = regexp.MustCompile(`^\$\.?[^\[\]'"{}]+$`)
)

// describe says what is wrong with a query and gives the right form of the
// mistakes people make: names that need quotes, indexes after a dot, a root
// without its dot.
func describe(text, query string, err error) (what, fix string) {
	if !dotted.MatchString(query) {
		return "isn't a path: " + strings.TrimPrefix(err.Error(), jsonpath.ErrPathParse.Error()+": "),
			"write member names and indexes, such as $.items[0].id or $['first-name']"
	}
	what = "has no dot after its beginning"
	right := strings.Builder{}
	right.WriteString(text[:len(text)-len(query)+1])
	for part := range strings.SplitSeq(strings.TrimPrefix(query[1:], "."), ".") {
		switch {
		case part == "":
			return "has a dot without a name", "write one dot between two names, such as $.data.id"
		case plainName.MatchString(part):
			right.WriteString("." + part)
		default:
			fmt.Fprintf(&right, "['%s']", part)
			what = "has a name that needs quotes"
			if digits.MatchString(part) {
				fix = "; an element of an array is written [" + part + "]"
			}
		}
	}
	return what, "write " + right.String() + fix
}

// unquoted is text of the same length with everything inside quotes blanked.
func unquoted(text string) string {
	out := []byte(text)
	var quote byte
	for i := 0; i < len(out); i++ {
		c := out[i]
		switch {
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case quote == 0:
		case c == '\\' && i+1 < len(out):
			out[i], out[i+1] = ' ', ' '
			i++
		case c == quote:
			quote = 0
		default:
			out[i] = ' '
		}
	}
	return string(out)
}
