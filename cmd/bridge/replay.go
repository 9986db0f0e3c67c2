package main

import (
	"github.com/spf13/cobra"

	"sfbridge/bridge/operate"
)

func newReplay(env environment) *cobra.Command {
	c := &cobra.Command{
		Use: "replay", Short: "Make events due again",
		Long: "Makes events of Review due again (with --force those of Completed too), under their own ids: they\n" +
			"are decided anew and can't overwrite newer data. Count first with --dry-run.",
		Example: "  bridge replay --config bridge.yaml --status review --code FIELD --dry-run",
	}
	return decide(c, env, decision{verb: "replayed", due: true, forceable: true, do: (*operate.Desk).Replay})
}
