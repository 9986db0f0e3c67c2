package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sfbridge/bridge/operate"
)

// bulkRate is how many events a second a person's action moves.
const bulkRate = 200

// decision is what a person does with all events that a filter chooses: a
// command of its own.
type decision struct {
	verb      string // what has happened to them: replayed
	due       bool   // the processor has to decide them then
	forceable bool   // it has --force
	reasoned  bool   // it needs --reason
	do        func(d *operate.Desk, ctx context.Context, o operate.Order) (operate.Report, error)
}

// decide gives a command its flags and what it does.
func decide(c *cobra.Command, env environment, d decision) *cobra.Command {
	var f filterFlags
	var o operate.Order
	f.add(c)
	flags := c.Flags()
	flags.BoolVar(&o.DryRun, "dry-run", false, "count only")
	if d.forceable {
		flags.BoolVar(&o.Force, "force", false, "completed events too")
	}
	if d.reasoned {
		flags.StringVar(&o.Reason, "reason", "", "why, for the history (required)")
	} else {
		flags.StringVar(&o.Reason, "reason", "", "why, for the history")
	}
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := f.complete(c, env); err != nil {
			return err
		}
		if d.reasoned {
			if err := required(c, "reason"); err != nil {
				return err
			}
		}
		o.Filter, o.Who = f.filter, env.user
		return act(c, env, actOptions{decision: d, order: o, config: f.config})
	}
	return c
}

// actOptions are a decision that a person has made.
type actOptions struct {
	decision
	order  operate.Order
	config string // settings file
}

// act carries a decision out and tells how it goes and how it went.
func act(c *cobra.Command, env environment, o actOptions) error {
	d, err := desk(o.config, env)
	if err != nil {
		return err
	}
	human := !wantsJSON(c, env)
	if human && !o.order.DryRun {
		o.order.Progress = func(r operate.Report) {
			if r.Done > 0 {
				fmt.Fprintf(env.err, "\r%d %s", r.Done, o.verb)
			}
		}
	}
	report, err := o.do(d, c.Context(), o.order)
	if o.order.Progress != nil && report.Done > 0 {
		endProgress(env, fmt.Sprintf("%d %s", report.Done, o.verb), err)
	}
	if err != nil {
		return err
	}
	if human {
		err = showBulk(env, o, report)
	} else {
		err = printJSON(env.out, report)
	}
	if err == nil {
		err = undone(o, report)
	}
	return err
}

// endProgress takes the line of progress away, since the report says it again;
// after an error it stays, and tells how far it came.
func endProgress(env environment, line string, err error) {
	if err != nil {
		fmt.Fprintln(env.err)
		return
	}
	fmt.Fprintf(env.err, "\r%*s\r", len(line), "")
}

// undone is the error of an action that did not do all that it was asked for by
// name, or that the org refused in part.
func undone(o actOptions, r operate.Report) error {
	switch {
	case len(r.Missing) > 0:
		more := ""
		if n := r.Skipped[operate.NoSuchEvent] - len(r.Missing); n > 0 {
			more = fmt.Sprintf(" and %d more", n)
		}
		return fmt.Errorf("there is no event %s%s that the filter chooses: bridge events lists those that are there", strings.Join(r.Missing, ", "), more)
	case r.Failed > 0:
		return errReported
	case len(o.order.Filter.IDs) == 0:
		return nil
	case len(r.Skipped) > 0:
		return fmt.Errorf("not every event that was named can be %s: %s", o.verb, strings.Join(slices.Sorted(maps.Keys(r.Skipped)), "; "))
	case r.Moved > 0:
		return fmt.Errorf("somebody else moved on %d of the events that were named: look at them again with bridge show", r.Moved)
	}
	return nil
}

func showBulk(env environment, o actOptions, report operate.Report) error {
	verb, n := o.verb, report.Done
	if o.order.DryRun {
		verb, n = "would be "+verb, report.Matched
	}
	noun := "events"
	if n == 1 {
		noun = "event"
	}
	fmt.Fprintf(env.out, "%d %s %s\n", n, noun, verb)
	t := newTable(env.out)
	counts := func(title string, by map[string]int) {
		for _, name := range slices.Sorted(maps.Keys(by)) {
			t.row("  "+title, cmp.Or(name, "none"), fmt.Sprint(by[name]))
		}
	}
	counts("status", report.ByStatus)
	counts("code", report.ByCode)
	counts("left alone", report.Skipped)
	if report.Moved > 0 {
		t.row("  moved on meanwhile", "", fmt.Sprint(report.Moved))
	}
	for _, refused := range report.Refusals {
		t.row("  refused", refused.EventID, strings.TrimSpace(refused.Code+" "+refused.Message))
	}
	if err := t.flush(); err != nil {
		return err
	}
	if o.due && !o.order.DryRun && report.Done > 0 {
		fmt.Fprintln(env.out, "due now: a running bridge that is idle looks for them within poller.idle (60s if not set)")
	}
	return nil
}
