package main

import (
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

// bulk is a person's action on all events that a filter chooses.
type bulk struct {
	verb   string // what has happened to them: replayed
	due    bool   // the processor has to decide them now
	dryRun bool
	run    func(ctx context.Context, d *operate.Desk, progress func(operate.Report)) (operate.Report, error)
}

// act carries the action out and tells how it goes and how it went.
func act(c *cobra.Command, env environment, file string, b bulk) error {
	d, err := desk(file, env)
	if err != nil {
		return err
	}
	human := !wantsJSON(c, env)
	var progress func(operate.Report)
	if human && !b.dryRun {
		progress = func(r operate.Report) {
			if r.Done > 0 {
				fmt.Fprintf(env.err, "\r%d %s", r.Done, b.verb)
			}
		}
	}
	report, err := b.run(c.Context(), d, progress)
	if progress != nil && report.Done > 0 {
		fmt.Fprintln(env.err)
	}
	if err != nil {
		return err
	}
	if human {
		err = showBulk(env, b, report)
	} else {
		err = printJSON(env.out, report)
	}
	if err == nil && report.Failed > 0 {
		return errReported
	}
	return err
}

func showBulk(env environment, b bulk, report operate.Report) error {
	verb, n := b.verb, report.Done
	if b.dryRun {
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
			t.row("  "+title, name, fmt.Sprint(by[name]))
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
	if b.due && !b.dryRun && report.Done > 0 {
		fmt.Fprintln(env.out, "due now: a running bridge that is idle looks for them within poller.idle (60s if not set)")
	}
	return nil
}
