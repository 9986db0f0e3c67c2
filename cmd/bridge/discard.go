package main

import (
	"github.com/spf13/cobra"

	"sfbridge/bridge/operate"
)

func newDiscard(env environment) *cobra.Command {
	c := &cobra.Command{
		Use: "discard", Short: "End events of Review without applying them",
		Long: "Completes events of Review with the outcome Discarded: they change no record, and effects that they\n" +
			"have caused before and that are not delivered are not sent any more (one on its way at that\n" +
			"moment may still arrive). What was written and sent before stays. Count first with --dry-run.",
		Example: "  bridge discard --config bridge.yaml --id stripe:evt_1 --reason \"a test of the shop's\"",
	}
	return decide(c, env, decision{verb: "discarded", reasoned: true, do: (*operate.Desk).Discard})
}
