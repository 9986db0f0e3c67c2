package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"sfbridge/bridge/app"
	"sfbridge/bridge/preflight"
	"sfbridge/bridge/provider"
	"sfbridge/bridge/verify"
	"sfbridge/config"
	"sfbridge/mapping"
)

type checkOptions struct {
	config string
	org    bool
}

func newCheck(env environment) *cobra.Command {
	var o checkOptions
	c := &cobra.Command{
		Use: "check", Short: "Check settings and mappings, with --org against the org too",
		RunE: func(c *cobra.Command, _ []string) error {
			if err := required(c, "config"); err != nil {
				return err
			}
			report, err := check(c.Context(), env, o)
			if err != nil {
				return err
			}
			return report.print(c, env)
		},
	}
	c.Flags().StringVar(&o.config, "config", "", "settings file (bridge.yaml)")
	c.Flags().BoolVar(&o.org, "org", false, "compare with the org's describe (needs its credentials)")
	return c
}

type checkReport struct {
	OK       bool                `json:"ok"`
	Sources  []checkedSource     `json:"sources"`
	Problems []string            `json:"problems"`
	Warnings []string            `json:"warnings"`
	Org      []preflight.Finding `json:"org,omitempty"`
	// ComparedWith is the address of the org that the mappings were compared with.
	ComparedWith string `json:"compared_with,omitempty"`
}

type checkedSource struct {
	Source    string   `json:"source"`
	Provider  string   `json:"provider"`
	Processor string   `json:"processor"`
	Version   string   `json:"mapping_version"`
	Routes    []string `json:"routes"`
}

// check reads everything that needs no secret and gathers every problem.
func check(ctx context.Context, env environment, o checkOptions) (checkReport, error) {
	r := checkReport{Sources: []checkedSource{}, Problems: []string{}, Warnings: []string{}}
	catalog, err := provider.Load()
	if err != nil {
		return r, err
	}
	cfg, err := config.Load(o.config)
	r.problem(err)
	if cfg == nil {
		return r, nil
	}
	for _, w := range cfg.Warnings() {
		r.Warnings = append(r.Warnings, w.String())
	}
	sources, err := app.LoadSources(cfg.Mappings, catalog)
	r.problem(err)
	var files []*mapping.File
	for _, s := range sources {
		files = append(files, s.Mapping)
		r.add(s, cfg.Retention)
	}
	for _, w := range mapping.JudgeFiles(files) {
		r.Warnings = append(r.Warnings, w.String())
	}
	if o.org && len(r.Problems) == 0 {
		if err := r.checkOrg(ctx, env, cfg, files); err != nil {
			return r, err
		}
	}
	r.OK = len(r.Problems) == 0
	for _, f := range r.Org {
		r.OK = r.OK && f.Warning
	}
	return r, nil
}

func (r *checkReport) add(source *app.Source, kept config.Retention) {
	f := source.Mapping
	s := checkedSource{Source: f.Source, Provider: f.Provider, Processor: string(f.Processor), Version: f.Version()}
	for _, route := range f.Routes {
		s.Routes = append(s.Routes, route.Name)
	}
	r.Sources = append(r.Sources, s)
	for _, w := range append(f.Warnings(), f.GuardFindings(objectPaths(source.Preset)...)...) {
		r.Warnings = append(r.Warnings, w.String())
	}
	if trust, routes := source.Trust(), withoutAuthority(f); trust != verify.SignedBody && len(routes) > 0 {
		r.warn(f, "provider", fmt.Sprintf("deliveries of %s are %s: %s. Load the provider's object before they are mapped: give authority to %s",
			f.Provider, trust, meaning[trust], strings.Join(routes, ", ")))
	}
	for _, missed := range source.Preset.MissedParams(f.Params) {
		r.warn(f, "params", missed)
	}
	if again := source.Preset.Redelivery; kept.RowAfter < again {
		r.warn(f, "provider", fmt.Sprintf("%s may send an event again after %s, but retention.row_after deletes its row after %s: what comes later can't be told from a new event",
			f.Provider, again, kept.RowAfter))
	}
}

// warn adds what may surprise at a part of a mapping file.
func (r *checkReport) warn(f *mapping.File, part, what string) {
	place := f.Place(part)
	place.What = what
	r.Warnings = append(r.Warnings, place.String())
}

// withoutAuthority lists the routes that map what was delivered as it came.
func withoutAuthority(f *mapping.File) []string {
	var names []string
	for _, route := range f.Routes {
		if !route.Ignore && route.Authority() == nil {
			names = append(names, route.Name)
		}
	}
	return names
}

// meaning says what a trust below the signed body leaves open.
var meaning = map[verify.Trust]string{
	verify.SignedPartial:       "the signature covers only a part of them, the rest can be changed on the way",
	verify.AuthenticatedCaller: "a credential proves who calls, and nothing covers what is said",
	verify.Unsigned:            "anybody can make them up",
}

// objectPaths are the places where a preset finds the object of an event.
func objectPaths(p *provider.Preset) []string {
	var out []string
	for _, e := range p.Identity.Entities {
		out = append(out, e.Object.String())
	}
	return out
}

func (r *checkReport) checkOrg(ctx context.Context, env environment, cfg *config.Config, files []*mapping.File) error {
	filled, err := cfg.Fill(env.env, "salesforce")
	if err != nil {
		return err
	}
	login, err := app.Connect(filled, env.env, nil)
	if err != nil {
		return err
	}
	r.Warnings = append(r.Warnings, login.Warnings...)
	if r.Org, err = preflight.Check(ctx, login.Client, files); err != nil {
		return err
	}
	r.ComparedWith, err = login.Instance(ctx)
	return err
}

// problem adds every problem of an error that may hold many.
func (r *checkReport) problem(err error) {
	switch e := err.(type) {
	case nil:
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			r.problem(one)
		}
	case *config.Problems:
		for _, p := range e.List {
			r.Problems = append(r.Problems, p.String())
		}
	default:
		r.Problems = append(r.Problems, err.Error())
	}
}

func (r checkReport) print(c *cobra.Command, env environment) error {
	var err error
	if wantsJSON(c, env) {
		err = printJSON(env.out, r)
	} else {
		err = r.show(env)
	}
	if err == nil && !r.OK {
		return errReported
	}
	return err
}

func (r checkReport) show(env environment) error {
	if len(r.Sources) > 0 {
		t := newTable(env.out, "SOURCE", "PROVIDER", "PROCESSOR", "MAPPING", "ROUTES")
		for _, s := range r.Sources {
			t.row(s.Source, s.Provider, s.Processor, s.Version, strings.Join(s.Routes, ", "))
		}
		if err := t.flush(); err != nil {
			return err
		}
	}
	for _, p := range r.Problems {
		fmt.Fprintln(env.out, "problem:", p)
	}
	for _, f := range r.Org {
		kind := "problem:"
		if f.Warning {
			kind = "warning:"
		}
		fmt.Fprintln(env.out, kind, f)
	}
	for _, w := range r.Warnings {
		fmt.Fprintln(env.out, "warning:", w)
	}
	switch {
	case r.OK && r.ComparedWith != "":
		fmt.Fprintln(env.out, "ok, compared with the org at", r.ComparedWith)
	case r.OK:
		fmt.Fprintln(env.out, "ok")
	}
	return nil
}
