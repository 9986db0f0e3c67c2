package poll

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/semaphore"

	"sfbridge/bridge/apply"
	"sfbridge/bridge/event"
)

// strictlyAlone is the number of crashes from which a row runs while no other
// batch is in work. After the first crash it is one of many that were in work,
// and a batch of its own is enough; what crashes again is nearly found.
const strictlyAlone = 2

// maxCrashes is the number of crashes after which a row goes to a person.
const maxCrashes = 5

// lane works on one batch at a time, several beside each other.
type lane struct {
	cfg  Config
	rows staging
	gate *semaphore.Weighted // as wide as there are lanes; a row that runs strictly alone takes it all
}

// outcome is what a lane tells of its batch.
type outcome struct {
	fates   []fate
	began   time.Time
	applied bool          // the org took work
	err     error         // a failed call; the events are as due as before
	limit   int           // largest batch to take next; 0: no hint
	moved   int           // most events of one entity that moved
	noRoom  bool          // events were left because the transaction was full
	stale   bool          // most rows had been moved on by another writer: what is known is old
	pauses  []apply.Pause // routes that rest
}

// work brings a batch home. The end of ctx tells that no new work is to be
// begun; what has begun goes on under a deadline of its own.
func (l *lane) work(ctx context.Context, batch []*event.Event) outcome {
	crashes := l.cfg.Journal.Crashes(batch[0].RowID)
	weight := int64(1)
	if crashes >= strictlyAlone {
		weight = int64(l.cfg.Lanes)
	}
	if err := l.gate.Acquire(ctx, weight); err != nil {
		return failed(batch, nil) // stopped before its turn
	}
	defer l.gate.Release(weight)
	stop := ctx.Done()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.cfg.BatchTimeout)
	defer cancel()
	began := l.cfg.Now()
	var out outcome
	if crashes >= maxCrashes {
		out = l.abandon(ctx, batch, crashes)
	} else {
		out = l.journaled(ctx, stop, batch)
	}
	out.began = began
	return out
}

func (l *lane) journaled(ctx context.Context, stop <-chan struct{}, batch []*event.Event) (out outcome) {
	ids := rowIDs(batch)
	if err := l.cfg.Journal.Begin(ids); err != nil {
		return failed(batch, err)
	}
	out = l.loadAndApply(ctx, stop, batch)
	if err := l.cfg.Journal.Done(ids); err != nil {
		l.cfg.Log.Error("the journal can't be written", "error", err)
	}
	return out
}

func (l *lane) loadAndApply(ctx context.Context, stop <-chan struct{}, batch []*event.Event) outcome {
	read, err := l.rows.load(ctx, batch)
	if err != nil {
		return failed(batch, err)
	}
	var out outcome
	for _, e := range read.rest {
		out.fates = append(out.fates, fate{event: e})
	}
	for _, e := range read.moved {
		out.fates = append(out.fates, fate{event: e, ended: true})
	}
	out.stale = 2*len(read.moved) > len(batch)
	if len(read.rest) > 0 {
		out.limit = max(1, len(read.events)+len(read.broken))
	}
	out.add(l.setAside(ctx, read.broken))
	if stopped(stop) {
		out.add(failed(read.events, nil))
		return out
	}
	out.add(l.apply(ctx, read.events))
	return out
}

// apply hands events over and reads the report, which tells what was settled
// also when a call failed later.
func (l *lane) apply(ctx context.Context, events []*event.Event) outcome {
	if len(events) == 0 {
		return outcome{}
	}
	report, err := l.cfg.Applier.Apply(ctx, events)
	if len(report.Results) != len(events) {
		if err == nil {
			err = fmt.Errorf("applying %d events gave %d results", len(events), len(report.Results))
		}
		return failed(events, err)
	}
	out := outcome{err: err, applied: err == nil, limit: report.BatchLimit, pauses: report.Pauses}
	moved := map[string]int{}
	progress := false
	for i, result := range report.Results {
		f := l.fateOf(events[i], result)
		out.fates = append(out.fates, f)
		progress = progress || f.ended
		switch {
		case result.Disposition == apply.Moved:
			moved[events[i].Entity()]++
			out.moved = max(out.moved, moved[events[i].Entity()])
		case result.Disposition == apply.Left && result.Reason == apply.NoRoom:
			out.noRoom = true
		}
	}
	if !progress && err == nil {
		out.rest(l.cfg.Now().Add(l.cfg.Interval))
	}
	return out
}

