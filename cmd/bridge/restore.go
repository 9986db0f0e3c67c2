package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sfbridge/bridge/event"
	"sfbridge/bridge/operate"
	"sfbridge/bridge/retain"
)

type restoreOptions struct {
	filterFlags
	from   []string
	dryRun bool
	reason string
}

func newRestore(env environment) *cobra.Command {
	var o restoreOptions
	c := &cobra.Command{
		Use: "restore", Short: "Put archived events back",
		Long: "Puts events that retention has deleted back as they ended, and payloads that it has cleared.\n" +
			"Nothing is worked on again: that is what replay --force is for, and it can't overwrite newer data.\n" +
			"Checksums are checked before anything is written. Without a filter everything is put back.",
		Example: "  bridge restore --config bridge.yaml --id stripe:evt_1\n" +
			"  bridge restore --config bridge.yaml --archive ./old/2026-01-05 --source stripe --dry-run",
		RunE: func(c *cobra.Command, _ []string) error {
			if err := o.complete(c, env); err != nil {
				return err
			}
			return restore(c, env, o)
		},
	}
	o.add(c)
	c.Flags().StringArrayVar(&o.from, "archive", nil, "archive file or directory (repeatable; default: retention.archive_dir of the settings)")
	c.Flags().BoolVar(&o.dryRun, "dry-run", false, "count only")
	c.Flags().StringVar(&o.reason, "reason", "", "for the history")
	return c
}

func restore(c *cobra.Command, env environment, o restoreOptions) error {
	cfg, client, err := connect(o.config, env)
	if err != nil {
		return err
	}
	if len(o.from) == 0 {
		if cfg.Retention.ArchiveDir == "" {
			return usage("bridge restore needs --archive: the settings name no retention.archive_dir")
		}
		o.from = []string{cfg.Retention.ArchiveDir}
	}
	named := newNamed(o.filter)
	r := retain.Restoring{
		Org: client, From: o.from, Match: named.matches, Limit: o.filter.Limit, DryRun: o.dryRun,
		Who: env.user, Reason: o.reason, Now: env.now,
	}
	human := !wantsJSON(c, env)
	if human && !o.dryRun {
		r.Progress = func(d retain.Restored) { fmt.Fprintf(env.err, "\r%d restored", d.Restored+d.Refilled) }
	}
	done, err := retain.Restore(c.Context(), r)
	if r.Progress != nil {
		fmt.Fprintln(env.err)
	}
	if err != nil {
		return err
	}
	report := restoreReport{done, named.missing()}
	if human {
		err = showRestored(env, done)
	} else {
		err = printJSON(env.out, report)
	}
	switch {
	case err != nil:
		return err
	case len(report.Missing) > 0:
		return fmt.Errorf("the archive holds no event %s that the filter chooses", strings.Join(report.Missing, ", "))
	case done.Failed > 0:
		return errReported
	}
	return nil
}

// restoreReport is what was put back, and the ids of the filter that no archive
// file holds.
type restoreReport struct {
	retain.Restored
	Missing []string `json:"missing,omitempty"`
}

// named is a filter that remembers which of its ids it has met.
type named struct {
	filter operate.Filter
	met    map[string]bool
}

func newNamed(f operate.Filter) *named { return &named{f, map[string]bool{}} }

func (n *named) matches(e *event.Event) bool {
	chosen := n.filter.Matches(e)
	if chosen && len(n.filter.IDs) > 0 {
		n.met[e.ID] = true
	}
	return chosen
}

// missing are the ids that were not met, each once.
func (n *named) missing() []string {
	var ids []string
	for _, id := range n.filter.IDs {
		if !n.met[id] && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

func showRestored(env environment, r retain.Restored) error {
	fmt.Fprintf(env.out, "%d events chosen from %d archive files\n", r.Matched, r.Files)
	t := newTable(env.out)
	t.row("  restored", fmt.Sprint(r.Restored))
	t.row("  payload restored", fmt.Sprint(r.Refilled))
	t.row("  there already", fmt.Sprint(r.Exists))
	for _, refused := range r.Refusals {
		t.row("  refused", refused.EventID, refused.Why)
	}
	return t.flush()
}
