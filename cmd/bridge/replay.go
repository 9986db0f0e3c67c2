package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sfbridge/bridge/operate"
)

// replayRate is how many events a second a replay makes due again.
const replayRate = 200

func newReplay(env environment) *cobra.Command {
	var f filterFlags
	var r operate.Replay
	c := &cobra.Command{
		Use: "replay", Short: "Make events due again",
		Long: "Makes events of Review due again (with --force those of Completed too), under their own ids: they\n" +
			"are decided anew and can't overwrite newer data. Count first with --dry-run.",
		Example: "  bridge replay --config bridge.yaml --status review --code FIELD --dry-run",
		RunE: func(c *cobra.Command, _ []string) error {
			if err := f.complete(c, env); err != nil {
				return err
			}
			r.Filter, r.Who = f.filter, env.user
			return replay(c, env, f.config, r)
		},
	}
	f.add(c)
	c.Flags().BoolVar(&r.Force, "force", false, "completed events too")
	c.Flags().BoolVar(&r.DryRun, "dry-run", false, "count only")
	c.Flags().StringVar(&r.Reason, "reason", "", "for the history")
	return c
}

func replay(c *cobra.Command, env environment, file string, r operate.Replay) error {
	d, err := desk(file, env)
	if err != nil {
		return err
	}
	human := !wantsJSON(c, env)
	if human && !r.DryRun {
		r.Progress = func(p operate.ReplayReport) { fmt.Fprintf(env.err, "\r%d replayed", p.Replayed) }
	}
	report, err := d.Replay(c.Context(), r)
	if r.Progress != nil {
		fmt.Fprintln(env.err)
	}
	if err != nil {
		return err
	}
	if human {
		err = showReplay(env, r, report)
	} else {
		err = printJSON(env.out, report)
	}
	if err == nil && report.Failed > 0 {
		return errReported
	}
	return err
}

func showReplay(env environment, r operate.Replay, report operate.ReplayReport) error {
	verb := "replayed"
	n := report.Replayed
	if r.DryRun {
		verb, n = "would be replayed", report.Matched
	}
	fmt.Fprintf(env.out, "%d events %s\n", n, verb)
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
	return t.flush()
}
