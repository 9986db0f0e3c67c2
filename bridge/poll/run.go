package poll

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"sfbridge/bridge/event"
	"sfbridge/salesforce"
)

// run is one life of a poller. All its state belongs to the goroutine of loop;
// queries, batches and leases run beside it and report through channels.
type run struct {
	*Poller
	once bool
	gate *semaphore.Weighted // see lane

	backlog  *backlog
	schedule schedule
	stop     <-chan struct{}

	claims  *claims
	held    []string  // queues to work on
	leaving []string  // queues that are held still and given back when their batch has ended
	until   time.Time // when the leases end unless they are extended
	quota   int       // how many queues are ours to hold
	leased  bool      // the leases have been asked for

	inWork   int           // batches
	querying bool          // a due query is under way
	asked    bool          // a due query has been answered
	fresh    bool          // rows have come in and nothing was chosen of them yet
	changed  time.Time     // last time that a batch or a query ended
	usual    time.Duration // how long a batch takes, on average
	after    *event.Event  // last row of a page that was cut off: the next query goes on behind it
	pass     time.Time     // when the first page of the running pass was read
	counting bool          // the last page was cut off: count the open rows too
	due      int           // rows that are due: as last counted, less those that ended since
	review   time.Time     // last count of rows in Review
	limit    int           // most events of a transaction
	haul     int           // most rows whose payloads are read at once
	err      error         // first failure, for once

	outcomes chan outcome
	answers  chan reply
	wg       sync.WaitGroup
}

// reply is how a due query ended.
type reply struct {
	answer answer
	began  time.Time
	err    error
}

func newRun(p *Poller) *run {
	c := p.cfg
	return &run{
		Poller:   p,
		backlog:  newBacklog(),
		schedule: schedule{interval: c.Interval, idle: c.idle(), full: c.Batch * c.Lanes},
		gate:     semaphore.NewWeighted(int64(c.Lanes)),
		limit:    c.Batch,
		haul:     maxShare * c.Batch,
		outcomes: make(chan outcome),
		answers:  make(chan reply),
		claims:   newClaims(),
	}
}

// loop is the life of a run. It returns when ctx has ended and everything in
// work is finished; a run of once also when nothing more can be taken.
func (r *run) loop(ctx context.Context) error {
	r.stop = ctx.Done()
	leasing, release := context.WithCancel(context.WithoutCancel(ctx))
	defer r.wg.Wait()
	defer r.working.Store(nil)
	defer release() // not before everything in work is finished
	r.wg.Go(func() { r.keepLeases(leasing) })
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		now := r.cfg.Now()
		r.noteWakes(now)
		if ctx.Err() == nil {
			r.dispatch(ctx, now)
			r.query(ctx, now)
		}
		if r.finished(ctx) {
			return r.result()
		}
		timer.Reset(r.pause(now))
		r.await(timer)
	}
}

// await takes the next thing that happens.
func (r *run) await(timer *time.Timer) {
	stop := r.stop
	if stopped(stop) {
		stop = nil // known already: only what is in work can still happen
	}
	select {
	case <-stop:
	case <-timer.C:
	case <-r.bell:
	case <-r.claims.changed:
		r.hold()
	case o := <-r.outcomes:
		r.takeBack(o)
	case a := <-r.answers:
		r.takeIn(a)
	}
}

func (r *run) finished(ctx context.Context) bool {
	switch {
	case r.inWork > 0 || r.querying:
		return false
	case ctx.Err() != nil:
		return true
	case !r.once:
		return false
	case r.err != nil:
		return true
	case r.asked && r.yields(event.PollWork):
		r.err = ErrYields
		return true
	}
	nothing := r.leased && len(r.held) == 0 // all queues are others'
	return nothing || r.asked && !r.schedule.more && r.backlog.ready(r.cfg.Now()) == 0
}

// result is what loop returns: a stop is no failure.
func (r *run) result() error {
	if r.once {
		return r.err
	}
	return nil
}

func (r *run) noteWakes(now time.Time) {
	staged, seen := r.wakes()
	for _, w := range staged {
		r.schedule.wake(w.at, w.rows)
	}
	r.schedule.looked = seen
	if r.cfg.Staging() {
		r.schedule.staging(now)
	}
}

// dispatch starts as many batches as lanes are free.
func (r *run) dispatch(ctx context.Context, now time.Time) {
	if r.schedule.paused(now) || r.yields(event.PollWork) || !now.Before(r.until) {
		return // a process that stood still begins nothing before its leases are extended
	}
	lanes := r.cfg.Lanes
	if r.schedule.failures > 0 {
		lanes = 1 // one batch tries whether the org takes work again
	}
	for r.inWork < lanes {
		ready := r.backlog.ready(now)
		if ready == 0 || (ready < min(r.limit, r.haul) && !r.partial(now)) {
			break
		}
		batch := r.backlog.take(now, r.share(ready, lanes-r.inWork), func(id string) bool { return r.cfg.Journal.Crashes(id) > 0 })
		if len(batch) == 0 {
			break
		}
		r.start(ctx, batch)
	}
	r.fresh = false
}

func (r *run) start(ctx context.Context, batch []*event.Event) {
	r.inWork++
	l := &lane{cfg: r.cfg, rows: r.rows, gate: r.gate, size: r.limit}
	r.wg.Go(func() { r.outcomes <- l.work(ctx, batch) })
}

// takeBack learns what became of a batch.
func (r *run) takeBack(o outcome) {
	r.inWork--
	now := r.cfg.Now()
	r.changed = now
	r.took(now.Sub(o.began))
	r.backlog.settle(o.fates)
	r.yieldSurplus()
	r.backlog.fitted(o.moved, o.noRoom)
	r.schedule.now = r.schedule.now || o.stale
	for _, f := range o.fates {
		if f.ended {
			r.due = max(0, r.due-1)
		}
		switch {
		case f.ended && f.event.Open():
			r.schedule.dueAt(f.event.NextAttempt)
		case !f.until.IsZero():
			r.schedule.again = true // the org may know more of it than we do
		}
	}
	for _, p := range o.pauses {
		r.cfg.Log.Error("route paused", "source", p.Source, "route", p.Route, "until", p.Until, "reason", p.Reason)
	}
	switch {
	case o.err != nil:
		r.fail(o.began, now, o.err)
	case o.applied:
		r.schedule.succeeded()
	}
	r.resize(o)
	r.report()
}

// fail starts a pause after a failed call.
func (r *run) fail(began, now time.Time, err error) {
	if stopped(r.stop) {
		return // what was broken off says nothing about the org
	}
	if r.err == nil {
		r.err = err
	}
	r.schedule.failed(began, now, func(n int) time.Duration { return r.backoff(n, err) })
	r.cfg.Log.Warn("the poller rests: a call failed", "class", salesforce.ClassOf(err).String(),
		"until", r.schedule.pauseUntil, "error", err)
}

func (r *run) yields(w event.Work) bool {
	u := r.cfg.Usage()
	return w.Yields(u.Used, u.Max, r.cfg.DailyBudget)
}
