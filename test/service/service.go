// Package service is `bridge serve` for commands of tests that change a part of
// it: with a defect, or other bounds.
//
//	func main() { service.Main(func(o *app.Options) { o.LeaseTTL = time.Second }) }
//
// It takes --config, --only and --debug, and stops at SIGTERM.
package service

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"sfbridge/bridge/app"
	"sfbridge/config"
)

// Main runs the service with the options that the command line asks for, as
// changed. It exits with 1 when that fails.
func Main(change func(*app.Options)) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[2:], change); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, change func(*app.Options)) error {
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
	log := slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
	o := app.Options{Config: cfg, Env: config.OS(), Log: log}
	for name := range strings.FieldsFuncSeq(*only, func(r rune) bool { return r == ',' }) {
		o.Roles = append(o.Roles, app.Role(name))
	}
	change(&o)
	b, err := app.New(o)
	if err != nil {
		return err
	}
	if err := b.Start(ctx); err != nil {
		return err
	}
	log.Info("serving", "url", b.URL(), "admin", b.AdminURL())
	return b.Run(ctx)
}
