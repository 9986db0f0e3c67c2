// Package poll finds the staged events that are due and brings them to the
// applier: in the order of their entity, in full batches, on few API calls, and
// without ever losing sight of one.
//
//	poller, err := poll.New(poll.Config{Org: client, Applier: applier, ...})
//	go poller.Run(ctx)  // until ctx ends
//	poller.Wake(n)      // n rows have just been staged
//
// One due query serves all queues of the process. It reads light rows without
// payload, and with them the rows that are not due yet and those of the sister
// queues, because an event waits while an earlier one of its entity is open.
// The backlog makes batches of them, the schedule says when the next query is
// worth its call. Payloads are read by lanes, for several transactions at once,
// as a stream and up to a number of bytes; what does not fit stays due.
//
// Failures of whole calls (outage, limit, expired session) pause the poller and
// charge nothing to the events; after the pause one query and one batch try
// whether it is over. A stop begins no new batch, lets those in work finish
// under a deadline of their own, clears the journal and gives the leases back.
package poll

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"sfbridge/bridge/event"
)

// ErrYields says that the org's daily calls are nearly used up and what is left
// is kept for staging.
var ErrYields = errors.New("the org's daily API calls are nearly used up: what is due waits")

// Poller works on the due rows of its queues. See Run.
type Poller struct {
	cfg  Config
	rows staging

	mu     sync.Mutex
	staged []wake        // not yet seen by the run
	seen   time.Time     // when another process looked at our queues last
	bell   chan struct{} // holds one signal while staged is not empty

	working atomic.Pointer[[]string] // queues of the run
}

// staging reads staging rows; see rows.
type staging interface {
	ask(ctx context.Context, q question) (answer, error)
	load(ctx context.Context, batch []*event.Event) (loaded, error)
	outline(ctx context.Context, batch []*event.Event) ([]*event.Event, error)
	open(ctx context.Context, ids []string) (map[string]bool, error)
	reviews(ctx context.Context) (int, error)
}

// wake is a number of rows that have been staged.
type wake struct {
	at   time.Time
	rows int
}

// New checks the Config and returns a poller that does not run yet.
func New(c Config) (*Poller, error) {
	c = c.withDefaults()
	if err := c.validate(); err != nil {
		return nil, err
	}
	return &Poller{
		cfg:  c,
		rows: &rows{org: c.Org, timeout: c.CallTimeout, maxBytes: maxPayload, now: c.Now},
		bell: make(chan struct{}, 1),
	}, nil
}

// Wake tells that so many rows have been staged that are due at once. It never
// blocks.
func (p *Poller) Wake(staged int) {
	if staged <= 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.staged = append(p.staged, wake{at: p.cfg.Now(), rows: staged})
	select {
	case p.bell <- struct{}{}:
	default:
	}
}

// Holds says whether the poller works on a queue at the moment.
func (p *Poller) Holds(queue string) bool {
	queues := p.working.Load()
	return queues != nil && slices.Contains(*queues, queue)
}

// wakes returns what was staged since the last call, and when another process
// looked at our queues last.
func (p *Poller) wakes() (staged []wake, seen time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	staged, p.staged = p.staged, nil
	return staged, p.seen
}

// Run works until ctx ends and returns nil then. Only one Run or RunOnce may
// be under way.
func (p *Poller) Run(ctx context.Context) error {
	r := newRun(p)
	return r.loop(ctx)
}

// RunOnce works on what is due now until nothing more can be taken, and returns
// the first failure of a whole call, or ErrYields.
func (p *Poller) RunOnce(ctx context.Context) error {
	r := newRun(p)
	r.once = true
	return r.loop(ctx)
}
