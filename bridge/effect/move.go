package effect

import (
	"fmt"

	"sfbridge/bridge/event"
	"sfbridge/salesforce"
)

// move is what one event's results change.
type move struct {
	job     *job
	status  event.Status
	effects []salesforce.Row
	event   salesforce.Row
}

// move decides where an event goes: Completed with the last effect done, Review
// with the first that failed for good. An event that isn't Applied (a person
// has it, or it is being replayed) stays where it is.
func (w *Worker) move(j *job) move {
	after := map[string]event.EffectStatus{}
	for _, e := range j.effects {
		after[e.RowID] = e.Status
	}
	m := move{job: j, status: j.ev.Status}
	var failed *delivery
	for _, d := range j.tried() {
		after[d.effect.RowID] = d.result.status
		if d.result.status == event.EffectReview {
			failed = d
		}
		m.effects = append(m.effects, w.effectRow(d))
	}
	if j.ev.Status == event.Applied {
		m.status = afterEffects(after)
	}
	m.event = w.eventRow(j, m.status, failed)
	return m
}

func afterEffects(states map[string]event.EffectStatus) event.Status {
	status := event.Completed
	for _, s := range states {
		switch {
		case s == event.EffectReview:
			return event.Review
		case s.Open():
			status = event.Applied
		}
	}
	return status
}

func (w *Worker) effectRow(d *delivery) salesforce.Row {
	e, r := d.effect, d.result
	queue := any(nil)
	if r.status.Open() {
		queue = d.job.ev.HomeQueue
	}
	line := event.EffectLine(r.at, e.Status, r.status, w.cfg.Who, r.why)
	return salesforce.Row{Object: event.EffectObject, ID: e.RowID, Fields: map[string]any{
		event.EffectFieldStatus:       string(r.status),
		event.EffectFieldQueue:        queue,
		event.EffectFieldAttempts:     r.attempts,
		event.EffectFieldNextAttempt:  event.FormatTime(r.next),
		event.EffectFieldResponseCode: r.code,
		event.EffectFieldResponse:     r.answer,
		event.EffectFieldHistory:      event.AppendLine(e.History, line),
	}}
}

func (w *Worker) eventRow(j *job, status event.Status, failed *delivery) salesforce.Row {
	ev := j.ev
	f := map[string]any{
		event.FieldStatus:           string(status),
		event.FieldExpectedRevision: ev.Revision,
		event.FieldRevision:         event.NextRevision(ev.Revision, w.cfg.IntN),
	}
	if status == ev.Status {
		return salesforce.Row{Object: event.Object, ID: ev.RowID, Fields: f}
	}
	why := "effects delivered"
	if status == event.Review {
		why = "an effect failed for good"
		if failed != nil {
			why = fmt.Sprintf("effect %s failed: %s", failed.effect.Name, failed.result.why)
		}
		f[event.FieldErrorCode], f[event.FieldError] = event.CodeEffect, event.Cut(why, event.ErrorLimit)
	}
	line := event.Line{At: w.cfg.Now(), From: ev.Status, To: status, Who: w.cfg.Who, Why: why}
	f[event.FieldHistory] = event.AppendHistory(ev.History, line)
	return salesforce.Row{Object: event.Object, ID: ev.RowID, Fields: f}
}
