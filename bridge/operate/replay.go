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

// replay makes one call's worth of events due. Of those that wait for a person
// because of effects only the failed effects are made ready again.
func (b *bulk) replay(ctx context.Context, events []*event.Event) ([]salesforce.SaveResult, error) {
	ofEffects := slices.DeleteFunc(slices.Clone(events), func(e *event.Event) bool {
		return e.Status != event.Review || e.ErrorCode != event.CodeEffect
	})
	failed, err := b.effectsOf(ctx, ofEffects, event.EffectReview)
	if err != nil {
		return nil, err
	}
	changes := make([]change, len(events))
	for i, e := range events {
		if effects := failed[e.RowID]; len(effects) > 0 {
			changes[i] = b.readyAgain(e, effects)
		} else {
			changes[i].row = b.due(e)
		}
	}
	results, err := b.commit(ctx, events, changes)
	due, ready := 0, 0
	for i, result := range results {
		switch n := len(changes[i].effects); {
		case !result.Success:
		case n > 0:
			ready += n
		default:
			due++
		}
	}
	b.desk.cfg.Wake(due)
	b.desk.cfg.WakeEffects(ready)
	return results, err
}

// readyAgain has failed effects delivered again, under their own keys.
func (b *bulk) readyAgain(e *event.Event, effects []*event.Effect) change {
	c := change{row: b.update(e, event.Applied, map[string]any{
		event.FieldErrorCode:   nil,
		event.FieldError:       nil,
		event.FieldReplayCount: e.ReplayCount + 1,
	})}
	for _, effect := range effects {
		line := event.EffectLine(b.desk.cfg.Now(), effect.Status, event.EffectReady, b.Who, "its event was replayed")
		c.effects = append(c.effects, effectRow(effect, effect.Again(homeOf(e), line)))
	}
	return c
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
