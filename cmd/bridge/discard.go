package main

import (
	"context"

	"github.com/spf13/cobra"

	"sfbridge/bridge/operate"
)

func newDiscard(env environment) *cobra.Command {
	var f filterFlags
	var r operate.Discard
	c := &cobra.Command{
		Use: "discard", Short: "End events of Review without any effect",
		Long: "Completes events of Review with the outcome Discarded: they change no record, and their failed\n" +
			"effects are not sent any more. Count first with --dry-run.",
		Example: "  bridge discard --config bridge.yaml --id stripe:evt_1 --reason \"a test of the shop's\"",
		RunE: func(c *cobra.Command, _ []string) error {
			if err := f.complete(c, env); err != nil {
				return err
			}
			if err := required(c, "reason"); err != nil {
				return err
			}
			r.Filter, r.Who = f.filter, env.user
			return act(c, env, f.config, bulk{verb: "discarded", dryRun: r.DryRun, run: func(ctx context.Context, d *operate.Desk, p func(operate.Report)) (operate.Report, error) {
				r.Progress = p
				return d.Discard(ctx, r)
			}})
		},
	}
	f.add(c)
	c.Flags().BoolVar(&r.DryRun, "dry-run", false, "count only")
	c.Flags().StringVar(&r.Reason, "reason", "", "why, for the history (required)")
	return c
}
