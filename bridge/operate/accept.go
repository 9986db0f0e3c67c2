package operate

import (
	"context"

	"sfbridge/bridge/event"
)

// Accept makes the chosen conflict rows of Review due. They are decided like
// any event, and win against one of equal order: the event whose id they came
// under, when nothing newer was applied since.
func (d *Desk) Accept(ctx context.Context, o Order) (Report, error) {
	if err := o.decides("accept"); err != nil {
		return Report{}, err
	}
	b := &bulk{desk: d, Order: o}
	b.skip = func(e *event.Event) string {
		if why := notInReview(e); why != "" {
			return why
		}
		if !event.IsConflict(e.ID) {
			return "no conflict row, to be replayed or discarded"
		}
		return ""
	}
	b.move = b.replay
	return b.run(ctx, "accept")
}
