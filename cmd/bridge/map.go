package main

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

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
	diff     string
	review   bool
	stored   filterFlags // which stored events, with review
}

func newMap(env environment) *cobra.Command {
	var o mapOptions
	c := &cobra.Command{
		Use: "map", Short: "Show what a mapping makes of payloads, without sending anything",
		Example: "  bridge map --mapping mappings/stripe.yaml --payload charge.json\n" +
			"  bridge map --mapping new.yaml --diff mappings/stripe.yaml --payload a.json --payload b.json\n" +
			"  bridge map --mapping new.yaml --diff mappings/stripe.yaml --review --code FIELD --config bridge.yaml\n" +
			"  bridge map init --provider stripe --object Payment__c --payload charge.json",
		RunE: func(c *cobra.Command, _ []string) error {
			if o.review {
				return mapReview(c, env, o)
			}
			if err := unwanted(c, o); err != nil {
				return err
			}
			if err := required(c, "mapping", "payload"); err != nil {
				return err
			}
			return mapPayloads(c, env, o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.mapping, "mapping", "", "mapping file")
	f.StringArrayVar(&o.payloads, "payload", nil, "file with a delivery's body, or - for standard input (repeatable)")
	f.StringArrayVar(&o.headers, "header", nil, "'Name: value' of the delivery (repeatable)")
	f.StringVar(&o.diff, "diff", "", "mapping file to compare with: show what changes against it")
	f.BoolVar(&o.review, "review", false, "with --diff: compare what the two make of the source's stored events that wait in Review")
	o.stored.add(c)
	c.AddCommand(newMapInit(env))
	return c
}

func mapPayloads(c *cobra.Command, env environment, o mapOptions) error {
	inputs, err := readPayloads(env, o)
	if err != nil {
		return err
	}
	trial, err := newMapTrial(o.mapping, inputs)
	if err != nil {
		return err
	}
	if o.diff == "" {
		return trial.print(c, env)
	}
	before, err := newMapTrial(o.diff, inputs)
	if err != nil {
		return err
	}
	return newMapDiff(before, trial).print(c, env)
}

// mapInput is a payload with what a delivery of it has besides.
type mapInput struct {
	name     string
	delivery identify.Delivery
}

func readPayloads(env environment, o mapOptions) ([]mapInput, error) {
	header, err := parseHeaders(o.headers)
	if err != nil {
		return nil, err
	}
	inputs := make([]mapInput, len(o.payloads))
	for i, name := range o.payloads {
		body, err := readInput(env, name)
		if err != nil {
			return nil, err
		}
		inputs[i] = mapInput{name, identify.Delivery{Header: header, Body: body, ReceivedAt: env.now()}}
	}
	return inputs, nil
}

// mapTrial is what one mapping makes of payloads.
type mapTrial struct {
	file     *mapping.File
	payloads []mappedPayload
}

// mappedPayload is one delivery; results stand beside the events they are of.
type mappedPayload struct {
	name    string
	events  []mapping.DryEvent
	results []mapping.DryResult
	err     error // it is no delivery of this source
}

// newMapTrial loads a mapping and maps the payloads. One payload alone that
// can't be read is an error, among others it is part of the report.
func newMapTrial(name string, inputs []mapInput) (*mapTrial, error) {
	source, err := loadMapping(name)
	if err != nil {
		return nil, err
	}
	t := &mapTrial{file: source.Mapping}
	for _, in := range inputs {
		p := mappedPayload{name: in.name}
		if p.events, p.err = dryEvents(source, in.delivery); p.err != nil && len(inputs) == 1 {
			return nil, unread(in, p.err)
		}
		p.results = t.file.DryRun(p.events).Events
		t.payloads = append(t.payloads, p)
	}
	return t, nil
}

// unread tells why a payload is no delivery, and how to give what stands in
// headers, which a saved body lacks.
func unread(in mapInput, err error) error {
	var refusal *identify.Refusal
	if errors.As(err, &refusal) && strings.Contains(refusal.Error(), "header.") {
		return fmt.Errorf("%s: %w: give the delivery's headers with --header 'Name: value'", in.name, err)
	}
	return fmt.Errorf("%s: %w", in.name, err)
}

func loadMapping(name string) (*app.Source, error) {
	file, err := mapping.Load(name)
	if err != nil {
		return nil, err
	}
	catalog, err := provider.Load()
	if err != nil {
		return nil, err
	}
	return app.LoadSource(file, catalog)
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

// mapSummary counts where the events of several payloads go.
type mapSummary struct {
	Payloads int             `json:"payloads"`
	Events   int             `json:"events"`
	Apply    int             `json:"apply"`
	Ignore   int             `json:"ignore"`
	Review   int             `json:"review"`
	Failed   []failedPayload `json:"failed"`
}

// failedPayload is a payload that is no delivery of the source.
type failedPayload struct {
	Payload string `json:"payload"`
	Reason  string `json:"reason"`
}

func (t *mapTrial) summary() mapSummary {
	s := mapSummary{Payloads: len(t.payloads), Failed: []failedPayload{}}
	for _, p := range t.payloads {
		if p.err != nil {
			s.Failed = append(s.Failed, failedPayload{p.name, p.err.Error()})
		}
		for _, r := range p.results {
			s.count(r)
		}
	}
	return s
}

func (p mappedPayload) outcomes() (apply, ignore, review int) {
	var s mapSummary
	for _, r := range p.results {
		s.count(r)
	}
	return s.Apply, s.Ignore, s.Review
}

// count takes one event in.
func (s *mapSummary) count(r mapping.DryResult) {
	s.Events++
	switch r.Outcome {
	case mapping.DryApply:
		s.Apply++
	case mapping.DryIgnore:
		s.Ignore++
	default:
		s.Review++
	}
}

// verdict is the error that a run ends with once it has printed its report.
func (s mapSummary) verdict() error {
	if s.Review > 0 || len(s.Failed) > 0 {
		return errReported
	}
	return nil
}
