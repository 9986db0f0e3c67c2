package main

import (
	"context"

	"github.com/spf13/cobra"

	"sfbridge/bridge/operate"
)

func newAccept(env environment) *cobra.Command {
	var f filterFlags
	var r operate.Accept
	c := &cobra.Command{
		Use: "accept", Short: "Take conflict rows as the truth",
		Long: "A conflict row holds what came under the id of an accepted event with other content. To accept it\n" +
			"is to replay it: it wins against an event of equal order, and changes nothing where newer data was\n" +
			"applied since. bridge show prints both versions as a diff.",
		Example: "  bridge accept --config bridge.yaml --id \"stripe:evt_1#conflict:0123456789abcdef\" --reason \"confirmed by the shop\"",
		RunE: func(c *cobra.Command, _ []string) error {
			if err := f.complete(c, env); err != nil {
				return err
			}
			if err := required(c, "reason"); err != nil {
				return err
			}
			r.Filter, r.Who = f.filter, env.user
			return act(c, env, f.config, bulk{verb: "accepted", due: true, dryRun: r.DryRun, run: func(ctx context.Context, d *operate.Desk, p func(operate.Report)) (operate.Report, error) {
				r.Progress = p
				return d.Accept(ctx, r)
			}})
		},
	}
	f.add(c)
	c.Flags().BoolVar(&r.DryRun, "dry-run", false, "count only")
	c.Flags().StringVar(&r.Reason, "reason", "", "why, for the history (required)")
	return c
}
