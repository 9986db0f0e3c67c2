package spool_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/event"
	"sfbridge/bridge/spool"
	"sfbridge/bridge/stage"
)

// org takes batches as a test says.
type org struct {
	mu      sync.Mutex
	rows    map[string]bool
	order   []string
	calls   [][]string
	latency time.Duration
	answer  func(call int, r stage.Request) error
	open    int // calls under way
	most    int
}

func (o *org) StageTogether(_ context.Context, requests []stage.Request) []stage.Answer {
	o.mu.Lock()
	call := len(o.calls)
	var ids []string
	for _, r := range requests {
		ids = append(ids, r.Event.ID)
	}
	o.calls = append(o.calls, ids)
	o.open++
	o.most = max(o.most, o.open)
	o.mu.Unlock()
	time.Sleep(o.latency)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.open--
	answers := make([]stage.Answer, len(requests))
	for i, r := range requests {
		answers[i] = stage.Answer{EventID: r.Event.ID, Status: stage.Accepted}
		if o.answer != nil {
			if err := o.answer(call, r); err != nil {
				answers[i] = stage.Answer{EventID: r.Event.ID, Err: err}
				continue
			}
		}
		if o.rows[r.Event.ID] {
			answers[i].Status = stage.Duplicate
			continue
		}
		o.rows[r.Event.ID] = true
		o.order = append(o.order, r.Event.ID)
	}
	return answers
}

func (o *org) called() [][]string { o.mu.Lock(); defer o.mu.Unlock(); return slices.Clone(o.calls) }
func (o *org) staged() []string   { o.mu.Lock(); defer o.mu.Unlock(); return slices.Clone(o.order) }
func (o *org) together() int      { o.mu.Lock(); defer o.mu.Unlock(); return o.most }

// leases of one test, on its clock.
type leases struct {
	mu   sync.Mutex
	held map[string]string
}

func (l *leases) Acquire(_ context.Context, owner string, names []string, _ time.Duration) ([]string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var got []string
	for _, n := range names {
		if l.held[n] == "" || l.held[n] == owner {
			l.held[n] = owner
			got = append(got, n)
		}
	}
	return got, nil
}

func (l *leases) Release(_ context.Context, owner string, names []string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, n := range names {
		if l.held[n] == owner {
			delete(l.held, n)
		}
	}
	return nil
}

func (l *leases) names() int { l.mu.Lock(); defer l.mu.Unlock(); return len(l.held) }

// drainBench is a drain on a file and an org of its own.
type drainBench struct {
	*testing.T
	engine spool.Engine
	org    *org
	leases *leases
	drain  *spool.Drain
	stop   func()
}

// onDrain runs a test in a bubble, where time is the test's.
func onDrain(t *testing.T, change func(*drainBench, *spool.DrainConfig), test func(b *drainBench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f, err := spool.OpenFile(spool.FileConfig{Dir: t.TempDir()})
		require.NoError(t, err)
		b := &drainBench{T: t, engine: f, org: &org{rows: map[string]bool{}, latency: 100 * time.Millisecond},
			leases: &leases{held: map[string]string{}}}
		cfg := spool.DrainConfig{Engine: f, Target: b.org, Leases: b.leases, Owner: "me"}
		if change != nil {
			change(b, &cfg)
		}
		b.drain = spool.NewDrain(cfg)
		test(b)
		if b.stop != nil {
			b.stop()
		}
		require.NoError(t, f.Close())
	})
}

// run starts the drain.
func (b *drainBench) run() {
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan error, 1)
	go func() { done <- b.drain.Run(ctx) }()
	b.stop = func() {
		cancel()
		require.NoError(b, <-done)
		assert.Zero(b, b.leases.names(), "leases are given back")
	}
}

// put appends events of an object, each with its number, and tells the drain.
func (b *drainBench) put(object string, from, to int) {
	b.Helper()
	for n := from; n < to; n++ {
		e := anEvent(fmt.Sprintf("%s/%05d", object, n))
		e.ObjectID = object
		e.HomeQueue = event.HomeQueue(event.ByBridge, e.Entity())
		entry, err := spool.Encode(stage.Request{Event: e})
		require.NoError(b, err)
		require.NoError(b, b.engine.Append(b.Context(), []spool.Entry{entry}))
		b.drain.Appended(entry.Queue, 1)
	}
}

func (b *drainBench) waiting() int {
	b.Helper()
	s, err := b.engine.State(b.Context())
	require.NoError(b, err)
	return s.Total()
}

func later(d time.Duration) { time.Sleep(d); synctest.Wait() }

