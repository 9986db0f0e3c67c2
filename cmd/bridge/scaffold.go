package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"sfbridge/bridge/scaffold"
	"sfbridge/config"
	"sfbridge/mapping"
)

type scaffoldOptions struct {
	mappings      []string
	config        string
	out           string
	permissionSet string
	write         bool
}

func newScaffold(env environment) *cobra.Command {
	var o scaffoldOptions
	c := &cobra.Command{
		Use: "scaffold", Short: "Write the Salesforce metadata that mappings need on their targets",
		Long: "Writes key fields, order fields, the rule Refuse_Moved and a permission set in source format. Files\n" +
			"that exist are compared and left alone; --write changes what differs in them. Objects, and the fields\n" +
			"that a mapping fills, are taken to exist: bridge check --org tells whether they fit.",
		Example: "  bridge scaffold --mapping mappings/stripe.yaml --out force-app/main/default\n" +
			"  bridge scaffold --config bridge.yaml --out . --write",
		RunE: func(c *cobra.Command, _ []string) error {
			if (o.config == "") == (len(o.mappings) == 0) {
				return usage("bridge scaffold needs --mapping or --config, one of them")
			}
			return runScaffold(c, env, o)
		},
	}
	f := c.Flags()
	f.StringArrayVar(&o.mappings, "mapping", nil, "mapping file (repeatable)")
	f.StringVar(&o.config, "config", "", "settings file (bridge.yaml), for all of its mappings")
	f.StringVar(&o.out, "out", "force-app/main/default", "SFDX project or source folder")
	f.StringVar(&o.permissionSet, "permission-set", scaffold.DefaultPermissionSet, "API name of the permission set")
	f.BoolVar(&o.write, "write", false, "also change files that exist and differ")
	return c
}

func runScaffold(c *cobra.Command, env environment, o scaffoldOptions) error {
	files, err := loadMappings(o.config, o.mappings)
	if err != nil {
		return err
	}
	plan, err := scaffold.NewPlan(scaffold.Config{Mappings: files, Dir: o.out, PermissionSet: o.permissionSet})
	if err != nil {
		return err
	}
	if err := plan.Write(o.write); err != nil {
		return err
	}
	if wantsJSON(c, env) {
		return printJSON(env.out, plan)
	}
	return showScaffold(env, plan)
}

// loadMappings reads the named mappings, or those of the settings.
func loadMappings(settings string, names []string) ([]*mapping.File, error) {
	if settings != "" {
		cfg, err := config.Load(settings)
		if err != nil {
			return nil, err
		}
		names = cfg.Mappings
	}
	var files []*mapping.File
	var problems []error
	for _, name := range names {
		f, err := mapping.Load(name)
		files, problems = append(files, f), append(problems, err)
	}
	return files, errors.Join(problems...)
}

func showScaffold(env environment, plan *scaffold.Plan) error {
	t := newTable(env.out, "FILE", "STATE", "WHAT DIFFERS")
	for _, f := range plan.Files {
		t.row(f.Path, string(f.State), strings.Join(f.Differs, "; "))
	}
	if err := t.flush(); err != nil {
		return err
	}
	for _, note := range plan.Notes {
		fmt.Fprintln(env.out, "see to:", note)
	}
	if plan.Waiting() {
		fmt.Fprintln(env.out, "files that differ were left alone; --write changes them")
	}
	return nil
}
