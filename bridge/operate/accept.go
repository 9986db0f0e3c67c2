package operate

import (
	"context"

	"sfbridge/bridge/event"
	"sfbridge/salesforce"
)

// Accept is a request to take conflict rows as the truth.
type Accept struct {
	Filter   Filter
	DryRun   bool   // count only
	Who      string // for the history
	Reason   string // for the history; required
	Progress func(Report)
}

// Accept makes the chosen conflict rows of Review due. They are decided like
// any event, and win against one of equal order: the event whose id they came
// under, when nothing newer was applied since.
func (d *Desk) Accept(ctx context.Context, r Accept) (Report, error) {
	b := &bulk{desk: d, filter: r.Filter, dryRun: r.DryRun, who: r.Who, reason: r.Reason, progress: r.Progress}
	if err := needReason("accept", r.Reason); err != nil {
		return b.report, err
	}
	b.skip = func(e *event.Event) string {
		switch {
		case e.Status != event.Review:
			return "status " + string(e.Status)
		case !event.IsConflict(e.ID):
			return "no conflict row, to be replayed or discarded"
		}
		return ""
	}
	b.move = func(ctx context.Context, events []*event.Event) ([]salesforce.SaveResult, error) {
		return b.replay(ctx, events)
	}
	return b.run(ctx, "accept")
}
