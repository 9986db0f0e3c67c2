package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sfbridge/bridge/apply"
	"sfbridge/bridge/event"
	"sfbridge/mapping"
)

// unwanted refuses the flags that choose stored events where none are read.
func unwanted(c *cobra.Command, o mapOptions) error {
	var given string
	c.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains([]string{"mapping", "payload", "header", "diff", "review", "json", "help"}, f.Name) {
			given = f.Name
		}
	})
	if given != "" {
		return usage("%s: --%s chooses stored events: it goes with --review", c.CommandPath(), given)
	}
	return nil
}

// mapReview shows what a changed mapping makes otherwise of the events that
// wait: what a replay of them would come to.
func mapReview(c *cobra.Command, env environment, o mapOptions) error {
	if err := required(c, "mapping", "diff"); err != nil {
		return err
	}
	if len(o.payloads)+len(o.headers) > 0 {
		return usage("%s --review reads stored events: leave --payload and --header out", c.CommandPath())
	}
	if err := o.stored.complete(c, env); err != nil {
		return err
	}
	r := storedReview{diff: mapDiff{Changes: []changedEvent{}, Summary: mapSummary{Failed: []failedPayload{}}}}
	if err := r.load(o); err != nil {
		return err
	}
	f := o.stored.filter
	if f.Source != "" && f.Source != r.after.Source {
		return usage("--source %s: the mapping is that of the source %s", f.Source, r.after.Source)
	}
	f.Source = r.after.Source
	if len(f.Status) == 0 {
		f.Status = []event.Status{event.Review}
	}
	d, err := desk(o.stored.config, env)
	if err != nil {
		return err
	}
	if err := d.Each(c.Context(), f, r.compare); err != nil {
		return err
	}
	if !wantsJSON(c, env) {
		defer r.advise(env, o)
	}
	return r.diff.print(c, env)
}

// storedReview compares two mappings of one source over its stored events.
type storedReview struct {
	before, after *mapping.File
	diff          mapDiff
	hints         int // events for which the service loads the provider's object first
}

func (r *storedReview) load(o mapOptions) error {
	before, err := loadMapping(o.diff)
	if err != nil {
		return err
	}
	after, err := loadMapping(o.mapping)
	if err != nil {
		return err
	}
	r.before, r.after = before.Mapping, after.Mapping
	if r.before.Source != r.after.Source {
		return usage("the mappings are those of two sources, %s and %s", r.before.Source, r.after.Source)
	}
	return nil
}

// compare maps one stored event both ways. What identified it stays as it is: a
// replay keeps id, type, object and order.
func (r *storedReview) compare(e *event.Event) error {
	if e.Cleared() {
		r.diff.Summary.Failed = append(r.diff.Summary.Failed, failedPayload{e.ID, "its payload was cleared by retention"})
		return nil
	}
	dry := mapping.DryEvent{ObjectID: e.ObjectID, Hash: e.Hash}
	in, err := apply.Input(e)
	if err != nil {
		in = mapping.Input{EventID: e.ID, Type: e.Type, Order: e.Order}
		dry.Reason = err.Error()
	}
	dry.Input = in
	before, after := r.before.DryRun([]mapping.DryEvent{dry}).Events[0], r.after.DryRun([]mapping.DryEvent{dry}).Events[0]
	r.diff.compare("", &before, &after)
	r.diff.Summary.count(after)
	if route, found := r.after.Route(in); err == nil && found && route.Authority() != nil {
		r.hints++
	}
	return nil
}

// advise says what becomes of the events and what to do next.
func (r *storedReview) advise(env environment, o mapOptions) {
	s := r.diff.Summary
	fmt.Fprintf(env.out, "under the changed mapping %d would be applied, %d ignored, %d wait for a person\n", s.Apply, s.Ignore, s.Review)
	if r.hints > 0 {
		fmt.Fprintf(env.out, "note: %d of them are hints: the service first loads the provider's object (authority), which is not done here\n", r.hints)
	}
	if s.Apply+s.Ignore > 0 {
		fmt.Fprintf(env.out, "next: put the mapping in place, reload the service, then bridge replay --config %s --source %s --status review with the same filter\n",
			o.stored.config, r.after.Source)
	}
}
