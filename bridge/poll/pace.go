package poll

import (
	"time"

	"sfbridge/salesforce"
)

// share is how many rows a free lane takes of those that are ready: two full
// transactions, since one query reads the payloads of both, and more when there
// are enough for all lanes. While the org takes small transactions only, each
// is read by itself.
func (r *run) share(ready, lanes int) int {
	full := 1
	if r.limit == r.cfg.Batch {
		full = max(1, min(2, ready/r.limit), ready/lanes/r.limit)
	}
	return min(full*r.limit, r.haul)
}

// partial says whether a batch may go although it isn't full: nothing that
// could fill it is about to come, or what is about to come takes too long.
func (r *run) partial(now time.Time) bool {
	if !now.Before(r.changed.Add(r.patience())) {
		return true
	}
	coming := r.schedule.more || r.backlog.coming(now) > 0 || (r.schedule.staged > 0 && !r.fresh)
	return !coming
}

// maxPass bounds, in intervals, how long due queries go on page by page before
// they begin anew.
const maxPass = 10

// maxPatience bounds, in intervals, how long rows wait for a batch to fill.
const maxPatience = 10

// patience is how long rows that don't fill a batch wait for the next thing to
// happen: where batches take long, that is no reason to send small ones.
func (r *run) patience() time.Duration {
	return min(max(r.cfg.Interval, 2*r.usual), maxPatience*r.cfg.Interval)
}

// took learns how long a batch takes.
func (r *run) took(d time.Duration) { r.usual += (d - r.usual) / 4 }

// resize shrinks transactions to what the org takes, and hauls to what memory
// has room for, and lets them grow back.
func (r *run) resize(o outcome) {
	resize := func(size *int, hint, most int) {
		switch {
		case hint > 0:
			*size = max(1, min(*size, hint))
		case o.applied:
			*size = min(most, *size+max(1, *size/4))
		}
	}
	resize(&r.limit, o.limit, r.cfg.Batch)
	resize(&r.haul, o.fits, maxShare*r.cfg.Batch)
}

// spread is how far due queries for little work are to be apart: not at all while
// less than half of the budget is used, then more and more, as far as idle when
// all of it is. So events that come one by one get later before polling has to
// yield, and more of them get through.
func (r *run) spread() time.Duration {
	u := r.cfg.Usage()
	if u.Max <= 0 {
		return 0
	}
	used := float64(u.Used) / (float64(u.Max) * r.cfg.DailyBudget)
	return time.Duration(min(1, max(0, 2*used-1)) * float64(r.cfg.Idle))
}

// pause is how long loop may sleep when nothing happens.
func (r *run) pause(now time.Time) time.Duration {
	at := now.Add(r.cfg.Idle)
	sooner := func(t time.Time) {
		if t.After(now) && t.Before(at) {
			at = t
		}
	}
	if !r.querying {
		if next := r.nextQuery(now); next.After(now) {
			sooner(next)
		}
	}
	sooner(r.backlog.nextHold())
	sooner(r.schedule.pauseUntil)
	sooner(r.changed.Add(r.patience()))
	return at.Sub(now)
}

// backoff is how long to rest after n failures. A hint of the server (minutes
// when the day's calls are used up, seconds for too many at once) is the least.
func (r *run) backoff(n int, err error) time.Duration {
	b := r.cfg.Backoff
	var least time.Duration
	if e, ok := salesforce.AsError(err); ok {
		least = e.RetryAfter()
	}
	if least > 0 {
		b.Base = max(b.Base, least/2)
		b.Max = max(b.Max, b.Base)
	}
	return least + b.Delay(n, r.cfg.Random)
}
