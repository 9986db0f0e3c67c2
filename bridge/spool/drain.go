package spool

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"math/rand/v2"
	"sync"
	"time"

	"sfbridge/bridge/event"
	"sfbridge/bridge/stage"
)

// Target takes what waited, in one call and in the order given.
type Target interface {
	StageTogether(ctx context.Context, requests []stage.Request) []stage.Answer
}

// Leases keep two processes off one queue.
type Leases interface {
	Acquire(ctx context.Context, owner string, names []string, ttl time.Duration) (held []string, err error)
	Release(ctx context.Context, owner string, names []string) error
}

// DrainConfig joins the parts of a drain. Zero values mean the defaults named.
type DrainConfig struct {
	Engine Engine
	Target Target
	Leases Leases
	Owner  string // this process among the holders of leases

	Batch   int           // entries a call; 200
	Bytes   int           // bytes a call; 3 MB
	Lanes   int           // batches in work at once; 4
	Every   time.Duration // between looks when nobody wakes it; 1 s
	Timeout time.Duration // how long one batch may take; 20 s
	Slow    time.Duration // a batch that takes longer halves the next; 5 s
	Backoff event.Backoff // after failures; 1 s up to 1 min

	Log    *slog.Logger     // nil: discarded
	Now    func() time.Time // nil: time.Now
	Random func() float64   // 0 to 1; nil: math/rand/v2
}

// Bounds that are not settings.
const (
	smallest   = 10               // entries of a batch after failures
	callLimit  = 5 * time.Second  // for one call to the engine
	longest    = 5 * time.Minute  // pause, whatever Salesforce hints
	leaseTTL   = time.Minute      // longer than a batch may take
	adoptEvery = 30 * time.Second // between looks for what dead processes left
	rowWeight  = 600              // about what a row weighs in a call besides its payload
)

func (c DrainConfig) withDefaults() DrainConfig {
	c.Batch = cmp.Or(c.Batch, 200)
	c.Bytes = cmp.Or(c.Bytes, 3<<20)
	c.Lanes = cmp.Or(c.Lanes, 4)
	c.Every = cmp.Or(c.Every, time.Second)
	c.Timeout = cmp.Or(c.Timeout, 20*time.Second)
	c.Slow = cmp.Or(c.Slow, 5*time.Second)
	c.Backoff.Base = cmp.Or(c.Backoff.Base, time.Second)
	c.Backoff.Max = cmp.Or(c.Backoff.Max, time.Minute)
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Random == nil {
		c.Random = rand.Float64
	}
	return c
}

// Drain brings what waits in an engine into Salesforce. A batch holds entries of
// as many queues as it takes to fill it; a queue is in one batch at a time.
type Drain struct {
	cfg   DrainConfig
	woken chan struct{}

	mu       sync.Mutex
	state    State           // as last seen, with what was appended since
	busy     map[string]bool // queues with entries in a batch under way
	blocked  map[string]bool // queues in the hands of another process at the last look
	running  int             // batches under way
	batch    int             // entries of the next batch
	failures int             // batches without success in a row
	pause    time.Time

	looked, adopted time.Time // Run's own
	work            sync.WaitGroup
}

// NewDrain returns a drain; Run works.
func NewDrain(cfg DrainConfig) *Drain {
	cfg = cfg.withDefaults()
	return &Drain{
		cfg: cfg, woken: make(chan struct{}, 1), batch: cfg.Batch,
		state: State{Depth: map[string]int{}}, busy: map[string]bool{}, blocked: map[string]bool{},
	}
}

// Appended tells the drain of new entries.
func (d *Drain) Appended(queue string, entries int) {
	d.mu.Lock()
	d.state.Depth[queue] += entries
	delete(d.blocked, queue)
	if d.state.Oldest.IsZero() {
		d.state.Oldest = d.cfg.Now()
	}
	d.mu.Unlock()
	d.wake()
}

func (d *Drain) wake() {
	select {
	case d.woken <- struct{}{}:
	default:
	}
}

// Backlog says whether entries of the queue wait.
func (d *Drain) Backlog(queue string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.state.Depth[queue] > 0
}

// State is what waited at the last look, with what was appended since.
func (d *Drain) State() State {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.state
	s.Depth = maps.Clone(s.Depth)
	return s
}

// Run drains until ctx ends; the batches under way are brought to their end.
func (d *Drain) Run(ctx context.Context) error {
	tick := time.NewTicker(d.cfg.Every)
	defer tick.Stop()
	defer func() {
		d.work.Wait()
		d.release(context.WithoutCancel(ctx), d.queues(false))
	}()
	for ctx.Err() == nil {
		if now := d.cfg.Now(); d.looked.IsZero() || now.Sub(d.looked) >= d.cfg.Every {
			d.looked = now
			d.look(ctx)
		}
		d.fill(ctx)
		select {
		case <-ctx.Done():
		case <-tick.C:
		case <-d.woken:
		}
	}
	return nil
}

// adopter is an engine that can take over what dead processes left.
type adopter interface {
	Adopt(ctx context.Context) error
}

// look brings the state up to date and tells of what needs a person.
func (d *Drain) look(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	if a, ok := d.cfg.Engine.(adopter); ok && d.cfg.Now().Sub(d.adopted) >= adoptEvery {
		d.adopted = d.cfg.Now()
		if err := a.Adopt(ctx); err != nil {
			d.cfg.Log.Warn("what another process left can't be taken over", "error", err)
		}
	}
	d.mu.Lock()
	busy := maps.Clone(d.busy)
	d.mu.Unlock()
	s, err := d.cfg.Engine.State(ctx)
	if err != nil {
		d.cfg.Log.Warn("the spool can't be looked at", "error", err)
		return
	}
	before := d.saw(s, busy)
	if s.Apart > before.Apart {
		d.cfg.Log.Warn("entries of the spool are set apart and wait for a person", "entries", s.Apart)
	}
	if s.Lost > before.Lost {
		d.cfg.Log.Error("entries of the spool were lost: somebody else removed their data", "entries", s.Lost-before.Lost)
	}
}

// saw takes over a state and gives the one before. Of queues that were worked on
// meanwhile the higher depth is believed: nothing may overtake what waits.
func (d *Drain) saw(s State, busy map[string]bool) State {
	d.mu.Lock()
	defer d.mu.Unlock()
	maps.Copy(busy, d.busy)
	before := d.state
	s.Depth = maps.Clone(s.Depth)
	for queue := range busy {
		if n := max(s.Depth[queue], before.Depth[queue]); n > 0 {
			s.Depth[queue] = n
		}
	}
	d.state = s
	clear(d.blocked)
	return before
}

func (d *Drain) pausing() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.cfg.Now().Before(d.pause)
}

// fail halves the batch and lets everything pause.
func (d *Drain) fail(progress bool, hint time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if progress {
		d.failures = 0
	}
	d.batch = max(smallest, d.batch/2)
	d.failures++
	wait := max(min(hint, longest), d.cfg.Backoff.Delay(d.failures, d.cfg.Random))
	d.pause = d.cfg.Now().Add(wait)
	time.AfterFunc(wait, d.wake)
}

// succeed lets the batch grow back unless the call was slow.
func (d *Drain) succeed(took time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.failures = 0
	if took > d.cfg.Slow {
		d.batch = max(smallest, d.batch/2)
		return
	}
	d.batch = min(d.cfg.Batch, 2*d.batch)
}
