package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"sfbridge/bridge/app"
	"sfbridge/bridge/reconcile"
	"sfbridge/config"
)

type reconcileOptions struct {
	config string
	source string
	once   bool
}

func newReconcile(env environment) *cobra.Command {
	var o reconcileOptions
	c := &cobra.Command{
		Use: "reconcile", Short: "Compare Salesforce with the providers' own lists, and repair what differs",
		Long: "Makes every comparison of the mappings' reconcile keys now, looks for rows that are stuck or out of\n" +
			"place, and prints the report. Where a mapping says repair: true, what differs is staged as events\n" +
			"that the service works on. Exit code 0: nothing differs, or all of it is under repair; 1: something\n" +
			"is left for a person, a comparison could not be finished (the next one goes on where it stopped), or\n" +
			"no mapping has a reconcile key, so that nothing was compared.\n" +
			"bridge serve compares by schedule.",
		Example: "  bridge reconcile --once --config bridge.yaml",
		RunE: func(c *cobra.Command, _ []string) error {
			if err := required(c, "config"); err != nil {
				return err
			}
			if !o.once {
				return usage("bridge reconcile needs --once; bridge serve --only reconcile compares by schedule")
			}
			return reconcileOnce(c, env, o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.config, "config", "", "settings file (bridge.yaml)")
	f.StringVar(&o.source, "source", "", "this source only")
	f.BoolVar(&o.once, "once", false, "compare now and exit")
	return c
}

func reconcileOnce(c *cobra.Command, env environment, o reconcileOptions) error {
	cfg, err := config.Load(o.config)
	if err != nil {
		return err
	}
	b, err := app.New(app.Options{Config: cfg, Env: env.env, Roles: []app.Role{app.Reconcile}, Log: newLogger(env, false), Now: env.now})
	if err != nil {
		return err
	}
	report, err := b.Reconcile(c.Context(), o.source)
	var unknown *app.UnknownSourceError
	if errors.As(err, &unknown) {
		return usage("%s", unknown)
	}
	if err != nil {
		return err
	}
	if wantsJSON(c, env) {
		err = printJSON(env.out, report)
	} else {
		err = showReconciled(env, report)
	}
	switch {
	case err != nil:
		return err
	case len(report.Sweeps) == 0:
		return uncompared(o.source)
	case !report.Settled():
		return errReported
	}
	return nil
}

// uncompared fails a run that had nothing to compare: whoever schedules it
// believes that drift would be told.
func uncompared(source string) error {
	if source != "" {
		return fmt.Errorf("the mapping of %s has no reconcile key: nothing was compared", source)
	}
	return errors.New("no mapping has a reconcile key: nothing was compared")
}

func showReconciled(env environment, r reconcile.Report) error {
	if len(r.Sweeps) > 0 {
		if err := showSweeps(env, r.Sweeps); err != nil {
			return err
		}
	}
	for _, s := range r.Sweeps {
		section(env, "drift of "+s.Source+" "+s.Type, driftLines(s.Drift))
	}
	var rows []string
	for _, f := range r.Rows.Found {
		state := "left as it is"
		if f.Healed {
			state = "set right"
		}
		rows = append(rows, strings.TrimSpace(f.EventID+" "+f.RowID)+": "+f.What+", "+state)
	}
	section(env, "staging rows", rows)
	if r.Rows.Problem != "" {
		fmt.Fprintf(env.err, "bridge: the staging rows could not be looked at: %s\n", r.Rows.Problem)
	}
	return nil
}

func showSweeps(env environment, sweeps []reconcile.Sweep) error {
	t := newTable(env.out, "SOURCE", "TYPE", "OBJECTS", "MISSING", "DIFFERENT", "EXTRA", "UNMAPPED", "REPAIRED", "")
	for _, s := range sweeps {
		note := s.Problem
		if !s.Finished && note == "" {
			note = "not finished"
		}
		t.row(s.Source, s.Type, strconv.Itoa(s.Objects), strconv.Itoa(s.Missing), strconv.Itoa(s.Different), strconv.Itoa(s.Extra),
			strconv.Itoa(s.Unmapped), fmt.Sprintf("%d of %d", s.Repaired, s.Drifting), note)
	}
	return t.flush()
}

func driftLines(list []reconcile.Drift) []string {
	var lines []string
	for _, d := range list {
		line := strings.TrimSpace(fmt.Sprintf("%s %s %s %s", d.Kind, d.Object, d.Key, d.Reason))
		if d.Object == "" {
			line = strings.TrimSpace(fmt.Sprintf("%s %s %s", d.Kind, d.ObjectID, d.Reason))
		}
		for _, f := range d.Fields {
			line += fmt.Sprintf("; %s is %s, the provider has %s", f.Field, jsonText(f.Salesforce), jsonText(f.Provider))
		}
		if d.Repair != "" {
			line += "; repair " + d.Repair
		}
		lines = append(lines, line)
	}
	return lines
}
