package poll

import (
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/semaphore"

	"sfbridge/bridge/apply"
	"sfbridge/bridge/event"
	"sfbridge/internal/failpoint"
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
	size int                 // most events of one transaction
}

// work brings a batch home. The end of ctx tells that no new work is to be
// begun; what has begun goes on under a deadline of its own.
func (l *lane) work(ctx context.Context, batch []*event.Event) outcome {
	crashes := l.cfg.Journal.Crashes(batch[0].RowID)
	weight := int64(1)
	if crashes >= strictlyAlone {
		weight = int64(l.cfg.Lanes)
	}
	began := l.cfg.Now()
	if err := l.gate.Acquire(ctx, weight); err != nil {
		out := failed(batch, nil) // stopped before its turn
		out.began = began
		return out
	}
	defer l.gate.Release(weight)
	stop := ctx.Done()
	ctx, cancel := l.deadline(ctx)
	defer cancel()
	began = l.cfg.Now()
	var out outcome
	if crashes >= maxCrashes {
		out = l.abandon(ctx, batch, crashes)
	} else {
		out = l.journaled(ctx, stop, batch)
	}
	out.began = began
	return out
}

// deadline is the time that work has which outlives the end of ctx: all that a
// batch may take, but no more than a stop may wait once it has come.
func (l *lane) deadline(ctx context.Context) (context.Context, context.CancelFunc) {
	work, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.cfg.BatchTimeout)
	forget := context.AfterFunc(ctx, func() {
		defer cancel()
		timer := time.NewTimer(l.cfg.StopWait)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-work.Done():
		}
	})
	return work, func() { forget(); cancel() }
}

// journaled reads the payloads of a batch at once and brings it home in
// transactions of at most size events. The journal holds what is being read,
// then what is being applied.
func (l *lane) journaled(ctx context.Context, stop <-chan struct{}, batch []*event.Event) outcome {
	if err := l.cfg.Journal.Begin(rowIDs(batch)); err != nil {
		return failed(batch, err)
	}
	failpoint.Hit(failpoint.PollJournaled)
	events, out := l.load(ctx, batch)
	failpoint.Hit(failpoint.PollLoaded)
	first := events[:min(l.size, len(events))]
	l.done(without(batch, first))
	out.add(l.apply(ctx, stop, first))
	failpoint.Hit(failpoint.PollApplied)
	l.done(first)
	failpoint.Hit(failpoint.PollDone)
	for part := range slices.Chunk(events[len(first):], l.size) {
		out.add(l.next(ctx, stop, part, &out))
	}
	return out
}

// next brings a further part of a batch home, unless the parts before tell that
// nothing more should be begun.
func (l *lane) next(ctx context.Context, stop <-chan struct{}, part []*event.Event, before *outcome) outcome {
	if before.err != nil || before.limit > 0 || stopped(stop) {
		return failed(part, nil)
	}
	free, held := behind(before.fates, part)
	out := failed(held, nil)
	if len(free) == 0 {
		return out
	}
	if err := l.cfg.Journal.Begin(rowIDs(free)); err != nil {
		out.add(failed(free, err))
		return out
	}
	out.add(l.apply(ctx, stop, free))
	l.done(free)
	return out
}

// load reads a batch with payloads. The outcome tells of the rows that go no
// further, and of those that have to wait for one of these.
func (l *lane) load(ctx context.Context, batch []*event.Event) ([]*event.Event, outcome) {
	read, err := l.rows.load(ctx, batch)
	if err != nil {
		return nil, failed(batch, err)
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
		out.fits = max(1, len(read.events)+len(read.broken))
	}
	out.add(l.setAside(ctx, read.broken))
	free, held := behind(out.fates, read.events)
	out.add(failed(held, nil))
	return free, out
}

// apply hands events over and reads the report, which tells what was settled
// also when a call failed later.
func (l *lane) apply(ctx context.Context, stop <-chan struct{}, events []*event.Event) outcome {
	if len(events) == 0 {
		return outcome{}
	}
	if stopped(stop) {
		return failed(events, nil)
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
		l.done(batch)
		return outcome{fates: []fate{{event: deleted(batch[0]), ended: true}}}
	}
	if !found[0].Open() {
		l.done(batch)
		return outcome{fates: []fate{{event: light(found[0]), ended: true}}}
	}
	why := fmt.Sprintf("the process died %d times while it worked on this event", crashes)
	fates, err := l.park(ctx, []parking{{event: found[0], code: event.CodeAbandoned, why: why}})
	if err != nil {
		return failed(batch, err)
	}
	if fates[0].ended {
		l.done(batch)
	}
	return outcome{fates: fates}
}

// done takes rows off the journal.
func (l *lane) done(batch []*event.Event) {
	if len(batch) == 0 {
		return
	}
	if err := l.cfg.Journal.Done(rowIDs(batch)); err != nil {
		l.cfg.Log.Error("the journal can't be written", "error", err)
	}
}

// unknown is a row that another writer has moved on, nobody knows where: it
// rests until the next due query tells.
func (l *lane) unknown(e *event.Event) fate {
	return fate{event: light(e), until: l.cfg.Now().Add(l.cfg.Interval)}
}
