package main

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"sfbridge/mapping"
)

// mapReport is what machines get.
type mapReport struct {
	Events  []mapping.DryResult `json:"events"`
	Summary *mapSummary         `json:"summary,omitempty"` // of several payloads
}

func (t *mapTrial) print(c *cobra.Command, env environment) error {
	summary := t.summary()
	var err error
	if wantsJSON(c, env) {
		report := mapReport{Events: []mapping.DryResult{}}
		for _, p := range t.payloads {
			report.Events = append(report.Events, p.results...)
		}
		if len(t.payloads) > 1 {
			report.Summary = &summary
		}
		err = printJSON(env.out, report)
	} else {
		err = t.show(env)
	}
	if err != nil {
		return err
	}
	return summary.verdict()
}

// show prints a table for each record, and one that sums up several payloads.
func (t *mapTrial) show(env environment) error {
	for _, p := range t.payloads {
		if len(t.payloads) > 1 {
			fmt.Fprintf(env.out, "== %s\n", oneLine(p.name))
		}
		if p.err != nil {
			fmt.Fprintf(env.out, "not a delivery of this source: %s\n", oneLine(p.err.Error()))
		}
		for i := range p.results {
			if err := t.showEvent(env, p.events[i], p.results[i]); err != nil {
				return err
			}
		}
	}
	if len(t.payloads) > 1 {
		return t.showSummary(env)
	}
	return nil
}

func (t *mapTrial) showEvent(env environment, e mapping.DryEvent, r mapping.DryResult) error {
	fmt.Fprintf(env.out, "%s  type %s  object %s  order %s  route %s: %s\n",
		oneLine(text(r.EventID)), oneLine(text(r.Type)), oneLine(text(r.ObjectID)), number(r.Order), text(r.Route), r.Outcome)
	route, found := t.file.Route(e.Input)
	if found && e.Reason == "" && r.Outcome != mapping.DryIgnore {
		if a := route.Authority(); a != nil {
			fmt.Fprintf(env.out, "  note: the service first loads the provider's object into %s (authority); a dry run maps what the payload has there\n", a.Into)
		}
		for _, record := range route.Explain(e.Input) {
			if err := showRecord(env, record); err != nil {
				return err
			}
		}
	}
	for _, problem := range r.Errors {
		fmt.Fprintf(env.out, "  review: %s\n", oneLine(dryError(problem)))
	}
	return nil
}

// showRecord prints where each value comes from and what becomes of it.
func showRecord(env environment, r mapping.Explained) error {
	fmt.Fprintf(env.out, "  %s %s by %s\n", r.Action, r.Object, r.Key.Field)
	t := newTable(env.out, "    FIELD", "SOURCE", "VALUE", "RESULT")
	for _, l := range r.Lines {
		field := "    " + l.Field
		if l.On != "" {
			field += " (on " + l.On + ")"
		}
		t.row(field, short(sourceCell(l), 60), short(rawCell(l), 60), short(resultCell(l), 80))
	}
	return t.flush()
}

func sourceCell(l mapping.Line) string {
	if l.Source == "" {
		return "(fixed)"
	}
	return l.Source
}

func rawCell(l mapping.Line) string {
	if !l.Present {
		return "(missing)"
	}
	return jsonText(l.Raw)
}

func resultCell(l mapping.Line) string {
	switch {
	case l.Reason != "":
		return "! " + l.Reason
	case !l.Sent:
		return "(left out)"
	case l.Result == nil:
		return "null (cleared)"
	}
	return jsonText(l.Result)
}

func (t *mapTrial) showSummary(env environment) error {
	count := strconv.Itoa
	table := newTable(env.out, "PAYLOAD", "EVENTS", "APPLY", "IGNORE", "REVIEW")
	for _, p := range t.payloads {
		if p.err != nil {
			table.row(p.name, "not read", "-", "-", "-")
			continue
		}
		apply, ignore, review := p.outcomes()
		table.row(p.name, count(len(p.results)), count(apply), count(ignore), count(review))
	}
	s := t.summary()
	table.row("all", count(s.Events), count(s.Apply), count(s.Ignore), count(s.Review))
	return table.flush()
}

func dryError(e mapping.DryError) string {
	s := e.Reason
	if e.Path != nil {
		s = *e.Path + ": " + s
	}
	if e.Field != nil {
		s = *e.Field + " from " + s
	}
	return s
}
