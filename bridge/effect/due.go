package effect

import (
	"context"
	"fmt"
	"time"

	"sfbridge/bridge/event"
	"sfbridge/salesforce"
	"sfbridge/salesforce/soql"
)

// ref is a due row and its event, by row ids.
type ref struct{ row, event string }

// found is what a due query tells.
type found struct {
	batches [][]ref
	orphans []string  // rows whose event is gone
	next    time.Time // when the first of the other rows becomes due
	more    bool      // there are more rows than one page
}

// due asks for the open rows of the queues: those that wait for no time first,
// then by their time, so that one page shows what is due and what comes next.
func (w *Worker) due(ctx context.Context, queues []string) (found, error) {
	text, err := soql.Select("Id", event.EffectFieldEvent, event.EffectFieldNextAttempt).From(event.EffectObject).
		Where(soql.In(event.EffectFieldQueue, queues)).
		OrderBy(event.EffectFieldNextAttempt+" NULLS FIRST", "Id").Limit(pageLimit).Build()
	if err != nil {
		return found{}, err
	}
	rows, err := w.cfg.Org.Query(ctx, text)
	if err != nil {
		return found{}, fmt.Errorf("asking for due effects: %w", err)
	}
	now := w.cfg.Now()
	f := found{more: len(rows) == pageLimit}
	var refs []ref
	for _, rec := range rows {
		r := ref{row: rec.ID(), event: rec.String(event.EffectFieldEvent)}
		next, _ := rec.Time(event.EffectFieldNextAttempt)
		switch {
		case next.After(now):
			f.next, f.more = next, false
			f.batches = batches(refs)
			return f, nil
		case r.event == "":
			f.orphans = append(f.orphans, r.row)
		default:
			refs = append(refs, r)
		}
	}
	f.batches = batches(refs)
	return f, nil
}

// batches cuts the rows into lists of at most maxRows; an event stands in one
// list only, because its results move one row. What an event has beyond a list
// waits for the next round.
func batches(refs []ref) [][]ref {
	byEvent := map[string][]ref{}
	var order []string
	for _, r := range refs {
		if byEvent[r.event] == nil {
			order = append(order, r.event)
		}
		byEvent[r.event] = append(byEvent[r.event], r)
	}
	var out [][]ref
	var batch []ref
	for _, e := range order {
		rows := byEvent[e][:min(maxRows, len(byEvent[e]))]
		if len(batch)+len(rows) > maxRows {
			out, batch = append(out, batch), nil
		}
		batch = append(batch, rows...)
	}
	if len(batch) > 0 {
		out = append(out, batch)
	}
	return out
}

// orphans ends rows whose event was deleted: there is nothing to record their
// results with.
func (w *Worker) orphans(ctx context.Context, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	rows := make([]salesforce.Row, len(ids))
	for i, id := range ids {
		rows[i] = salesforce.Row{Object: event.EffectObject, ID: id, Fields: map[string]any{
			event.EffectFieldStatus: string(event.EffectReview), event.EffectFieldQueue: nil,
			event.EffectFieldNextAttempt: nil, event.EffectFieldResponse: "not sent: its event was deleted",
		}}
	}
	_, err := w.cfg.Org.UpdateAll(ctx, rows, false)
	return err
}

// job is one event with its effects.
type job struct {
	ev      *event.Event
	effects []*event.Effect // all of the event
	sent    []*delivery     // those that are due
}

// delivery is one effect on its way.
type delivery struct {
	job    *job
	effect *event.Effect
	result *result // nil: not tried
}

// eventFields are what the worker needs of an event.
var eventFields = []string{
	"Id", event.FieldID, event.FieldSource, event.FieldStatus, event.FieldOutcome, event.FieldRevision,
	event.FieldHomeQueue, event.FieldHistory,
}

// read reads the events of the rows with all their effects. Rows that are no
// longer open are left out.
func (w *Worker) read(ctx context.Context, refs []ref) ([]*job, error) {
	due := map[string]bool{}
	var ids []string
	for i, r := range refs {
		due[r.row] = true
		if i == 0 || r.event != refs[i-1].event {
			ids = append(ids, r.event)
		}
	}
	jobs, err := w.jobs(ctx, ids)
	if err != nil {
		return nil, err
	}
	for _, j := range jobs {
		for _, e := range j.effects {
			if due[e.RowID] && e.Status.Open() {
				j.sent = append(j.sent, &delivery{job: j, effect: e})
			}
		}
	}
	return jobs, nil
}

// jobs reads events by their row ids.
func (w *Worker) jobs(ctx context.Context, ids []string) ([]*job, error) {
	fields := append(event.EffectFields(), event.EffectFieldRequest)
	for _, f := range eventFields {
		fields = append(fields, "Event__r."+f)
	}
	text, err := soql.Select(fields...).From(event.EffectObject).Where(soql.In(event.EffectFieldEvent, ids)).OrderBy("Id").Build()
	if err != nil {
		return nil, err
	}
	rows, err := w.cfg.Org.Query(ctx, text)
	if err != nil {
		return nil, fmt.Errorf("reading due effects: %w", err)
	}
	byRow := map[string]*job{}
	var jobs []*job
	for _, rec := range rows {
		e, err := event.EffectFromRecord(rec)
		if err != nil {
			return nil, err
		}
		j := byRow[e.EventRow]
		if j == nil {
			ev, err := event.FromRecord(rec.Sub("Event__r"))
			if err != nil {
				return nil, err
			}
			j = &job{ev: ev}
			byRow[e.EventRow], jobs = j, append(jobs, j)
		}
		j.effects = append(j.effects, e)
	}
	return jobs, nil
}
