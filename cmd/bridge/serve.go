package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"sfbridge/bridge/app"
	"sfbridge/config"
)

type serveOptions struct {
	config string
	only   []string
	debug  bool
	within time.Duration
}

func newServe(env environment) *cobra.Command {
	var o serveOptions
	c := &cobra.Command{
		Use: "serve", Short: "Run the service",
		Long: "Runs the service until it gets SIGTERM or an interrupt: then it is not ready any more,\n" +
			"finishes what is in flight and exits with 0. SIGHUP reloads mappings and secrets.",
		RunE: func(c *cobra.Command, _ []string) error {
			if err := required(c, "config"); err != nil {
				return err
			}
			if o.within < time.Second || o.within > 10*time.Minute {
				return usage("--stop-within %s: 1s to 10m", o.within)
			}
			return serve(c.Context(), env, o)
		},
	}
	c.Flags().StringVar(&o.config, "config", "", "settings file (bridge.yaml)")
	c.Flags().StringSliceVar(&o.only, "only", nil, "roles of this process: receive, process, effects, reconcile, retain (default all)")
	c.Flags().BoolVar(&o.debug, "debug", false, "log more")
	c.Flags().DurationVar(&o.within, "stop-within", app.DefaultStopWithin, "how long a stop waits for what is in flight; what kills the process must wait longer")
	return c
}

func serve(ctx context.Context, env environment, o serveOptions) error {
	roles, err := parseRoles(o.only)
	if err != nil {
		return err
	}
	cfg, err := config.Load(o.config)
	if err != nil {
		return err
	}
	log := newLogger(env, o.debug)
	for _, w := range cfg.Warnings() {
		log.Warn(w.String())
	}
	b, err := app.New(app.Options{Config: cfg, Env: env.env, Roles: roles, Log: log, Now: env.now, StopWithin: o.within})
	if err != nil {
		return err
	}
	if err := b.Start(ctx); err != nil {
		return err
	}
	boundMemory(env.env)
	log.Info("serving", served(b)...)
	reloadOnHangup(ctx, b, log)
	err = b.Run(ctx)
	log.Info("stopped")
	return err
}

// served is where the service can be found.
func served(b *app.Bridge) []any {
	where := []any{"url", b.URL(), "admin", b.AdminURL()}
	if console := b.ConsoleURL(); console != "" {
		where = append(where, "console", console)
	}
	return where
}

func parseRoles(names []string) ([]app.Role, error) {
	var roles []app.Role
	for _, n := range names {
		switch {
		case slices.Contains(app.Roles(), app.Role(n)):
			roles = append(roles, app.Role(n))
		default:
			return nil, usage("--only %s: the roles are receive, process, effects, reconcile and retain", n)
		}
	}
	return roles, nil
}

// newLogger logs text for people and JSON for machines, to the error output.
func newLogger(env environment, debug bool) *slog.Logger {
	o := &slog.HandlerOptions{Level: slog.LevelInfo}
	if debug {
		o.Level = slog.LevelDebug
	}
	if env.terminal {
		return slog.New(slog.NewTextHandler(env.err, o))
	}
	return slog.New(slog.NewJSONHandler(env.err, o))
}

// reloadOnHangup reloads on SIGHUP until ctx ends.
func reloadOnHangup(ctx context.Context, b *app.Bridge, log *slog.Logger) {
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	context.AfterFunc(ctx, func() { signal.Stop(hangup); close(hangup) })
	go func() {
		for range hangup {
			if err := b.Reload(); err != nil {
				log.Error(strings.TrimSpace(flatten(err)))
				continue
			}
			log.Info("mappings and secrets reloaded")
		}
	}()
}

// flatten puts joined errors on one line.
func flatten(err error) string {
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		return strings.ReplaceAll(err.Error(), "\n", "; ")
	}
	return fmt.Sprint(err)
}
