package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/pprof"
	"time"

	"github.com/spf13/cobra"

	"sfbridge/bridge/bench"
	"sfbridge/bridge/bench/bare"
)

type benchOptions struct {
	events, senders, backlog int
	latency                  time.Duration
	seconds                  int
	all, check               bool
	profile, curves          string
	pages                    []string
}

func newBench(env environment) *cobra.Command {
	var o benchOptions
	c := &cobra.Command{
		Use: "bench", Short: "Measure throughput, latency, API calls and memory on a simulated org",
		Long: "Runs the bridge against a simulated org and measures it beside code that makes three calls\n" +
			"an event. Everything shares this machine. It is done in about a minute; --all, which adds the\n" +
			"spool, an outage and a bare server to compare with, takes three, and --curves four more. The spool\n" +
			"on Redis and the bare server need redis-server; it is started by itself.\n\n" +
			"What is required and not met is shown; only with --check is the exit code then 1.",
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := o.validate(); err != nil {
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
	f.BoolVar(&o.all, "all", false, "measure the spool, an outage, a bare server and Bulk API 2.0 too")
	f.IntVar(&o.backlog, "backlog", 100_000, "events that come during the outage of --all")
	f.StringVar(&o.curves, "curves", "", "measure how the rates grow with batch, lanes, latency and instances, and draw it as SVG files in this folder")
	f.StringArrayVar(&o.pages, "page", nil, "put the figures into this Markdown page, between its bench: comments (repeatable)")
	f.BoolVar(&o.check, "check", false, "end with exit code 1 when something required is not met")
	f.StringVar(&o.profile, "profile", "", "run the bridge inside this process and write a CPU profile to this file")
	c.AddCommand(newBare(env))
	return c
}

// newBare is the server that the bench compares with, as a process of its own.
func newBare(env environment) *cobra.Command {
	return &cobra.Command{
		Use: "bare", Hidden: true, Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return serveBare(c.Context(), env)
		},
	}
}

func serveBare(ctx context.Context, env environment) error {
	secret, _ := env.env.Lookup(bench.EnvSecret)
	redis, _ := env.env.Lookup(bench.EnvRedis)
	s, err := bare.Start(ctx, bare.Config{Secret: secret, Redis: redis})
	if err != nil {
		return err
	}
	newLogger(env, false).Info("serving", "url", s.URL(), "admin", s.URL())
	<-ctx.Done()
	return s.Close()
}

func (o benchOptions) validate() error {
	switch {
	case o.events < 1:
		return usage("--events %d: at least 1", o.events)
	case o.senders < 1 || o.senders > 10_000:
		return usage("--senders %d: 1 to 10000", o.senders)
	case o.latency < time.Millisecond || o.latency > 10*time.Second:
		return usage("--latency %s: 1ms to 10s", o.latency)
	case o.seconds < 1 || o.seconds > 600:
		return usage("--seconds %d: 1 to 600", o.seconds)
	case o.backlog < 1 || o.backlog > 1_000_000:
		return usage("--backlog %d: 1 to 1000000", o.backlog)
	}
	return nil
}

func runBench(c *cobra.Command, env environment, o benchOptions) (failed error) {
	cfg := bench.Config{
		Events: o.events, Senders: o.senders, Latency: o.latency, Window: time.Duration(o.seconds) * time.Second,
		All: o.all, Outage: o.backlog, Curves: o.curves != "",
		Progress: func(what string) { fmt.Fprintf(env.err, "measuring %s\n", what) },
	}
	executable, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this program: %w", err)
	}
	cfg.Launch, cfg.Bare = bench.Command(executable), bench.BareCommand(executable)
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
	if err := o.publish(report); err != nil {
		return err
	}
	show := showBench
	if wantsJSON(c, env) {
		show = func(env environment, r bench.Report) error { return printJSON(env.out, r) }
	}
	return errors.Join(show(env, report), o.verdict(report))
}

// verdict makes a failure of what is not met, if that is asked for.
func (o benchOptions) verdict(r bench.Report) error {
	if o.check && !r.OK() {
		return fmt.Errorf("not met: %s", r.Missed())
	}
	return nil
}

// publish writes the pictures and the page that are asked for.
func (o benchOptions) publish(r bench.Report) error {
	if r.Curves != nil {
		if err := os.MkdirAll(o.curves, 0o755); err != nil { //nolint:gosec // pictures for everybody
			return err
		}
		for _, c := range r.Curves.Curves {
			if err := os.WriteFile(filepath.Join(o.curves, c.Name+".svg"), c.SVG(), 0o644); err != nil { //nolint:gosec // likewise
				return err
			}
		}
	}
	for _, page := range o.pages {
		if err := o.refresh(page, r); err != nil {
			return err
		}
	}
	return nil
}

// refresh puts the figures into a page.
func (o benchOptions) refresh(page string, r bench.Report) error {
	before, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	pictures, err := filepath.Rel(filepath.Dir(page), o.curves)
	if err != nil && r.Curves != nil {
		return fmt.Errorf("--curves as seen from --page: %w", err)
	}
	after, err := bench.Page(string(before), r.Sections(filepath.ToSlash(pictures)))
	if err != nil {
		return fmt.Errorf("%s: %w", page, err)
	}
	return os.WriteFile(page, []byte(after), 0o644) //nolint:gosec // a page of documentation
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
