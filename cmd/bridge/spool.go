package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"sfbridge/bridge/app"
	"sfbridge/bridge/spool"
	"sfbridge/config"
)

type spoolOptions struct {
	config string
	limit  int
	ids    []string
	all    bool
}

func newSpool(env environment) *cobra.Command {
	c := &cobra.Command{
		Use: "spool", Short: "Show and retry events of the spool that Salesforce refuses for good",
		Long: "Events that wait in the spool go to Salesforce by themselves. One that Salesforce refuses for\n" +
			"good is set apart, with the reason; put it back when the cause is gone.",
		Example: "  bridge spool list --config bridge.yaml\n  bridge spool retry --config bridge.yaml --all",
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newSpoolList(env), newSpoolRetry(env))
	return c
}

func newSpoolList(env environment) *cobra.Command {
	var o spoolOptions
	c := &cobra.Command{
		Use: "list", Short: "List the events that were set apart", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := required(c, "config"); err != nil {
				return err
			}
			if o.limit < 1 || o.limit > 1000 {
				return usage("--limit %d: from 1 to 1000", o.limit)
			}
			list, err := withSpool(c.Context(), env, o.config, spoolTask[[]spool.ApartEntry]{
				here: func(ctx context.Context, e spool.Engine) ([]spool.ApartEntry, error) {
					return spool.ListApart(ctx, e, o.limit)
				},
				there: func(ctx context.Context, a adminAPI) ([]spool.ApartEntry, error) { return a.listApart(ctx, o.limit) },
			})
			if err != nil {
				return err
			}
			return showApart(c, env, list)
		},
	}
	c.Flags().StringVar(&o.config, "config", "", "settings file (bridge.yaml)")
	c.Flags().IntVar(&o.limit, "limit", 100, "at most so many")
	return c
}

func showApart(c *cobra.Command, env environment, list []spool.ApartEntry) error {
	if wantsJSON(c, env) {
		if list == nil {
			list = []spool.ApartEntry{}
		}
		return printJSON(env.out, map[string]any{"entries": list})
	}
	if len(list) == 0 {
		fmt.Fprintln(env.out, "nothing is set apart")
		return nil
	}
	t := newTable(env.out, "RECEIVED", "ENTRY", "EVENT", "TYPE", "BYTES", "REASON")
	for _, e := range list {
		received := ""
		if e.ReceivedAt != nil {
			received = e.ReceivedAt.Format(time.RFC3339)
		}
		t.row(received, e.ID, short(e.EventID, 60), short(e.Type, 40), fmt.Sprint(e.Bytes), short(e.Reason, 100))
	}
	return t.flush()
}

func newSpoolRetry(env environment) *cobra.Command {
	var o spoolOptions
	c := &cobra.Command{
		Use: "retry", Short: "Put such events back into the spool", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := required(c, "config"); err != nil {
				return err
			}
			if o.all == (len(o.ids) > 0) {
				return usage("%s needs --id or --all: bridge spool list shows the ids", c.CommandPath())
			}
			n, err := withSpool(c.Context(), env, o.config, spoolTask[int]{
				here: func(ctx context.Context, e spool.Engine) (int, error) {
					if o.all {
						return spool.RetryAll(ctx, e)
					}
					return spool.Retry(ctx, e, o.ids)
				},
				there: func(ctx context.Context, a adminAPI) (int, error) { return a.retryApart(ctx, o.ids, o.all) },
			})
			if err != nil {
				return err
			}
			if wantsJSON(c, env) {
				return printJSON(env.out, map[string]any{"retried": n})
			}
			fmt.Fprintf(env.out, "put back: %d\n", n)
			return nil
		},
	}
	c.Flags().StringVar(&o.config, "config", "", "settings file (bridge.yaml)")
	c.Flags().StringArrayVar(&o.ids, "id", nil, "entry, as bridge spool list shows it (repeatable)")
	c.Flags().BoolVar(&o.all, "all", false, "everything that is set apart")
	return c
}

// spoolTask is something to do with a spool: here, where this process opens it,
// or there, in the bridge that holds it.
type spoolTask[T any] struct {
	here  func(ctx context.Context, e spool.Engine) (T, error)
	there func(ctx context.Context, a adminAPI) (T, error)
}

// spoolLimit bounds what a command does with a spool.
const spoolLimit = 2 * time.Minute

// withSpool carries a task out where the spool is. A file that a running bridge
// holds is asked for through its admin API.
func withSpool[T any](ctx context.Context, env environment, file string, task spoolTask[T]) (result T, err error) {
	cfg, err := config.Load(file)
	if err == nil {
		cfg, err = cfg.Fill(env.env, "store", "admin")
	}
	if err != nil {
		return result, err
	}
	ctx, cancel := context.WithTimeout(ctx, spoolLimit)
	defer cancel()
	engine, err := app.OpenSpool(ctx, cfg)
	if errors.Is(err, app.ErrSpoolInUse) && cfg.Admin.Token.IsSet() {
		return task.there(ctx, adminAPI{listen: cfg.Admin.Listen, token: cfg.Admin.Token.Value(), user: env.user})
	}
	if err != nil {
		return result, err
	}
	result, err = task.here(ctx, engine)
	return result, errors.Join(err, engine.Close())
}
