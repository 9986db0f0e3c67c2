package apply

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"sfbridge/bridge/apply/decide"
	"sfbridge/bridge/event"
	"sfbridge/salesforce"
)

// outcome is the move of an entry's row.
func (e *entry) outcome() verdict {
	if e.verdict != nil {
		v := *e.verdict
		if e.waits {
			v.status = event.Applied
			v.why += "; causes " + e.causes()
		}
		return v
	}
	v := verdict{
		status: e.ruling.Status, outcome: e.ruling.Outcome, why: e.explain(), attempts: e.it.ev.Attempts,
	}
	if e.waits {
		v.status = event.Applied
	}
	if e.folded {
		v.outcome = event.Superseded
		v.why = "folded into the write of a later event"
		if names := e.causes(); names != "" {
			v.why += "; causes " + names
		}
	}
	return v
}

// explain says for the history what was written and what was left out.
func (e *entry) explain() string {
	var parts []string
	if e.ruling.Why != "" {
		parts = append(parts, e.ruling.Why)
	}
	for i, j := range e.judged {
		rec := e.it.records[i]
		if j.Verdict == decide.Outdated && e.ruling.Outcome != event.Stale {
			parts = append(parts, event.BusinessKey(rec.Object, rec.Key.Value)+" left out: "+j.Why)
		} else if j.Transition != nil && len(j.Transition.Skipped) > 0 && j.Why != e.ruling.Why {
			parts = append(parts, event.BusinessKey(rec.Object, rec.Key.Value)+": "+j.Why)
		}
	}
	if names := e.causes(); names != "" {
		parts = append(parts, "causes "+names)
	}
	return strings.Join(parts, "; ")
}

// causes names the effects of the event that are to be delivered.
func (e *entry) causes() string {
	var names []string
	for _, effect := range slices.Concat(e.effects, e.again) {
		names = append(names, effect.Name)
	}
	return strings.Join(slices.Compact(names), ", ")
}

// outcomeRow is the update of an event's row, with a new revision.
func (r *run) outcomeRow(it *item, v verdict, targetID string) salesforce.Row {
	now := r.cfg.Now()
	ev := it.ev
	f := map[string]any{
		event.FieldStatus:           string(v.status),
		event.FieldQueue:            orNull(event.QueueFor(v.status, it.queue())),
		event.FieldOutcome:          orNull(string(v.outcome)),
		event.FieldAttempts:         v.attempts,
		event.FieldNextAttempt:      event.FormatTime(v.next),
		event.FieldErrorCode:        orNull(event.Cut(v.code, event.TextLimit)),
		event.FieldError:            nil,
		event.FieldHistory:          event.AppendHistory(ev.History, r.line(it, v, now)),
		event.FieldExpectedRevision: it.revision,
		event.FieldRevision:         it.nextRevision(r.cfg.Intn),
	}
	if v.code != "" {
		f[event.FieldError] = event.Cut(v.why, event.ErrorLimit)
	}
	if v.status != event.Retryable {
		f[event.FieldProcessedAt] = event.FormatTime(now)
	}
	if (v.status == event.Completed || v.status == event.Applied) && it.route != nil {
		f[event.FieldMappingVersion] = it.version()
	}
	if rec, ok := it.business(); ok {
		f[event.FieldBusinessKey] = event.BusinessKey(rec.Object, rec.Key.Value)
		f[event.FieldTargetObject] = rec.Object
		f[event.FieldTargetID] = orNull(targetID)
	}
	return salesforce.Row{Object: event.Object, ID: ev.RowID, Fields: f}
}

func (r *run) line(it *item, v verdict, now time.Time) event.Line {
	why := string(v.outcome)
	if v.code != "" {
		why = v.code
	}
	if rec, ok := it.business(); ok && v.code == "" {
		why += " " + event.BusinessKey(rec.Object, rec.Key.Value)
	}
	if v.why != "" {
		why += ": " + v.why
	}
	if v.status == event.Retryable {
		why += fmt.Sprintf(" (attempts %d, next %s)", v.attempts, v.next.UTC().Format(time.RFC3339))
	}
	return event.Line{At: now, From: it.ev.Status, To: v.status, Who: r.cfg.Who, Why: why}
}

// bumpRow moves on the revision of an open row and nothing else.
func (r *run) bumpRow(f *follower) (salesforce.Row, int64) {
	next := event.NextRevision(f.revision, r.cfg.Intn)
	return salesforce.Row{Object: event.Object, ID: f.rowID, Fields: map[string]any{
		event.FieldExpectedRevision: f.revision,
		event.FieldRevision:         next,
	}}, next
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}
