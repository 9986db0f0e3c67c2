package poll

import (
	"context"
	"hash/fnv"
	"slices"
	"sync"
	"time"
)

// Leases keep two workers off one queue, and count who shares the queues.
type Leases interface {
	Acquire(ctx context.Context, owner string, names []string, ttl time.Duration) (held []string, err error)
	Release(ctx context.Context, owner string, names []string) error
	// Join counts the owner among the members until ttl from now, and gives how
	// many there are.
	Join(ctx context.Context, owner string, ttl time.Duration) (members int, err error)
	Leave(ctx context.Context, owner string) error
}

// claims are the queues that a run holds the lease of. Its keeper claims and
// extends them; the loop works on them and gives back what is more than its
// share, once nothing of it is in work.
type claims struct {
	changed chan struct{} // holds one signal for the loop
	surplus chan struct{} // holds one signal for the keeper

	mu    sync.Mutex
	held  []string
	until time.Time // until when they are ours for certain
	share int       // how many a member may hold
	freed []string  // given up by the loop, not yet given back
}

func newClaims() *claims {
	return &claims{changed: make(chan struct{}, 1), surplus: make(chan struct{}, 1)}
}

// state is what the loop may work on, until when, and how much of it is its
// share.
func (c *claims) state() (held []string, until time.Time, share int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.held), c.until, c.share
}

// giveUp takes queues out of the loop's hands.
func (c *claims) giveUp(queues []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.freed = append(c.freed, queues...)
	c.held = minus(c.held, queues)
	signal(c.surplus)
}

// granted notes what is held now; what the loop has given up meanwhile is not.
func (c *claims) granted(held []string, until time.Time, share int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held, c.until, c.share = minus(held, c.freed), until, share
	signal(c.changed)
}

// lapse forgets claims that could not be extended in time.
func (c *claims) lapse(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !now.Before(c.until) {
		c.held = nil
	}
	signal(c.changed)
}

// takeFreed gives what is to be given back.
func (c *claims) takeFreed() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	freed := c.freed
	c.freed = nil
	return freed
}

func signal(bell chan struct{}) {
	select {
	case bell <- struct{}{}:
	default:
	}
}

func minus(all, some []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(q string) bool { return slices.Contains(some, q) })
}

// How many times in the life of a lease it is extended, and free queues are
// looked for while less than the share is held.
const (
	extensions = 3
	looks      = 10
)

// keepLeases claims queues and extends the claims until ctx ends, then gives
// them back.
func (r *run) keepLeases(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
			timer.Reset(r.claim(ctx))
		case <-r.claims.surplus:
			r.release(ctx, r.claims.takeFreed())
		case <-ctx.Done():
			r.leave(ctx)
			return
		}
	}
}

// claim extends what is held and claims free queues up to the share of one
// member. It gives the time to the next round.
func (r *run) claim(ctx context.Context) time.Duration {
	ttl, now := r.cfg.LeaseTTL, r.cfg.Now()
	held, _, share := r.claims.state()
	members, err := r.cfg.Leases.Join(ctx, r.cfg.Owner, ttl)
	if err == nil {
		share = ceil(len(r.cfg.Queues), max(1, members))
		held, err = r.acquire(ctx, held, share)
	}
	if err != nil {
		if ctx.Err() == nil {
			r.cfg.Log.Warn("queue leases can't be extended", "error", err)
		}
		r.claims.lapse(r.cfg.Now())
		return ttl / looks
	}
	r.claims.granted(held, now.Add(ttl), share)
	if len(held) < share {
		return ttl / looks
	}
	return ttl / extensions
}

// acquire extends the claims that are held, then asks for others until the share
// is reached. Each member begins at a place of its own, so that they seldom ask
// for the same.
func (r *run) acquire(ctx context.Context, held []string, share int) ([]string, error) {
	ttl := r.cfg.LeaseTTL
	rest := minus(rotated(r.cfg.Queues, r.cfg.Owner), held)
	if len(held) > 0 {
		var err error
		if held, err = r.cfg.Leases.Acquire(ctx, r.cfg.Owner, held, ttl); err != nil {
			return nil, err
		}
	}
	for len(held) < share && len(rest) > 0 {
		ask := rest[:min(share-len(held), len(rest))]
		rest = rest[len(ask):]
		got, err := r.cfg.Leases.Acquire(ctx, r.cfg.Owner, ask, ttl)
		if err != nil {
			return nil, err
		}
		held = append(held, got...)
	}
	return held, nil
}

func ceil(n, parts int) int { return (n + parts - 1) / parts }

// rotated gives the queues from a place on that depends on the owner.
func rotated(queues []string, owner string) []string {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(owner)) // never fails
	at := int(sum.Sum32() % uint32(len(queues)))
	return slices.Concat(queues[at:], queues[:at])
}

// leave gives everything back.
func (r *run) leave(ctx context.Context) {
	held, _, _ := r.claims.state()
	r.release(ctx, append(held, r.claims.takeFreed()...))
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseLimit)
	defer cancel()
	if err := r.cfg.Leases.Leave(ctx, r.cfg.Owner); err != nil {
		r.cfg.Log.Warn("the others can't be told of the stop: they notice it by themselves", "error", err)
	}
}

func (r *run) release(ctx context.Context, queues []string) {
	if len(queues) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseLimit)
	defer cancel()
	if err := r.cfg.Leases.Release(ctx, r.cfg.Owner, queues); err != nil {
		r.cfg.Log.Warn("queue leases can't be given back: they expire by themselves", "error", err)
	}
}

// hold notes which queues are ours.
func (r *run) hold() {
	before := r.held
	held, until, quota := r.claims.state()
	r.leased, r.until, r.quota = true, until, quota
	r.leaving = slices.DeleteFunc(r.leaving, func(q string) bool { return !slices.Contains(held, q) })
	r.leaving = r.leaving[:min(len(r.leaving), max(0, len(held)-quota))]
	r.held = minus(held, r.leaving)
	r.backlog.keep(r.held)
	if len(minus(r.held, before)) > 0 {
		r.schedule.now = true // nothing is known of some queue
	}
	r.yieldSurplus()
}

// yieldSurplus gives up the queues that are more than the share of one member:
// at once what is not in work, the rest when its batch has ended.
func (r *run) yieldSurplus() {
	idle := func(q string) bool { return !r.backlog.busy[q] }
	defer func() {
		held := slices.Clone(r.held)
		r.working.Store(&held)
	}()
	for surplus := len(r.held) + len(r.leaving) - r.quota; surplus > len(r.leaving) && len(r.held) > 0; {
		at := max(0, slices.IndexFunc(r.held, idle))
		r.leaving = append(r.leaving, r.held[at])
		r.held = slices.Delete(r.held, at, at+1)
	}
	if len(r.leaving) == 0 {
		return
	}
	r.backlog.keep(r.held)
	var free []string
	for _, q := range r.leaving {
		if idle(q) {
			free = append(free, q)
		}
	}
	if len(free) > 0 {
		r.leaving = minus(r.leaving, free)
		r.claims.giveUp(free)
	}
}