func TestDrainKeepsTheOrderOfAnEntityAndFillsCalls(t *testing.T) {
	t.Parallel()
	onDrain(t, nil, func(b *drainBench) {
		for o := range 20 {
			b.put(fmt.Sprint("ch_", o), 0, 60)
		}
		b.run()
		later(10 * time.Second)
		assert.Zero(b, b.waiting())
		assert.Len(b, b.org.staged(), 1200)
		last := map[string]string{}
		for _, id := range b.org.staged() {
			object := id[:len(id)-6]
			assert.Less(b, last[object], id)
			last[object] = id
		}
		assert.LessOrEqual(b, len(b.org.called()), 12, "about 200 a call")
		assert.Greater(b, b.org.together(), 1, "several calls at once")
		assert.Zero(b, b.drain.State().Total())
		assert.True(b, b.drain.State().Oldest.IsZero())
	})
}

func TestWhatIsAppendedIsDrainedAtOnce(t *testing.T) {
	t.Parallel()
	onDrain(t, nil, func(b *drainBench) {
		b.run()
		later(300 * time.Millisecond)
		b.put("ch_1", 0, 1)
		assert.True(b, b.drain.Backlog(event.HomeQueue(event.ByBridge, "stripe:ch_1")))
		later(110 * time.Millisecond)
		assert.Equal(b, []string{"stripe:ch_1/00000"}, b.org.staged())
		assert.False(b, b.drain.Backlog(event.HomeQueue(event.ByBridge, "stripe:ch_1")))
	})
}

var errDown = &stage.Unavailable{Reason: "down"}

func TestAnOutageLosesNothingAndMakesNoStorm(t *testing.T) {
	t.Parallel()
	onDrain(t, nil, func(b *drainBench) {
		down := true
		b.org.answer = func(int, stage.Request) error {
			if down {
				return errDown
			}
			return nil
		}
		b.put("ch_1", 0, 500)
		b.run()
		later(time.Hour)
		assert.Equal(b, 500, b.waiting())
		assert.Less(b, len(b.org.called()), 200, "about two a minute")
		b.org.mu.Lock()
		down = false
		b.org.mu.Unlock()
		later(2 * time.Minute)
		assert.Zero(b, b.waiting())
		assert.True(b, slices.IsSorted(b.org.staged()))
		longest := 0
		for _, c := range b.org.called()[len(b.org.called())-4:] {
			longest = max(longest, len(c))
		}
		assert.GreaterOrEqual(b, longest, 80, "batches grow back")
	})
}

func TestSalesforcesHintIsKept(t *testing.T) {
	t.Parallel()
	onDrain(t, nil, func(b *drainBench) {
		b.org.answer = func(call int, _ stage.Request) error {
			if call == 0 {
				return &stage.Unavailable{Reason: "limit", RetryAfter: 3 * time.Minute}
			}
			return nil
		}
		b.put("ch_1", 0, 1)
		b.run()
		later(3 * time.Minute)
		assert.Len(b, b.org.called(), 1)
		later(2 * time.Second)
		assert.Len(b, b.org.called(), 2)
		assert.Zero(b, b.waiting())
	})
}

func TestOneThatIsRefusedForGoodHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	onDrain(t, nil, func(b *drainBench) {
		b.org.answer = func(_ int, r stage.Request) error {
			if r.Event.ID == "stripe:ch_1/00003" {
				return &stage.Unavailable{Reason: "Salesforce refuses the staging row", Alarm: true}
			}
			return nil
		}
		b.put("ch_1", 0, 10)
		require.NoError(b, b.engine.Append(b.Context(), []spool.Entry{{Queue: "B00", Data: []byte("no entry")}}))
		b.run()
		later(5 * time.Second)
		assert.Zero(b, b.waiting())
		assert.Len(b, b.org.staged(), 9)
		apart, err := spool.ListApart(b.Context(), b.engine, 10)
		require.NoError(b, err)
		var reasons []string
		for _, a := range apart {
			reasons = append(reasons, a.Reason)
		}
		assert.Len(b, apart, 2)
		assert.Contains(b, reasons, "Salesforce refuses the staging row")
		assert.Equal(b, 2, b.drain.State().Apart)
	})
}

func TestAQueueOfAnotherProcessIsLeftAlone(t *testing.T) {
	t.Parallel()
	onDrain(t, nil, func(b *drainBench) {
		queue := event.HomeQueue(event.ByBridge, "stripe:ch_1")
		b.leases.held["spool-"+queue] = "other"
		b.put("ch_1", 0, 3)
		b.run()
		later(10 * time.Second)
		assert.Empty(b, b.org.called())
		assert.True(b, b.drain.Backlog(queue), "and later events wait behind")
		require.NoError(b, b.leases.Release(b.Context(), "other", []string{"spool-" + queue}))
		later(2 * time.Second)
		assert.Len(b, b.org.staged(), 3)
	})
}

