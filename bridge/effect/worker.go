package effect

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"sfbridge/bridge/event"
	"sfbridge/internal/failpoint"
	"sfbridge/salesforce"
)

// ErrYields says that the org's daily calls are nearly used up and what is left
// is kept for more urgent work.
var ErrYields = errors.New("the org's daily API calls are nearly used up: effects wait")

// Worker delivers the effects of its queues. See Run.
type Worker struct {
	cfg  Config
	bell chan struct{} // holds one signal while rows are announced
	seen chan struct{} // holds one signal after another process has looked

	mu        sync.Mutex
	announced int
	since     time.Time // of the first row announced
	debt      int       // rounds since then in which others held some of the queues
}

// New checks the Config and returns a worker that does not run yet.
func New(c Config) (*Worker, error) {
	c = c.withDefaults()
	if err := c.validate(); err != nil {
		return nil, err
	}
	return &Worker{cfg: c, bell: make(chan struct{}, 1), seen: make(chan struct{}, 1)}, nil
}

// Wake tells that so many rows of the outbox have become due. It never blocks.
func (w *Worker) Wake(rows int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.announced == 0 {
		w.since = w.cfg.Now()
	}
	w.announced += rows
	select {
	case w.bell <- struct{}{}:
	default:
	}
}

// Seen tells that another process has looked at what is due in every queue.
func (w *Worker) Seen() {
	select {
	case w.seen <- struct{}{}:
	default:
	}
}

// Run works until ctx ends and returns nil then: what has begun is finished
// first, under a deadline of its own. Only one Run or RunOnce may be under way.
func (w *Worker) Run(ctx context.Context) error {
	failures := 0
	for ctx.Err() == nil {
		next, err := w.round(ctx)
		pause := w.cfg.Idle
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, ErrYields):
			pause = yieldPause
		case err != nil:
			failures++
			pause = w.backoff(failures, err)
			w.cfg.Log.Warn("effects rest: a call failed", "class", salesforce.ClassOf(err).String(), "pause", pause, "error", err)
		default:
			failures = 0
			if !next.IsZero() {
				pause = min(pause, max(0, next.Sub(w.cfg.Now())))
			}
		}
		w.wait(ctx, pause, err == nil)
	}
	return nil
}

// RunOnce delivers what is due now and returns the first failure of a call to
// Salesforce, or ErrYields.
func (w *Worker) RunOnce(ctx context.Context) error {
	_, err := w.round(ctx)
	return err
}

// backoff is how long to rest after n failed calls; a hint of the server is the
// least.
func (w *Worker) backoff(n int, err error) time.Duration {
	pause := w.cfg.Backoff.Delay(n, w.cfg.Random)
	if e, ok := salesforce.AsError(err); ok {
		pause += e.RetryAfter()
	}
	return pause
}

// ownLook is how many pauses another process may look for this one: what it says
// can't be checked.
const ownLook = 15

// wait sleeps until the next round: rows that were announced gather for an
// interval, or until they fill the lanes.
func (w *Worker) wait(ctx context.Context, pause time.Duration, wakes bool) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	bell := w.bell
	if !wakes {
		bell = nil // the org takes nothing at the moment
	}
	end, last, idle := w.cfg.Now().Add(pause), w.cfg.Now().Add(ownLook*pause), pause == w.cfg.Idle
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
			return
		case <-w.seen:
			if now := w.cfg.Now(); idle {
				end = now.Add(min(pause, last.Sub(now)))
				timer.Reset(end.Sub(now))
			}
		case <-bell:
			idle = false
			at, full := w.gathered()
			if full {
				return
			}
			if at.Before(end) {
				end = at
				timer.Reset(max(0, at.Sub(w.cfg.Now())))
			}
		}
	}
}

func (w *Worker) gathered() (at time.Time, full bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.since.Add(w.cfg.Interval), w.announced >= maxRows*maxLanes
}

// owes takes over what was announced. Where others hold some of the queues the
// rows may be in those: it gives the time to look again, later each time.
func (w *Worker) owes(held int) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	owing := w.debt > 0 || w.announced > 0
	w.announced = 0
	if !owing || held == len(w.cfg.Queues) {
		w.debt = 0
		return time.Time{}
	}
	pause := min(w.cfg.Interval<<min(w.debt, 10), w.cfg.Idle)
	w.debt++
	return w.cfg.Now().Add(pause)
}

