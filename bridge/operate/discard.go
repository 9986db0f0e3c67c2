package operate

import (
	"context"
	"strings"

	"sfbridge/bridge/event"
	"sfbridge/salesforce"
)

// Discard is a request to end events of Review without any effect.
type Discard struct {
	Filter   Filter
	DryRun   bool   // count only
	Who      string // for the history
	Reason   string // for the history; required
	Progress func(Report)
}

// Discard completes the chosen events of Review with the outcome Discarded:
// they change no record, and their failed effects are not sent any more.
func (d *Desk) Discard(ctx context.Context, r Discard) (Report, error) {
	b := &bulk{desk: d, filter: r.Filter, dryRun: r.DryRun, who: r.Who, reason: r.Reason, progress: r.Progress}
	if err := needReason("discard", r.Reason); err != nil {
		return b.report, err
	}
	b.skip = func(e *event.Event) string {
		if e.Status != event.Review {
			return "status " + string(e.Status)
		}
		return ""
	}
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

func needReason(action, reason string) error {
	if strings.TrimSpace(reason) == "" {
		return usage("a reason is needed to %s events: it is kept in their history", action)
	}
	return nil
}
