package poll

import (
	"context"
	"maps"
	"slices"
	"time"

	"sfbridge/bridge/event"
	"sfbridge/internal/failpoint"
)

// query starts the next due query when it is time.
func (r *run) query(ctx context.Context, now time.Time) {
	if r.querying || len(r.held) == 0 || r.nextQuery(now).After(now) || (r.once && r.asked && !r.schedule.more) {
		return
	}
	q := question{queues: slices.Clone(r.held), now: now, after: r.after, count: r.counting, elsewhere: r.elsewhere(now)}
	review := now.Sub(r.review) >= reviewEvery && !r.yields(event.CountWork)
	if review {
		r.review = now
	}
	first := !r.asked
	r.querying = true
	r.schedule.queryStarts(now)
	r.backlog.queryStarts()
	r.wg.Go(func() {
		if first {
			r.clearSuspects(ctx)
		}
		a, err := r.rows.ask(ctx, q)
		failpoint.Hit(failpoint.PollAsked)
		r.answers <- reply{answer: a, began: now, err: err}
		if err == nil && review {
			r.countReview(ctx)
		}
	})
}

// nextQuery is when the next due query is to be made.
func (r *run) nextQuery(now time.Time) time.Time {
	r.schedule.spread = r.spread()
	next := r.schedule.next(r.atHand(now))
	if r.yields(event.PollWork) {
		return later(next, r.schedule.lastQuery.Add(yieldPause))
	}
	return next
}

// atHand counts the rows that can be taken now or after the batches in work.
func (r *run) atHand(now time.Time) int { return r.backlog.ready(now) + r.backlog.coming(now) }

// takeIn learns what a due query found.
func (r *run) takeIn(a reply) {
	r.querying = false
	now := r.cfg.Now()
	r.changed = now
	if a.err != nil {
		r.after = nil
		r.fail(a.began, now, a.err)
		return
	}
	r.asked, r.fresh = true, true
	if r.backlog.merge(a.answer) {
		r.schedule.again = true
	}
	r.backlog.keep(r.held)
	if a.answer.others != nil {
		r.cfg.Looked(a.answer.others)
	}
	r.schedule.dueAt(a.answer.nextDue)
	r.page(a.answer, now)
	if !a.answer.further {
		r.due = a.answer.total - r.backlog.over(a.answer.due)
	}
	r.report()
	if r.backlog.ready(now) == 0 && r.inWork == 0 {
		r.schedule.succeeded()
	}
}

// page decides where the next query goes on after one that was cut off: behind
// the last row read, since the rows before it are known or in work. From time to
// time it begins anew, for rows that have become due before that place.
func (r *run) page(a answer, now time.Time) {
	r.counting = a.cut
	if !a.further {
		r.pass = now
	}
	r.after = nil
	if !a.cut {
		return
	}
	if len(r.backlog.due) < knownLimit && now.Before(r.pass.Add(maxPass*r.cfg.Interval)) {
		r.after = a.due[len(a.due)-1]
	}
	r.schedule.more = r.after != nil || r.atHand(now) >= r.schedule.full
	r.schedule.again = true
}

// report tells the metrics what is due: after a query, and as batches end.
func (r *run) report() { r.cfg.Metrics.Due(r.due, r.backlog.oldest()) }

// countReview tells the metrics how many rows wait for a person.
func (r *run) countReview(ctx context.Context) {
	n, err := r.rows.reviews(ctx)
	if err != nil {
		r.cfg.Log.Info("events in Review could not be counted", "error", err)
		return
	}
	r.cfg.Metrics.Review(n)
}

// clearSuspects takes the rows off the journal that were in work at a crash but
// have come to an end since: the commit was the last thing that happened.
func (r *run) clearSuspects(ctx context.Context) {
	ids := slices.Sorted(maps.Keys(r.cfg.Journal.Suspects()))
	if len(ids) == 0 {
		return
	}
	open, err := r.rows.open(ctx, ids)
	if err == nil {
		ended := slices.DeleteFunc(ids, func(id string) bool { return open[id] })
		err = r.cfg.Journal.Done(ended)
	}
	if err != nil {
		r.cfg.Log.Warn("rows of a crash could not be looked up", "error", err)
	}
}
