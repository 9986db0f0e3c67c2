package main

import (
	"github.com/spf13/cobra"

	"sfbridge/bridge/operate"
)

func newAccept(env environment) *cobra.Command {
	c := &cobra.Command{
		Use: "accept", Short: "Take conflict rows as the truth",
		Long: "A conflict row holds what came under the id of an accepted event with other content. To accept it\n" +
			"is to replay it: it wins against an event of equal order, and changes nothing where newer data was\n" +
			"applied since. bridge show prints both versions as a diff.",
		Example: "  bridge accept --config bridge.yaml --id \"stripe:evt_1#conflict:0123456789abcdef\" --reason \"confirmed by the shop\"",
	}
	return decide(c, env, decision{verb: "accepted", due: true, reasoned: true, do: (*operate.Desk).Accept})
}
