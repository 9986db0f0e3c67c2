package main

import (
	"errors"
	"fmt"
	"os"
	"runtime/pprof"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sfbridge/bridge/bench"
)

type benchOptions struct {
	events, senders int
	latency         time.Duration
	seconds         int
	profile         string
}

func newBench(env environment) *cobra.Command {
	var o benchOptions
	c := &cobra.Command{
		Use: "bench", Short: "Measure throughput, latency, API calls and memory on a simulated org",
		Long: "Runs the bridge against a simulated org and measures it beside code that makes three calls\n" +
			"an event. Everything shares this machine. It is done in about a minute.",
		RunE: func(c *cobra.Command, _ []string) error {
			if err := o.check(); err != nil {
				return err
			}
			return runBench(c, env, o)
		},
	}
	f := c.Flags()
	f.IntVar(&o.events, "events", 60_000, "most events of one measurement")
	f.IntVar(&o.senders, "senders", 512, "deliveries under way at once")
	f.DurationVar(&o.latency, "latency", 100*time.Millisecond, "of every call to the simulated org")
	f.IntVar(&o.seconds, "seconds", 8, "how long each measurement lasts")
	f.StringVar(&o.profile, "profile", "", "run the bridge inside this process and write a CPU profile to this file")
	return c
}

func (o benchOptions) check() error {
	switch {
	case o.events < 1:
		return usage("--events %d: at least 1", o.events)
	case o.senders < 1 || o.senders > 10_000:
		return usage("--senders %d: 1 to 10000", o.senders)
	case o.latency < time.Millisecond || o.latency > 10*time.Second:
		return usage("--latency %s: 1ms to 10s", o.latency)
	case o.seconds < 1 || o.seconds > 600:
		return usage("--seconds %d: 1 to 600", o.seconds)
	}
	return nil
}

func runBench(c *cobra.Command, env environment, o benchOptions) (failed error) {
	cfg := bench.Config{
		Events: o.events, Senders: o.senders, Latency: o.latency, Window: time.Duration(o.seconds) * time.Second,
		Progress: func(what string) { fmt.Fprintf(env.err, "measuring %s\n", what) },
	}
	executable, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this program: %w", err)
	}
	cfg.Launch = bench.Command(executable)
	if o.profile != "" {
		cfg.Launch = bench.Inside
		stop, err := profile(o.profile)
		if err != nil {
			return err
		}
		defer func() { failed = errors.Join(failed, stop()) }()
	}
	report, err := bench.Run(c.Context(), cfg)
	if err != nil {
		return err
	}
	if wantsJSON(c, env) {
		return printJSON(env.out, report)
	}
	return showBench(env, report)
}

// profile writes a CPU profile of this process until it is stopped.
func profile(name string) (stop func() error, err error) {
	file, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		return file.Close()
	}, nil
}

func showBench(env environment, r bench.Report) error {
	t := newTable(env.out, "MEASURE", "FIGURE", "", "REQUIRED", "")
	for _, q := range r.Requirements {
		verdict := "met"
		if !q.Met {
			verdict = "NOT MET"
		}
		t.row(q.Name, figure(q.Figure), q.Unit, q.Want(), verdict)
	}
	if err := t.flush(); err != nil {
		return err
	}
	k := r.Conditions
	fmt.Fprintf(env.out, "\nreceived %d events in %.1f s, p50 %.0f ms; %d to the record in %.1f s; baseline %d events, %.1f a second, %.2f calls each\n",
		r.Receive.Events, r.Receive.Seconds, r.Latency.P50, r.Business.Events, r.Business.Seconds,
		r.Baseline.Events, r.Baseline.EventsPerSecond, r.Baseline.CallsPerEvent)
	fmt.Fprintf(env.out, "%d CPUs, org latency %.0f ms, %d senders, bodies of %d bytes, a backlog of %d events; load before: %s\n",
		k.CPUs, k.LatencyMS, k.Senders, k.BodyBytes, r.Memory.Open, k.LoadBefore)
	_, err := fmt.Fprintf(env.out, "%s\n", strings.Join(k.Notes, "; "))
	return err
}

// figure prints large numbers without a fraction and small ones with enough.
func figure(v float64) string {
	switch {
	case v >= 100 || v == 0:
		return fmt.Sprintf("%.0f", v)
	case v >= 1:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.4f", v)
}
