package operate

import (
	"context"
	"slices"

	"sfbridge/bridge/event"
	"sfbridge/salesforce"
)

// Replay makes the chosen events due again: restores their queue, resets their
// attempts and counts the replay. Each row moves only from the revision that
// was read. An event of which only effects failed becomes Applied with those
// effects ready again; its records are left alone. Conflict rows are left alone
// too: to replay one is to accept it, which is a decision of its own.
func (d *Desk) Replay(ctx context.Context, o Order) (Report, error) {
	b := &bulk{desk: d, Order: o}
	if slices.Contains(o.Filter.Status, event.Completed) && !o.Force {
		return b.report, usage("completed events are replayed only with force")
	}
	b.skip = func(e *event.Event) string {
		switch {
		case event.CheckMove(e.Status, event.Received) != nil:
			return "status " + string(e.Status)
		case e.Status == event.Completed && !o.Force:
			return "completed, replayed only with force"
		case event.IsConflict(e.ID) && (e.Status == event.Review || e.Outcome == event.Discarded):
			return "conflict, to be accepted or discarded"
		case e.Cleared():
			return "its payload was cleared by retention, to be restored first"
		}
		return ""
	}
	b.move = b.replay
	return b.run(ctx, "replay")
}

// replay makes one call's worth of events due, those with failed effects apart.
func (b *bulk) replay(ctx context.Context, events []*event.Event) ([]salesforce.SaveResult, error) {
	results := make([]salesforce.SaveResult, len(events))
	failed, err := b.failedEffects(ctx, events)
	if err != nil {
		return nil, err
	}
	var rows []salesforce.Row
	var places []int
	for i, e := range events {
		if len(failed[e.RowID]) == 0 {
			rows, places = append(rows, b.due(e)), append(places, i)
		}
	}
	saved, err := b.save(ctx, rows)
	if err != nil {
		return nil, err
	}
	n := 0
	for i, place := range places {
		results[place] = saved[i]
		if saved[i].Success {
			n++
		}
	}
	b.desk.cfg.Wake(n)
	if len(places) == len(events) {
		return results, nil
	}
	return results, b.resend(ctx, events, failed, results)
}

// due is the update that has a row worked on again. What it was decided on
// before (mapping version, target, business key) stays: a replay that finds its
// own event id on the target under the same mapping has nothing to do.
func (b *bulk) due(e *event.Event) salesforce.Row {
	home := homeOf(e)
	return b.update(e, event.Received, map[string]any{
		event.FieldHomeQueue:   home,
		event.FieldQueue:       home,
		event.FieldAttempts:    0,
		event.FieldNextAttempt: nil,
		event.FieldOutcome:     nil,
		event.FieldProcessedAt: nil,
		event.FieldErrorCode:   nil,
		event.FieldError:       nil,
		event.FieldReplayCount: e.ReplayCount + 1,
	})
}

func homeOf(e *event.Event) string {
	if e.HomeQueue == "" {
		return event.HomeQueue(event.ByBridge, e.Entity())
	}
	return e.HomeQueue
}
