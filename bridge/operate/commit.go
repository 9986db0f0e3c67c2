package operate

import (
	"context"
	"fmt"

	"sfbridge/bridge/event"
	"sfbridge/salesforce"
	"sfbridge/salesforce/soql"
)

// change is what an action writes for one event: its row, and the effects that
// go with it.
type change struct {
	row     salesforce.Row
	effects []salesforce.Row
}

func effectRow(e *event.Effect, fields map[string]any) salesforce.Row {
	return salesforce.Row{Object: event.EffectObject, ID: e.RowID, Fields: fields}
}

// effectsOf reads the effects of events that are in one of the states, by the
// event's row id. They are read after the events: whoever moves an effect moves
// its event's revision on, so what is written by it is refused then.
func (b *bulk) effectsOf(ctx context.Context, events []*event.Event, states ...event.EffectStatus) (map[string][]*event.Effect, error) {
	if len(events) == 0 {
		return nil, nil
	}
	ids, names := make([]string, len(events)), make([]string, len(states))
	for i, e := range events {
		ids[i] = e.RowID
	}
	for i, s := range states {
		names[i] = string(s)
	}
	text, err := soql.Select(event.EffectFields()...).From(event.EffectObject).
		Where(soql.In(event.EffectFieldEvent, ids), soql.In(event.EffectFieldStatus, names)).OrderBy("Id").Build()
	if err != nil {
		return nil, err
	}
	records, err := b.desk.cfg.Org.Query(ctx, text)
	if err != nil {
		return nil, fmt.Errorf("reading effects: %w", err)
	}
	found := map[string][]*event.Effect{}
	for _, r := range records {
		e, err := event.EffectFromRecord(r)
		if err != nil {
			return nil, err
		}
		found[e.EventRow] = append(found[e.EventRow], e)
	}
	return found, nil
}

// commit writes one call's worth of changes: those without effects together,
// every other with its effects in a transaction of its own. Results stand at
// the place of their event.
func (b *bulk) commit(ctx context.Context, events []*event.Event, changes []change) ([]salesforce.SaveResult, error) {
	var rows []salesforce.Row
	var alone, joined []int // places
	for i, c := range changes {
		if len(c.effects) > 0 {
			joined = append(joined, i)
			continue
		}
		rows, alone = append(rows, c.row), append(alone, i)
	}
	saved, err := b.desk.cfg.Org.UpdateAll(ctx, rows, false)
	if err != nil {
		return nil, err
	}
	results := make([]salesforce.SaveResult, len(events))
	for i, place := range alone {
		results[place] = saved[i]
	}
	var graphs []salesforce.Graph
	nodes, first := 0, 0 // nodes of the graphs, and which of joined is their first
	flush := func(next int) error {
		places := joined[first:next]
		err := b.sendGraphs(ctx, graphs, places, results)
		graphs, nodes, first = nil, 0, next
		return err
	}
	for i, place := range joined {
		g := salesforce.Graph{ID: fmt.Sprintf("g%d", place), Requests: b.transaction(events[place], changes[place])}
		if len(graphs) == salesforce.MaxGraphs || len(graphs) > 0 && nodes+len(g.Requests) > salesforce.MaxNodes {
			if err := flush(i); err != nil {
				unknown(results, joined[i:], err)
				return results, err
			}
		}
		graphs, nodes = append(graphs, g), nodes+len(g.Requests)
	}
	return results, flush(len(joined))
}

// transaction are the writes for one event: the lock row of its queue first, as
// in every transaction on rows that a machine may be writing to.
func (b *bulk) transaction(e *event.Event, c change) []salesforce.Subrequest {
	subs := []salesforce.Subrequest{
		salesforce.UpsertRow("q", event.QueueFieldName, salesforce.Row{Object: event.QueueObject, Fields: map[string]any{
			event.QueueFieldName: homeOf(e), event.QueueFieldTouched: event.FormatTime(b.desk.cfg.Now()),
		}}),
		salesforce.UpdateRow("e", c.row),
	}
	for i, row := range c.effects {
		subs = append(subs, salesforce.UpdateRow(fmt.Sprintf("x%d", i), row))
	}
	return subs
}

func (b *bulk) sendGraphs(ctx context.Context, graphs []salesforce.Graph, places []int, results []salesforce.SaveResult) error {
	if len(graphs) == 0 {
		return nil
	}
	answers, err := b.desk.cfg.Org.Graph(ctx, graphs)
	if err != nil {
		unknown(results, places, err)
		return err
	}
	for i, answer := range answers {
		results[places[i]] = salesforce.SaveResult{ID: graphs[i].ID, Success: answer.OK}
		if answer.OK {
			continue
		}
		for _, c := range salesforce.Culprits(answer.Responses) {
			results[places[i]].Errors = append(results[places[i]].Errors, c.Fault)
		}
	}
	return nil
}

// unknown marks events of which a broken-off action doesn't know whether they
// have moved.
func unknown(results []salesforce.SaveResult, places []int, err error) {
	for _, place := range places {
		results[place].Errors = []salesforce.Fault{{Code: "NOT_KNOWN", Message: "the call failed: " + err.Error()}}
	}
}
