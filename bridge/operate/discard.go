package operate

import (
	"context"

	"sfbridge/bridge/event"
	"sfbridge/salesforce"
)

// Discard completes the chosen events of Review with the outcome Discarded:
// they change no record, and of the effects that they have caused before, those
// that are not delivered yet end with them, in the same transaction.
func (d *Desk) Discard(ctx context.Context, o Order) (Report, error) {
	if err := o.decides("discard"); err != nil {
		return Report{}, err
	}
	b := &bulk{desk: d, Order: o, skip: notInReview}
	b.move = b.discard
	return b.run(ctx, "discard")
}

func (b *bulk) discard(ctx context.Context, events []*event.Event) ([]salesforce.SaveResult, error) {
	open, err := b.effectsOf(ctx, events, event.EffectReady, event.EffectRetryable)
	if err != nil {
		return nil, err
	}
	now := b.desk.cfg.Now()
	changes := make([]change, len(events))
	for i, e := range events {
		changes[i].row = b.update(e, event.Completed, map[string]any{
			event.FieldOutcome:     string(event.Discarded),
			event.FieldProcessedAt: event.FormatTime(now),
			event.FieldQueue:       nil,
			event.FieldNextAttempt: nil,
		})
		for _, effect := range open[e.RowID] {
			line := event.EffectLine(now, effect.Status, event.EffectReview, b.Who, "its event was discarded")
			changes[i].effects = append(changes[i].effects, effectRow(effect, effect.Closed(line)))
		}
	}
	return b.commit(ctx, events, changes)
}
