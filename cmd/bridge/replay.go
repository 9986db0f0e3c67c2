package main

import (
	"context"

	"github.com/spf13/cobra"

	"sfbridge/bridge/operate"
)

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
			return act(c, env, f.config, bulk{verb: "replayed", due: true, dryRun: r.DryRun, run: func(ctx context.Context, d *operate.Desk, p func(operate.Report)) (operate.Report, error) {
				r.Progress = p
				return d.Replay(ctx, r)
			}})
		},
	}
	f.add(c)
	c.Flags().BoolVar(&r.Force, "force", false, "completed events too")
	c.Flags().BoolVar(&r.DryRun, "dry-run", false, "count only")
	c.Flags().StringVar(&r.Reason, "reason", "", "for the history")
	return c
}
