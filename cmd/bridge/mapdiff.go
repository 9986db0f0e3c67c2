package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"sfbridge/mapping"
)

// mapDiff is what a changed mapping makes otherwise of the same payloads.
type mapDiff struct {
	Changes []changedEvent `json:"changes"`
	Events  int            `json:"events"`
	Changed int            `json:"changed"`
	Summary mapSummary     `json:"summary"` // of the changed mapping
}

// changedEvent is an event that the two mappings treat differently.
type changedEvent struct {
	Payload     string               `json:"payload,omitempty"` // "": a stored event
	EventID     *string              `json:"event_id"`
	Differences []mapping.Difference `json:"differences"`
}

// newMapDiff compares the events of each payload by their place in it.
func newMapDiff(before, after *mapTrial) mapDiff {
	d := mapDiff{Changes: []changedEvent{}, Summary: after.summary()}
	for i, now := range after.payloads {
		was := before.payloads[i]
		if text := readText(now.err); text != readText(was.err) {
			d.add(now.name, nil, []mapping.Difference{{Field: "payload", Change: mapping.Changed, Old: readText(was.err), New: text}})
		}
		for n := range max(len(was.results), len(now.results)) {
			d.compare(now.name, nth(was.results, n), nth(now.results, n))
		}
	}
	return d
}

// compare tells what differs in one event; nil is a mapping that doesn't find it.
func (d *mapDiff) compare(payload string, before, after *mapping.DryResult) {
	d.Events++
	id := after
	if after == nil {
		id = before
	}
	d.add(payload, id.EventID, mapping.Diff(before, after))
}

func (d *mapDiff) add(payload string, event *string, differences []mapping.Difference) {
	if len(differences) > 0 {
		d.Changes = append(d.Changes, changedEvent{payload, event, differences})
		d.Changed++
	}
}

// readText says whether a payload could be read.
func readText(err error) string {
	if err == nil {
		return "read"
	}
	return err.Error()
}

func nth(results []mapping.DryResult, n int) *mapping.DryResult {
	if n < len(results) {
		return &results[n]
	}
	return nil
}

func (d mapDiff) print(c *cobra.Command, env environment) error {
	var err error
	if wantsJSON(c, env) {
		err = printJSON(env.out, d)
	} else {
		d.show(env)
	}
	if err != nil {
		return err
	}
	return d.Summary.verdict()
}

func (d mapDiff) show(env environment) {
	for _, change := range d.Changes {
		fmt.Fprintln(env.out, oneLine(strings.TrimSpace(change.Payload+"  "+text(change.EventID))))
		for _, one := range change.Differences {
			fmt.Fprintf(env.out, "  %s\n", oneLine(difference(one)))
		}
	}
	fmt.Fprintf(env.out, "%d of %d events change\n", d.Changed, d.Events)
}

// plainText shows a reason, which quotes what it quotes itself.
func plainText(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return jsonText(v)
}

func difference(d mapping.Difference) string {
	const most = 100
	what := d.Record
	if d.Field != "" {
		if what != "" {
			what += "  "
		}
		what += d.Field
	}
	shown := jsonText
	if d.Record == "" && strings.HasPrefix(d.Field, "error") {
		shown = plainText
	}
	was, now := short(shown(d.Old), most), short(shown(d.New), most)
	switch d.Change {
	case mapping.Added:
		return "+ " + what + ": " + now
	case mapping.Removed:
		return "- " + what + ": " + was
	}
	return "~ " + what + ": " + was + " -> " + now
}
