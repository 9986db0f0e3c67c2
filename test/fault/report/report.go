// Package report writes what the long form of the fault suite has found as the
// table of docs/reliability.md, between its two marks.
package report

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// Marks between which the table stands; what is around them is written by hand.
const (
	Begin = "<!-- table: written by make fault -->"
	End   = "<!-- end of table -->"
)

// Row is what one scenario came to.
type Row struct {
	Name, Breaks                 string
	Events, Accepted, Duplicates int
	Resent, Killed               int
	Lost, Doubled, Review        int
	Calls, Logins, RSS           int
	Recovery                     time.Duration
}

// Table gathers rows. Its zero value is empty and ready; it is safe for
// concurrent use.
type Table struct {
	mu   sync.Mutex
	rows []Row
}

// Add takes a row in.
func (t *Table) Add(r Row) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rows = append(t.rows, r)
}

// Markdown is the table in the order of names, with the sum of each count.
func (t *Table) Markdown() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	slices.SortFunc(t.rows, func(a, b Row) int { return strings.Compare(a.Name, b.Name) })
	var b strings.Builder
	b.WriteString("| scenario | what is broken | events | accepted | duplicates | resent | killed | lost | doubled | review | calls/event | logins | MiB | rest s |\n")
	b.WriteString("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	sum := Row{Name: "**all**"}
	for _, r := range t.rows {
		b.WriteString(r.markdown())
		sum.add(r)
	}
	b.WriteString(sum.markdown())
	return b.String()
}

func (r Row) markdown() string {
	perEvent := 0.0
	if r.Events > 0 {
		perEvent = float64(r.Calls) / float64(r.Events)
	}
	return fmt.Sprintf("| %s | %s | %d | %d | %d | %d | %d | %d | %d | %d | %.3f | %d | %d | %.1f |\n",
		r.Name, r.Breaks, r.Events, r.Accepted, r.Duplicates, r.Resent, r.Killed, r.Lost, r.Doubled, r.Review,
		perEvent, r.Logins, r.RSS, r.Recovery.Seconds())
}

// add sums counts; of memory and time the worst stands.
func (r *Row) add(o Row) {
	for to, n := range map[*int]int{
		&r.Events: o.Events, &r.Accepted: o.Accepted, &r.Duplicates: o.Duplicates, &r.Resent: o.Resent, &r.Killed: o.Killed,
		&r.Lost: o.Lost, &r.Doubled: o.Doubled, &r.Review: o.Review, &r.Calls: o.Calls, &r.Logins: o.Logins,
	} {
		*to += n
	}
	r.RSS, r.Recovery = max(r.RSS, o.RSS), max(r.Recovery, o.Recovery)
}

// Write puts the table between the marks of a file.
func (t *Table) Write(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("writing the table: %w", err)
	}
	before, rest, begun := bytes.Cut(text, []byte(Begin))
	_, after, ended := bytes.Cut(rest, []byte(End))
	if !begun || !ended {
		return fmt.Errorf("writing the table: %s has not the marks %q and %q", file, Begin, End)
	}
	out := slices.Concat(before, []byte(Begin+"\n\n"+t.Markdown()+"\n"+End), after)
	if err := os.WriteFile(file, out, 0o644); err != nil { //nolint:gosec // a document for everybody
		return fmt.Errorf("writing the table: %w", err)
	}
	return nil
}
