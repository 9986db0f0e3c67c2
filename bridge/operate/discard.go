package operate

import (
	"context"

	"sfbridge/bridge/event"
	"sfbridge/salesforce"
)

// Discard completes the chosen events of Review with the outcome Discarded:
// they change no record, and their failed effects are not sent any more.
func (d *Desk) Discard(ctx context.Context, o Order) (Report, error) {
	if err := o.decides("discard"); err != nil {
		return Report{}, err
	}
	b := &bulk{desk: d, Order: o, skip: notInReview}
	b.move = func(ctx context.Context, events []*event.Event) ([]salesforce.SaveResult, error) {
		rows := make([]salesforce.Row, len(events))
		for i, e := range events {
			rows[i] = b.update(e, event.Completed, map[string]any{
				event.FieldOutcome:     string(event.Discarded),
				event.FieldProcessedAt: event.FormatTime(d.cfg.Now()),
				event.FieldQueue:       nil,
				event.FieldNextAttempt: nil,
			})
		}
		return b.save(ctx, rows)
	}
	return b.run(ctx, "discard")
}
