package main

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"sfbridge/bridge/demo"
)

type demoOptions struct {
	events int
	serve  bool
}

func newDemo(env environment) *cobra.Command {
	var o demoOptions
	c := &cobra.Command{
		Use: "demo", Short: "Show the main job: signed deliveries end as the right records",
		Long: "Starts a simulated org and the bridge, sends signed deliveries and plays nine checks:\n" +
			"duplicates, reordering, a bad row, lost replies, a forged signature, a burst and a replay.\n" +
			"Four scenes follow: an effect sent once, drift found and repaired, a conflict accepted,\n" +
			"an archive restored. Exit code 1 if a check or scene fails.\n" +
			"With --serve all stays up afterwards, with the console: its address and a token for it are printed.",
		RunE: func(c *cobra.Command, _ []string) error {
			if o.events < 1 {
				return usage("--events %d: at least 1", o.events)
			}
			return runDemo(c, env, o)
		},
	}
	c.Flags().IntVar(&o.events, "events", 2000, "of the burst")
	c.Flags().BoolVar(&o.serve, "serve", false, "keep org, bridge and console up afterwards")
	return c
}

func runDemo(c *cobra.Command, env environment, o demoOptions) error {
	ctx := c.Context()
	cfg := demo.Config{Events: o.events}
	human := !wantsJSON(c, env)
	if human {
		cfg.Started = func(check demo.Check) { fmt.Fprintf(env.out, "      %s …", check.Name) }
		cfg.Done = func(check demo.Check) {
			fmt.Fprintf(env.out, "\r%s  %-17s %s\n", mark(check.OK), check.Name, oneLine(check.Detail))
		}
	}
	d, err := demo.Start(ctx, cfg)
	if err != nil {
		return err
	}
	defer d.Close()
	report, err := d.Run(ctx)
	if err != nil {
		return err
	}
	if human {
		err = showDemo(env, report)
	} else {
		err = printJSON(env.out, report)
	}
	if err != nil {
		return err
	}
	if o.serve {
		tellUp(env.err, d)
		<-ctx.Done()
	}
	if !report.OK() {
		return errReported
	}
	return nil
}

// tellUp says how to go on with a demo that is kept up.
func tellUp(w io.Writer, d *demo.Demo) {
	fmt.Fprintf(w, "\nup until interrupted; send it more:\n  bridge send --provider stripe --secret %s --url %s --body event.json\n", d.Secret(), d.URL())
	fmt.Fprintf(w, "console:       %s\nits token:     %s\nsimulated org: %s\n", d.ConsoleURL(), d.Token(), d.OrgURL())
}

func mark(ok bool) string {
	if ok {
		return "pass"
	}
	return "FAIL"
}

func showDemo(env environment, r demo.Report) error {
	fmt.Fprintln(env.out, "\nrecords in the org")
	t := newTable(env.out)
	for _, object := range slices.Sorted(maps.Keys(r.Records)) {
		t.row("  "+object, fmt.Sprint(r.Records[object]))
	}
	if err := t.flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(env.out, "\n%d API calls in all, %.4f per event of the burst, %.1f s\n", r.APICalls, r.CallsPerEvent, r.Seconds)
	return err
}