// round delivers what is due and says when the next rows are.
func (w *Worker) round(ctx context.Context) (next time.Time, err error) {
	u := w.cfg.Usage()
	if event.EffectWork.Yields(u.Used, u.Max, w.cfg.DailyBudget) {
		return time.Time{}, ErrYields
	}
	held, release := w.lease(ctx)
	defer release()
	retry := soonest{at: w.owes(len(held))}
	if len(held) == 0 {
		return retry.at, nil
	}
	found, err := w.due(ctx, held)
	if err != nil {
		return time.Time{}, err
	}
	if err := w.orphans(ctx, found.orphans); err != nil {
		return time.Time{}, err
	}
	lanes, stop := errgroup.WithContext(ctx)
	lanes.SetLimit(maxLanes)
	retry.note(found.next)
	for _, b := range found.batches {
		lanes.Go(func() error {
			if stop.Err() != nil {
				return nil // stopped, or the org takes nothing: what is left stays due
			}
			again, err := w.batch(ctx, b)
			retry.note(again)
			return err
		})
	}
	err = lanes.Wait()
	if err == nil && len(held) == len(w.cfg.Queues) {
		w.cfg.Looked()
	}
	if found.more {
		retry.note(w.cfg.Now())
	}
	return retry.at, err
}

// batch works on one batch. What has begun goes on when ctx ends.
func (w *Worker) batch(ctx context.Context, b []ref) (again time.Time, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), w.cfg.BatchTimeout)
	defer cancel()
	failpoint.Hit(failpoint.EffectDue)
	jobs, err := w.read(ctx, b)
	if err != nil {
		return time.Time{}, err
	}
	failpoint.Hit(failpoint.EffectRead)
	if err := w.deliver(ctx, jobs); err != nil {
		return time.Time{}, errors.Join(err, w.record(ctx, jobs))
	}
	err = w.record(ctx, jobs)
	failpoint.Hit(failpoint.EffectRecorded)
	for _, j := range jobs {
		for _, s := range j.sent {
			if s.result.status == event.EffectRetryable && (again.IsZero() || s.result.next.Before(again)) {
				again = s.result.next
			}
		}
	}
	return again, err
}

// soonest is the earliest of several times; zero for none.
type soonest struct {
	mu sync.Mutex
	at time.Time
}

func (s *soonest) note(t time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !t.IsZero() && (s.at.IsZero() || t.Before(s.at)) {
		s.at = t
	}
}

// lease claims the queues for a round and keeps them until release.
func (w *Worker) lease(ctx context.Context) (held []string, release func()) {
	names := make([]string, len(w.cfg.Queues))
	for i, q := range w.cfg.Queues {
		names[i] = leaseName(q)
	}
	got, err := w.cfg.Leases.Acquire(ctx, w.cfg.Owner, names, leaseTTL)
	if err != nil {
		w.cfg.Log.Warn("queue leases of effects can't be had", "error", err)
		return nil, func() {}
	}
	for _, name := range got {
		held = append(held, name[len(leasePrefix):])
	}
	keeping, stop := context.WithCancel(context.WithoutCancel(ctx))
	var kept sync.WaitGroup
	kept.Go(func() { w.keep(keeping, got) })
	return held, func() {
		stop()
		kept.Wait()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseLimit)
		defer cancel()
		if err := w.cfg.Leases.Release(ctx, w.cfg.Owner, got); err != nil {
			w.cfg.Log.Warn("queue leases can't be given back: they expire by themselves", "error", err)
		}
	}
}

// leasePrefix keeps the leases apart from those of the poller.
const leasePrefix = "effects/"

func leaseName(queue string) string { return leasePrefix + queue }

func (w *Worker) keep(ctx context.Context, names []string) {
	ticker := time.NewTicker(leaseTTL / 3)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if _, err := w.cfg.Leases.Acquire(ctx, w.cfg.Owner, names, leaseTTL); err != nil && ctx.Err() == nil {
				w.cfg.Log.Warn("queue leases of effects can't be extended", "error", err)
			}
		}
	}
}
