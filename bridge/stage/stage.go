package stage

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"sfbridge/bridge/event"
	"sfbridge/salesforce"
)

// Salesforce is what the stager needs of the client.
type Salesforce interface {
	InsertAll(ctx context.Context, rows []salesforce.Row, allOrNone bool) ([]salesforce.SaveResult, error)
	UpdateAll(ctx context.Context, rows []salesforce.Row, allOrNone bool) ([]salesforce.SaveResult, error)
	Composite(ctx context.Context, subs []salesforce.Subrequest, allOrNone bool) ([]salesforce.Subresponse, error)
	Query(ctx context.Context, soql string) ([]salesforce.Record, error)
}

// Config holds what a Stager needs; zero values mean the defaults named.
type Config struct {
	Salesforce Salesforce

	Batch   int           // rows a call, at most 200; 200
	Bytes   int           // payload bytes a call; 4 MB
	Calls   int           // calls in parallel; 4
	Linger  time.Duration // how long the first row of a batch waits for others; 5 ms
	Timeout time.Duration // how long one batch may take with all its repeats; 15 s

	FlushEvery   time.Duration // duplicate counts are written this often; 30 s
	MaxConflicts int           // conflict rows an event; 5
	CacheSize    int           // confirmed keys kept; 100,000

	// Shared is where processes tell each other of confirmed keys. nil: nowhere.
	Shared Shared
	// SharedWait bounds the look there, which comes before each call; 500 ms.
	SharedWait time.Duration

	// MayCount says whether the API budget still has room for writing duplicate
	// counts. nil: always.
	MayCount func() bool
	// Staged is told how many rows became durable that a processor has to work
	// on, by home queue. nil: nobody.
	Staged func(rows map[string]int)
	// Observe is told of every staging call: its rows and how long it took.
	Observe func(rows int, took time.Duration)

	Log  *slog.Logger        // nil: discarded
	Now  func() time.Time    // nil: time.Now
	Intn func(n int64) int64 // 0 to n-1, for revisions; nil: math/rand/v2
}

func (c Config) withDefaults() Config {
	set := func(v *int, to int) {
		if *v <= 0 {
			*v = to
		}
	}
	set(&c.Batch, salesforce.MaxRows)
	c.Batch = min(c.Batch, salesforce.MaxRows)
	set(&c.Bytes, 4<<20)
	set(&c.Calls, 4)
	set(&c.MaxConflicts, 5)
	set(&c.CacheSize, 100_000)
	setTime := func(v *time.Duration, to time.Duration) {
		if *v <= 0 {
			*v = to
		}
	}
	setTime(&c.Linger, 5*time.Millisecond)
	setTime(&c.Timeout, 15*time.Second)
	setTime(&c.FlushEvery, 30*time.Second)
	setTime(&c.SharedWait, 500*time.Millisecond)
	if c.MayCount == nil {
		c.MayCount = func() bool { return true }
	}
	if c.Staged == nil {
		c.Staged = func(map[string]int) {}
	}
	if c.Observe == nil {
		c.Observe = func(int, time.Duration) {}
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Intn == nil {
		c.Intn = rand.Int64N
	}
	return c
}

// Stager is the group commit. Make one with New; stop it with Close.
type Stager struct {
	cfg       Config
	confirmed *confirmed
	others    others
	conflicts conflicts
	counts    counts
	health    health
	horizons  horizons

	// root is the life of the calls, which outlive the waiters that began them.
	root context.Context
	stop context.CancelFunc
	work sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	queue   []*entry
	givenUp int // of the queue, not yet taken out of it
	bytes   int
	live    map[string]*entry // by event id, queued or in flight
	calls   int               // in flight
	average time.Duration     // of recent calls, for how long a batch may linger

	timer     *time.Timer // ends the lingering of the queue
	lingering bool        // the queue has lingered and goes with the next slot
}

// New returns a running Stager.
func New(cfg Config) *Stager {
	cfg = cfg.withDefaults()
	root, stop := context.WithCancel(context.Background())
	return &Stager{
		cfg: cfg, root: root, stop: stop,
		confirmed: newConfirmed(cfg.CacheSize),
		live:      map[string]*entry{},
	}
}

// Request is one event to make durable.
type Request struct {
	Event *event.Event
	// RejectConflict refuses other content under a known id instead of keeping
	// it in a row for review.
	RejectConflict bool
	// Again says that this very delivery may have been staged before: a row of the
	// same content and receive time is its own, and no second delivery to count.
	Again bool
}

// Stage makes the events durable and waits for it, at most until ctx ends; a
// row that ctx didn't wait for may still be written when its call has begun. Answers stand at the place
// of their request.
func (s *Stager) Stage(ctx context.Context, requests []Request) []Answer {
	waits := make([]*waiter, len(requests))
	for i, r := range requests {
		waits[i] = s.enter(ctx, r)
	}
	return s.await(ctx, waits)
}

// Recall answers an event that is known to be durable with the same content,
// without a call: as a duplicate, which is counted. found says whether it is.
func (s *Stager) Recall(r Request) (answer Answer, found bool) {
	row, known := s.confirmed.get(r.Event.ID)
	if !known || row.hash != r.Event.Hash {
		return Answer{}, false
	}
	s.counts.add(row.row, s.cfg.Now())
	return Answer{EventID: r.Event.ID, Status: Duplicate}, true
}

func (s *Stager) await(ctx context.Context, waits []*waiter) []Answer {
	answers := make([]Answer, len(waits))
	for i, w := range waits {
		select {
		case answers[i] = <-w.done:
		case <-ctx.Done():
			s.leave(w)
			answers[i] = Answer{EventID: w.event.ID, Err: notInTime(ctx.Err())}
		}
	}
	return answers
}

// Busy says whether rows are on their way into the org.
func (s *Stager) Busy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls > 0 || len(s.queue) > 0
}

// Close refuses new events, waits for the calls in flight and writes the
// duplicate counts, at most until ctx ends.
func (s *Stager) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	done := make(chan struct{})
	go func() {
		s.work.Wait()
		close(done)
	}()
	defer s.stop()
	select {
	case <-done:
	case <-ctx.Done():
		s.stop()
		<-done
		return ctx.Err()
	}
	return s.flush(ctx)
}

// Run writes duplicate counts from time to time until ctx ends.
func (s *Stager) Run(ctx context.Context) error {
	tick := time.NewTicker(s.cfg.FlushEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if !s.cfg.MayCount() {
			continue
		}
		if err := s.flush(ctx); err != nil {
			s.cfg.Log.Warn("duplicate counts could not be written; they are kept", "error", err)
		}
	}
}
