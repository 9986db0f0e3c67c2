package soak

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// Report is a run that has ended.
type Report struct {
	Conditions string // one line: what ran where
	Samples    []Sample
	Trends     []Trend
	Accepted   int // events
	Open       int // of these without an end
	Records    int
}

// Failures says in words what is not as it must be.
func (r Report) Failures() []string {
	var list []string
	for _, t := range r.Trends {
		if !t.Flat() {
			list = append(list, fmt.Sprintf("%s grew by %.1f %s, %.1f are allowed", t.Name, t.Growth, t.Unit, t.Allowed))
		}
	}
	if r.Records != r.Accepted || r.Open > 0 {
		list = append(list, fmt.Sprintf("%d events were accepted: %d are records, %d are open", r.Accepted, r.Records, r.Open))
	}
	return list
}

// Text is the report as Markdown.
func (r Report) Text() string {
	var b strings.Builder
	verdict := "flat, and every accepted event is one record"
	if failures := r.Failures(); len(failures) > 0 {
		verdict = "**failed**: " + strings.Join(failures, "; ")
	}
	fmt.Fprintf(&b, "%s\n\nVerdict: %s.\n\n", r.Conditions, verdict)
	b.WriteString("| figure | median | growth in the run | allowed |\n|---|---|---|---|\n")
	for _, t := range r.Trends {
		fmt.Fprintf(&b, "| %s | %.0f %s | %+.1f %s | %.1f |\n", t.Name, t.Median, t.Unit, t.Growth, t.Unit, t.Allowed)
	}
	var calls, faults int
	for _, s := range r.Samples {
		calls, faults = calls+s.Calls, faults+s.Faults
	}
	fmt.Fprintf(&b, "\n%d events accepted, %d records, %d calls of the org (%.4f an event), %d faults planted.\n\n",
		r.Accepted, r.Records, calls, float64(calls)/float64(max(1, r.Accepted)), faults)
	b.WriteString("| at | accepted | refused | no answer | calls | faults | RSS | heap | goroutines | files | p50 | p99 |\n" +
		"|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, s := range r.Samples {
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d | %.0f MiB | %.0f MiB | %.0f | %.0f | %.0f ms | %.0f ms |\n", s.At.Round(time.Second),
			s.Accepted, s.Refused, s.Unanswered, s.Calls, s.Faults, s.RSS, s.Heap, s.Goroutines, s.Files, s.P50, s.P99)
	}
	return b.String()
}

const (
	begin = "<!-- soak: begin -->\n"
	end   = "<!-- soak: end -->\n"
)

// WritePage puts a text between the markers of a page; a page without them gets
// them at its end.
func WritePage(page, text string) error {
	old, err := os.ReadFile(page)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	before, rest, found := strings.Cut(string(old), begin)
	_, after, closed := strings.Cut(rest, end)
	switch {
	case found && !closed:
		return fmt.Errorf("%s: the marker %q has no end", page, strings.TrimSpace(begin))
	case !found && before != "":
		before = strings.TrimRight(before, "\n") + "\n\n"
	}
	return os.WriteFile(page, []byte(before+begin+text+end+after), 0o644)
}
