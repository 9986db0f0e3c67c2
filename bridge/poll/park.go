package poll

import (
	"context"
	"fmt"

	"sfbridge/bridge/event"
	"sfbridge/salesforce"
)

// parking is a row that goes to a person without having been applied.
type parking struct {
	event *event.Event // with its history
	code  string
	why   string
}

// park moves rows to Review. It tells for each whether it is still due: one
// that was refused because another writer moved it on is not.
func (l *lane) park(ctx context.Context, rows []parking) ([]fate, error) {
	updates := make([]salesforce.Row, len(rows))
	for i, p := range rows {
		updates[i] = l.review(p)
	}
	results, err := l.cfg.Org.UpdateAll(ctx, updates, false)
	if err != nil {
		return nil, fmt.Errorf("setting rows aside: %w", err)
	}
	fates := make([]fate, len(rows))
	for i, result := range results {
		fates[i] = l.parked(rows[i], result)
	}
	return fates, nil
}

// review is the update that sends a row to a person.
func (l *lane) review(p parking) salesforce.Row {
	e := p.event
	now := l.cfg.Now()
	line := event.Line{At: now, From: e.Status, To: event.Review, Who: "bridge", Why: p.code + ": " + p.why}
	return salesforce.Row{Object: event.Object, ID: e.RowID, Fields: map[string]any{
		event.FieldStatus:           string(event.Review),
		event.FieldQueue:            nil,
		event.FieldNextAttempt:      nil,
		event.FieldErrorCode:        p.code,
		event.FieldError:            event.Cut(p.why, event.ErrorLimit),
		event.FieldHistory:          event.AppendHistory(e.History, line),
		event.FieldExpectedRevision: e.Revision,
		event.FieldRevision:         event.NextRevision(e.Revision, l.cfg.IntN),
	}}
}

func (l *lane) parked(p parking, result salesforce.SaveResult) fate {
	moved := *p.event
	switch fault := result.Fault(); {
	case result.Success:
		moved.Status, moved.Queue = event.Review, ""
		l.cfg.Metrics.Event(moved.Source, string(event.Review))
		l.cfg.Log.Warn("event set aside for a person", "event", moved.ID, "code", p.code, "reason", p.why)
		return fate{event: light(&moved), ended: true}
	case fault.Token() == salesforce.TokenRevision || fault.Code == "ENTITY_IS_DELETED":
		return l.unknown(p.event)
	default:
		l.cfg.Log.Error("an event can't be set aside", "event", moved.ID, "code", p.code, "refused", fault.Code)
		return fate{event: light(&moved), until: l.cfg.Now().Add(l.cfg.Idle)}
	}
}

// setAside sends rows that can't be read to a person.
func (l *lane) setAside(ctx context.Context, rows []broken) outcome {
	if len(rows) == 0 {
		return outcome{}
	}
	parkings := make([]parking, len(rows))
	events := make([]*event.Event, len(rows))
	for i, b := range rows {
		events[i] = light(b.event)
		parkings[i] = parking{event: b.event, code: event.CodeUnreadable, why: b.err.Error()}
	}
	fates, err := l.park(ctx, parkings)
	if err != nil {
		return failed(events, err)
	}
	return outcome{fates: fates}
}
