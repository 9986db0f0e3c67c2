package operate

import (
	"context"
	"fmt"

	"sfbridge/bridge/event"
	"sfbridge/salesforce"
	"sfbridge/salesforce/soql"
)

// failedEffects reads the effects in Review of those events that wait for a
// person because of effects, by the event's row id.
func (b *bulk) failedEffects(ctx context.Context, events []*event.Event) (map[string][]*event.Effect, error) {
	var ids []string
	for _, e := range events {
		if e.Status == event.Review && e.ErrorCode == event.CodeEffect {
			ids = append(ids, e.RowID)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	text, err := soql.Select(event.EffectFields()...).From(event.EffectObject).
		Where(soql.In(event.EffectFieldEvent, ids), soql.Eq(event.EffectFieldStatus, string(event.EffectReview))).
		OrderBy("Id").Build()
	if err != nil {
		return nil, err
	}
	records, err := b.desk.cfg.Org.Query(ctx, text)
	if err != nil {
		return nil, fmt.Errorf("reading failed effects: %w", err)
	}
	failed := map[string][]*event.Effect{}
	for _, r := range records {
		e, err := event.EffectFromRecord(r)
		if err != nil {
			return nil, err
		}
		failed[e.EventRow] = append(failed[e.EventRow], e)
	}
	return failed, nil
}

// resend makes failed effects ready again, each event with its effects in one
// transaction. Results are put at the place of their event.
func (b *bulk) resend(ctx context.Context, events []*event.Event, failed map[string][]*event.Effect, results []salesforce.SaveResult) error {
	var graphs []salesforce.Graph
	var places []int
	nodes := 0
	flush := func() error {
		err := b.sendGraphs(ctx, graphs, places, results)
		graphs, places, nodes = nil, nil, 0
		return err
	}
	for i, e := range events {
		effects := failed[e.RowID]
		if len(effects) == 0 {
			continue
		}
		g := salesforce.Graph{ID: fmt.Sprintf("g%d", i), Requests: b.readyAgain(e, effects)}
		if len(graphs) == salesforce.MaxGraphs || len(graphs) > 0 && nodes+len(g.Requests) > salesforce.MaxNodes {
			if err := flush(); err != nil {
				return err
			}
		}
		graphs, places, nodes = append(graphs, g), append(places, i), nodes+len(g.Requests)
	}
	return flush()
}

// readyAgain are the writes for one event: the lock row of its queue first, as
// in every transaction on rows that a machine may be writing to.
func (b *bulk) readyAgain(e *event.Event, effects []*event.Effect) []salesforce.Subrequest {
	home, now := homeOf(e), b.desk.cfg.Now()
	subs := []salesforce.Subrequest{
		salesforce.UpsertRow("q", event.QueueFieldName, salesforce.Row{Object: event.QueueObject, Fields: map[string]any{
			event.QueueFieldName: home, event.QueueFieldTouched: event.FormatTime(now),
		}}),
		salesforce.UpdateRow("e", b.update(e, event.Applied, map[string]any{
			event.FieldErrorCode:   nil,
			event.FieldError:       nil,
			event.FieldReplayCount: e.ReplayCount + 1,
		})),
	}
	for i, effect := range effects {
		line := event.EffectLine(now, effect.Status, event.EffectReady, b.Who, "its event was replayed")
		subs = append(subs, salesforce.UpdateRow(fmt.Sprintf("x%d", i),
			salesforce.Row{Object: event.EffectObject, ID: effect.RowID, Fields: effect.Again(home, line)}))
	}
	return subs
}

func (b *bulk) sendGraphs(ctx context.Context, graphs []salesforce.Graph, places []int, results []salesforce.SaveResult) error {
	if len(graphs) == 0 {
		return nil
	}
	answers, err := b.desk.cfg.Org.Graph(ctx, graphs)
	if err != nil {
		for _, place := range places {
			results[place].Errors = []salesforce.Fault{{Code: "NOT_KNOWN", Message: "the call failed: " + err.Error()}}
		}
		return err
	}
	n := 0
	for i, answer := range answers {
		results[places[i]] = salesforce.SaveResult{ID: graphs[i].ID, Success: answer.OK}
		if answer.OK {
			n += len(graphs[i].Requests) - 2
			continue
		}
		for _, c := range salesforce.Culprits(answer.Responses) {
			results[places[i]].Errors = append(results[places[i]].Errors, c.Fault)
		}
	}
	b.desk.cfg.WakeEffects(n)
	return nil
}
