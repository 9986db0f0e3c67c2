package main

import (
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/spf13/cobra"

	"sfbridge/bridge/app"
	"sfbridge/bridge/identify"
	"sfbridge/bridge/provider"
	"sfbridge/mapping"
)

type mapOptions struct {
	mapping  string
	payloads []string
	headers  []string
}

func newMap(env environment) *cobra.Command {
	var o mapOptions
	c := &cobra.Command{
		Use: "map", Short: "Show what a mapping makes of payloads, without sending anything",
		Example: "  bridge map --mapping mappings/stripe.yaml --payload charge.json",
		RunE: func(c *cobra.Command, _ []string) error {
			if err := required(c, "mapping", "payload"); err != nil {
				return err
			}
			return dryRun(c, env, o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.mapping, "mapping", "", "mapping file")
	f.StringArrayVar(&o.payloads, "payload", nil, "file with a delivery's body, or - for standard input (repeatable)")
	f.StringArrayVar(&o.headers, "header", nil, "'Name: value' of the delivery (repeatable)")
	return c
}

func dryRun(c *cobra.Command, env environment, o mapOptions) error {
	header, err := parseHeaders(o.headers)
	if err != nil {
		return err
	}
	file, err := mapping.Load(o.mapping)
	if err != nil {
		return err
	}
	catalog, err := provider.Load()
	if err != nil {
		return err
	}
	source, err := app.LoadSource(file, catalog)
	if err != nil {
		return err
	}
	var events []mapping.DryEvent
	for _, name := range o.payloads {
		body, err := readInput(env, name)
		if err != nil {
			return err
		}
		found, err := dryEvents(source, identify.Delivery{Header: header, Body: body, ReceivedAt: env.now()})
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		events = append(events, found...)
	}
	report := file.DryRun(events)
	if wantsJSON(c, env) {
		err = printJSON(env.out, report)
	} else {
		err = showDryRun(env, report)
	}
	if err == nil && report.Review() {
		return errReported
	}
	return err
}

func dryEvents(s *app.Source, d identify.Delivery) ([]mapping.DryEvent, error) {
	if d.Header == nil {
		d.Header = http.Header{}
	}
	doc, err := s.Identifier.Read(d)
	if err != nil {
		return nil, err
	}
	found, err := doc.Events()
	if err != nil {
		return nil, err
	}
	events := make([]mapping.DryEvent, len(found))
	for i, f := range found {
		events[i] = mapping.DryEvent{Input: app.Input(f), ObjectID: f.Event.ObjectID, Hash: f.Event.Hash}
		if f.Review != nil {
			events[i].Reason = f.Review.Reason
		}
	}
	return events, nil
}

func showDryRun(env environment, report mapping.DryReport) error {
	for _, e := range report.Events {
		fmt.Fprintf(env.out, "%s  type %s  object %s  order %s  route %s: %s\n",
			oneLine(text(e.EventID)), oneLine(text(e.Type)), oneLine(text(e.ObjectID)), number(e.Order), text(e.Route), e.Outcome)
		for _, r := range e.Records {
			fmt.Fprintf(env.out, "  %s %s by %s = %s\n", r.Action, r.Object, r.Key.Field, oneLine(r.Key.Value))
			t := newTable(env.out)
			for _, name := range slices.Sorted(maps.Keys(r.Fields)) {
				t.row("    "+name, short(jsonText(r.Fields[name]), 100))
			}
			if err := t.flush(); err != nil {
				return err
			}
		}
		for _, problem := range e.Errors {
			fmt.Fprintf(env.out, "  review: %s\n", oneLine(dryError(problem)))
		}
	}
	return nil
}

func dryError(e mapping.DryError) string {
	s := e.Reason
	if e.Path != nil {
		s = *e.Path + ": " + s
	}
	if e.Field != nil {
		s = *e.Field + " from " + s
	}
	return s
}
