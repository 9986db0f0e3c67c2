// Command quick is the service with leases that end soon, for tests in which
// processes die or stand still.
//
//	quick serve --config bridge.yaml [--only ROLES] [--debug]
package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"sfbridge/bridge/app"
	"sfbridge/config"
)

// leaseTTL is how long the others wait for a process that says nothing.
const leaseTTL = 3 * time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("serve", flag.ContinueOnError)
	file := flags.String("config", "", "settings")
	only := flags.String("only", "", "roles")
	debug := flags.Bool("debug", false, "log more")
	if err := flags.Parse(args); err != nil {
		return err
	}
	cfg, err := config.Load(*file)
	if err != nil {
		return err
	}
	level := slog.LevelInfo
	if *debug {
		level = slog.LevelDebug
	}
	var roles []app.Role
	for name := range strings.FieldsFuncSeq(*only, func(r rune) bool { return r == ',' }) {
		roles = append(roles, app.Role(name))
	}
	log := slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
	b, err := app.New(app.Options{Config: cfg, Env: config.OS(), Roles: roles, Log: log, LeaseTTL: leaseTTL})
	if err != nil {
		return err
	}
	if err := b.Start(ctx); err != nil {
		return err
	}
	log.Info("serving", "url", b.URL(), "admin", b.AdminURL())
	return b.Run(ctx)
}
