package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"sfbridge/bridge/operate"
)

// groups tells how many events there are of each kind, and why they wait.
func groups(c *cobra.Command, env environment, d *operate.Desk, f operate.Filter) error {
	found, err := d.Groups(c.Context(), f)
	if err != nil {
		return err
	}
	if wantsJSON(c, env) {
		return printJSON(env.out, map[string]any{"groups": found})
	}
	if len(found) == 0 {
		fmt.Fprintln(env.out, "no events")
		return nil
	}
	t := newTable(env.out, "EVENTS", "STATUS", "CODE", "SOURCE", "TYPE", "OLDEST", "NEWEST")
	for _, g := range found {
		t.row(fmt.Sprint(g.Events), string(g.Status), g.Code, g.Source, short(g.Type, 40), day(g.Oldest), day(g.Newest))
	}
	return t.flush()
}

func day(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.Format(time.RFC3339)
}
