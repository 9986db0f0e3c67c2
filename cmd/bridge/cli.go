package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"sfbridge/bridge/operate"
	"sfbridge/bridge/spool"
	"sfbridge/config"
	"sfbridge/internal/failpoint"
)

// Exit codes of every command.
const (
	exitOK     = 0
	exitFailed = 1 // it was done and failed, or could not be done
	exitUsage  = 2 // it was asked wrongly
)

// environment is what a command may touch of the world.
type environment struct {
	in       io.Reader
	out, err io.Writer
	terminal bool // out is read by a person
	env      config.Env
	now      func() time.Time
	user     string
}

func system() environment {
	return environment{
		in: os.Stdin, out: os.Stdout, err: os.Stderr, terminal: isatty.IsTerminal(os.Stdout.Fd()),
		env: config.OS(), now: failpoint.Now, user: os.Getenv("USER"),
	}
}

// usageError is a command that was asked wrongly.
type usageError struct{ problem string }

func (e *usageError) Error() string { return e.problem }

func usage(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

// errReported ends a command with exit code 1 after it has said why.
var errReported = errors.New("reported")

// exitCode is the one place where errors become exit codes.
func exitCode(err error) int {
	var wrong *usageError
	var wrongFilter *operate.UsageError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &wrong), errors.As(err, &wrongFilter), errors.Is(err, spool.ErrApartID):
		return exitUsage
	}
	return exitFailed
}

// run carries out one command line and returns its exit code.
func run(ctx context.Context, args []string, env environment) int {
	root := newRoot(env)
	root.SetArgs(args)
	root.SetIn(env.in)
	root.SetOut(env.out)
	root.SetErr(env.err)
	err := root.ExecuteContext(ctx)
	if err != nil && !errors.Is(err, errReported) {
		fmt.Fprintln(env.err, "bridge:", err)
	}
	return exitCode(err)
}

func newRoot(env environment) *cobra.Command {
	root := &cobra.Command{
		Use:   "bridge",
		Short: "Turns providers' webhooks into Salesforce records, exactly once in business terms",
		Long: "The bridge verifies webhooks, stages them in Salesforce and applies them to records,\n" +
			"exactly once in business terms. Begin with: bridge demo",
		SilenceUsage: true, SilenceErrors: true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage("unknown command %q: bridge --help lists them", args[0])
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.PersistentFlags().Bool("json", false, "print JSON (implied when the output is not a terminal)")
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usage("%v: %s --help shows its flags", err, c.CommandPath())
	})
	root.AddCommand(
		newServe(env), newCheck(env), newMap(env), newVerify(env), newSend(env), newSimorg(env),
		newDemo(env), newBench(env), newEvents(env), newShow(env), newReplay(env), newReconcile(env), newDiscard(env), newAccept(env), newRestore(env), newSources(env), newSpool(env), newScaffold(env), newExport(env), newPlan(env),
		newVersion(env),
	)
	for _, c := range root.Commands() {
		if c.Args == nil {
			c.Args = noArgs
		}
	}
	return root
}

func noArgs(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage("%s takes no argument, got %q", c.CommandPath(), args[0])
	}
	return nil
}

func oneArg(what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usage("%s takes one argument: %s", c.CommandPath(), what)
		}
		return nil
	}
}

// required reports every flag that must be given and isn't.
func required(c *cobra.Command, flags ...string) error {
	for _, name := range flags {
		if !c.Flags().Changed(name) {
			return usage("%s needs --%s", c.CommandPath(), name)
		}
	}
	return nil
}