// forgetful is an engine whose removal fails at first.
type forgetful struct {
	spool.Engine
	fails int
}

func (f *forgetful) Done(ctx context.Context, queue string, ids []string) error {
	if f.fails--; f.fails >= 0 {
		return errors.New("connection lost")
	}
	return f.Engine.Done(ctx, queue, ids)
}

func TestEntriesThatCouldNotBeRemovedAreStagedAgainAndThenGone(t *testing.T) {
	t.Parallel()
	onDrain(t, func(b *drainBench, c *spool.DrainConfig) {
		c.Engine = &forgetful{Engine: b.engine, fails: 2}
	}, func(b *drainBench) {
		b.put("ch_1", 0, 5)
		b.run()
		later(time.Minute)
		assert.Zero(b, b.waiting())
		assert.Len(b, b.org.staged(), 5, "each row once")
		assert.Len(b, b.org.called(), 3)
	})
}

func TestAStopBringsTheBatchUnderWayHome(t *testing.T) {
	t.Parallel()
	onDrain(t, nil, func(b *drainBench) {
		b.put("ch_1", 0, 300)
		b.run()
		synctest.Wait()
		b.stop()
		b.stop = nil
		assert.Len(b, b.org.called(), 1, "no new batch")
		assert.Equal(b, 100, b.waiting())
		assert.Len(b, b.org.staged(), 200)
	})
}

// Slow calls and refusals halve the batch, good ones let it grow back.
func TestBatchesFollowWhatSalesforceBears(t *testing.T) {
	t.Parallel()
	onDrain(t, func(b *drainBench, c *spool.DrainConfig) {
		c.Batch, c.Slow = 80, time.Second
		b.org.answer = func(call int, _ stage.Request) error {
			switch call {
			case 0, 1, 2, 3, 4: // slow, but taken
				time.Sleep(time.Minute / 10)
			case 8:
				return &stage.Unavailable{Reason: "too many requests"}
			}
			return nil
		}
	}, func(b *drainBench) {
		b.put("ch_1", 0, 500)
		b.run()
		later(2 * time.Hour)
		var sizes []int
		for _, call := range b.org.called() {
			sizes = append(sizes, len(call))
		}
		assert.Equal(b, []int{80, 40, 20, 10, 10, 10, 20, 40, 80, 40, 80, 80, 70}, sizes)
		assert.Zero(b, b.waiting())
		assert.Len(b, b.org.staged(), 500)
	})
}

// What came after the start and is left at the end is for others at once.
func TestAStopGivesBackQueuesThatStillHoldEntries(t *testing.T) {
	t.Parallel()
	onDrain(t, func(b *drainBench, _ *spool.DrainConfig) {
		b.org.answer = func(int, stage.Request) error { return &stage.Unavailable{Reason: "away"} }
	}, func(b *drainBench) {
		b.run()
		synctest.Wait()
		b.put("ch_1", 0, 3)
		later(time.Second)
		assert.Equal(b, 1, b.leases.names())
		b.stop() // looks at the leases
		b.stop = nil
		assert.Equal(b, 3, b.waiting())
	})
}

// A process asks only for the queues that its batches take, so that others can
// work on the rest.
func TestQueuesBeyondTheBatchAreLeftToOthers(t *testing.T) {
	t.Parallel()
	onDrain(t, func(b *drainBench, c *spool.DrainConfig) {
		c.Batch, c.Lanes, b.org.latency = 10, 2, time.Minute
	}, func(b *drainBench) {
		for n := range 8 {
			b.put(fmt.Sprint("ch_", n), 0, 12)
		}
		s, err := b.engine.State(b.Context())
		require.NoError(b, err)
		require.Greater(b, len(s.Depth), 3, "several queues")
		b.run()
		synctest.Wait()
		assert.Equal(b, 2, b.leases.names(), "one for each batch under way")
		later(time.Hour)
		assert.Zero(b, b.waiting())
	})
}

func TestALargeEventGoesWhatEverItsSize(t *testing.T) {
	t.Parallel()
	onDrain(t, func(_ *drainBench, c *spool.DrainConfig) { c.Bytes = 2000 }, func(b *drainBench) {
		b.put("ch_1", 0, 4)
		b.run()
		later(time.Second)
		assert.Zero(b, b.waiting())
		for _, c := range b.org.called() {
			assert.LessOrEqual(b, len(c), 2)
		}
	})
}
