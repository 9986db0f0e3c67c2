package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"sfbridge/bridge/plan"
)

func newPlan(env environment) *cobra.Command {
	var l plan.Load
	c := &cobra.Command{
		Use: "plan", Short: "Work out API calls, storage, Redis and processes for a load",
		Long: "Works out what so many events a day need: API calls against the limits of each edition, storage\n" +
			"against retention, memory of Redis for an hour without Salesforce, processes for the peak.\n" +
			"What the figures rest on is in docs/capacity.md, and in the output with --json.",
		Example: "  bridge plan --events-per-day 100000 --edition enterprise --licenses 50 --effects 1\n" +
			"  bridge plan --events-per-day 2000000 --burst 20 --retention-days 30 --json",
		RunE: func(c *cobra.Command, _ []string) error {
			if err := required(c, "events-per-day"); err != nil {
				return err
			}
			return runPlan(c, env, l)
		},
	}
	f := c.Flags()
	f.Float64Var(&l.EventsPerDay, "events-per-day", 0, "events that come in a day")
	f.StringVar(&l.Edition, "edition", "", "one of "+strings.Join(plan.EditionNames(), ", ")+" (default all)")
	f.IntVar(&l.Licenses, "licenses", 0, "user licenses of the org; they add to its limits")
	f.IntVar(&l.RetentionDays, "retention-days", 90, "days that a finished row stays (retention.row_after)")
	f.Float64Var(&l.Effects, "effects", 0, "side effects of an event, on average")
	f.IntVar(&l.Objects, "objects", 1, "objects that an event writes")
	f.Float64Var(&l.Burst, "burst", 10, "how many times the mean rate the peak is")
	f.IntVar(&l.PayloadBytes, "payload", 2000, "bytes of an event, on average")
	f.Float64Var(&l.Budget, "budget", 0.8, "share of the org's calls for the bridge (salesforce.daily_budget)")
	return c
}

func runPlan(c *cobra.Command, env environment, l plan.Load) error {
	report, err := plan.Make(l)
	if err != nil {
		return usage("%v", err)
	}
	if wantsJSON(c, env) {
		return printJSON(env.out, report)
	}
	return showPlan(env.out, report)
}

// perEvent says what the calls of a day come from: the events, and what is
// called on a day without any.
func perEvent(calls, day float64, l plan.Load) string {
	return fmt.Sprintf("%.3g an event + %s a day idle", calls, plan.Count(day-calls*l.EventsPerDay))
}

// showPlan prints the plan for people.
func showPlan(w io.Writer, r plan.Report) error {
	t := newTable(w, "NEEDED", "AMOUNT", "DETAIL")
	t.row("events", fmt.Sprintf("%.4g/s on average", r.PerSecond), fmt.Sprintf("%.4g/s at peak", r.Peak))
	t.row("API calls, full batches", plan.Count(r.Calls.FullPerDay)+" a day", perEvent(r.Calls.FullPerEvent, r.Calls.FullPerDay, r.Load))
	t.row("API calls, evenly spread", plan.Count(r.Calls.EvenPerDay)+" a day", perEvent(r.Calls.EvenPerEvent, r.Calls.EvenPerDay, r.Load))
	t.row("API calls, paced", plan.Count(r.Calls.PacedPerDay)+" a day", "evenly spread, when calls get few")
	t.row("storage", plan.Size(r.Storage.MB), plan.Count(r.Storage.Rows)+fmt.Sprintf(" rows, %d days", r.Load.RetentionDays))
	t.row("Redis, an hour without Salesforce", plan.Size(r.Redis.MBPerHour), plan.Size(r.Redis.MBPerPeakHour)+" at peak")
	t.row("processes", fmt.Sprint(r.Processes), "one more, so that one may be lost")
	if err := t.flush(); err != nil {
		return err
	}
	fmt.Fprintln(w)
	t = newTable(w, "EDITION", "CALLS A DAY", "FULL BATCHES", "EVENLY SPREAD", "PACED", "STORAGE", "USED", "LONGEST RETENTION", "FITS")
	for _, v := range r.Editions {
		t.row(v.Edition, plan.Count(float64(v.CallLimit)), plan.Share(v.FullShare), plan.Share(v.EvenShare), plan.Share(v.PacedShare),
			plan.Size(v.StorageMB), plan.Share(v.StorageShare), plan.Days(v.RetentionDays), v.Fits)
	}
	if err := t.flush(); err != nil {
		return err
	}
	_, err := fmt.Fprint(w, "\n"+plan.Reading(r))
	return err
}