// rest lets what was left wait, so that a batch that got nowhere is not tried
// again at once.
func (o *outcome) rest(until time.Time) {
	for i, f := range o.fates {
		if !f.ended && f.until.Before(until) {
			o.fates[i].until = until
		}
	}
}

// fateOf reads one result. What was left without a time is taken next when it
// found no room or was held, and rests for interval when it was refused.
func (l *lane) fateOf(e *event.Event, result apply.Result) fate {
	switch result.Disposition {
	case apply.Moved:
		moved := light(e)
		moved.Status, moved.Outcome, moved.ErrorCode = result.Status, result.Outcome, result.Code
		moved.NextAttempt = result.NotBefore
		label := string(result.Status)
		if result.Status == event.Completed {
			label = string(result.Outcome)
		}
		l.cfg.Metrics.Event(e.Source, label)
		return fate{event: moved, ended: true}
	case apply.Gone:
		return l.unknown(e)
	}
	until := result.NotBefore
	atOnce := result.Reason == apply.NoRoom || result.Reason == apply.Held || result.Reason == apply.Stopped
	if until.IsZero() && !atOnce {
		until = l.cfg.Now().Add(l.cfg.Interval)
	}
	return fate{event: light(e), until: until}
}

// abandon gives a row up on which the process died too often. Its payload is
// not read.
func (l *lane) abandon(ctx context.Context, batch []*event.Event, crashes int) outcome {
	found, err := l.rows.outline(ctx, batch)
	if err != nil {
		return failed(batch, err)
	}
	if len(found) == 0 {
		l.forget(batch)
		return outcome{fates: []fate{{event: deleted(batch[0]), ended: true}}}
	}
	if !found[0].Open() {
		l.forget(batch)
		return outcome{fates: []fate{{event: light(found[0]), ended: true}}}
	}
	why := fmt.Sprintf("the process died %d times while it worked on this event", crashes)
	fates, err := l.park(ctx, []parking{{event: found[0], code: event.CodeAbandoned, why: why}})
	if err != nil {
		return failed(batch, err)
	}
	if fates[0].ended {
		l.forget(batch)
	}
	return outcome{fates: fates}
}

func (l *lane) forget(batch []*event.Event) {
	if err := l.cfg.Journal.Done(rowIDs(batch)); err != nil {
		l.cfg.Log.Error("the journal can't be written", "error", err)
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

// add joins what two parts of a batch tell.
func (o *outcome) add(other outcome) {
	o.fates = append(o.fates, other.fates...)
	o.err = errors.Join(o.err, other.err)
	o.applied = o.applied || other.applied
	o.noRoom = o.noRoom || other.noRoom
	o.moved = max(o.moved, other.moved)
	o.pauses = append(o.pauses, other.pauses...)
	if o.limit == 0 || (other.limit > 0 && other.limit < o.limit) {
		o.limit = other.limit
	}
}

// failed leaves a batch as due as it was; a nil err means that its turn never
// came.
func failed(batch []*event.Event, err error) outcome {
	out := outcome{err: err}
	for _, e := range batch {
		out.fates = append(out.fates, fate{event: light(e)})
	}
	return out
}

// unknown is a row that another writer has moved on, nobody knows where: it
// rests until the next due query tells.
func (l *lane) unknown(e *event.Event) fate {
	return fate{event: light(e), until: l.cfg.Now().Add(l.cfg.Interval)}
}

// light is the event without what only applying needs, so that a backlog keeps
// no payloads.
func light(e *event.Event) *event.Event {
	l := *e
	l.Payload, l.Context, l.History = nil, nil, ""
	return &l
}

func stopped(stop <-chan struct{}) bool {
	select {
	case <-stop:
		return true
	default:
		return false
	}
}

func rowIDs(batch []*event.Event) []string {
	ids := make([]string, len(batch))
	for i, e := range batch {
		ids[i] = e.RowID
	}
	return ids
}
