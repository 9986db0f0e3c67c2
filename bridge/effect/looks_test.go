package effect_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/effect"
	"sfbridge/bridge/event"
	"sfbridge/bridge/store"
	"sfbridge/salesforce"
)

// pages is an org with one row that is not due yet.
type pages struct {
	effect.Org
	next time.Time

	mu    sync.Mutex
	asked []time.Time
}

// asks are the times at which it was asked.
func (p *pages) asks() []time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.asked)
}

func (p *pages) Query(context.Context, string) ([]salesforce.Record, error) {
	p.mu.Lock()
	p.asked = append(p.asked, time.Now())
	p.mu.Unlock()
	if time.Now().Before(p.next) {
		return []salesforce.Record{{"Id": "a00", event.EffectFieldEvent: "a01", event.EffectFieldNextAttempt: salesforce.FormatTime(p.next)}}, nil
	}
	return nil, nil
}

// A page holds the rows that are due first, and tells when the next one is.
func TestRunWaitsForTheNextAttempt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		org := &pages{}
		w, err := effect.New(effect.Config{
			Org: org, Targets: targets(nil), HTTP: &receiver{}, Leases: store.NewMemoryLeases(time.Now), Owner: "test",
			Interval: time.Second, Idle: time.Minute,
		})
		require.NoError(t, err)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		begin := time.Now()
		org.next = begin.Add(20 * time.Second)
		go func() { done <- w.Run(ctx) }()
		time.Sleep(30 * time.Second)
		w.Wake(1)
		time.Sleep(2 * time.Second)
		w.Wake(1000)
		synctest.Wait()
		time.Sleep(70 * time.Second)
		stop()
		require.NoError(t, <-done)
		var at []time.Duration
		for _, asked := range org.asks() {
			at = append(at, asked.Sub(begin))
		}
		assert.Equal(t, []time.Duration{0, 20 * time.Second, 31 * time.Second, 32 * time.Second, 92 * time.Second}, at,
			"at start, when a row becomes due, an interval after few new rows, at once after many, when idle")
	})
}

// Rows are announced while others hold the queues: they are looked for again
// before long, and less and less often.
func TestRowsInTheQueuesOfOthersAreLookedForAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		org, leases := &pages{}, store.NewMemoryLeases(time.Now)
		w, err := effect.New(effect.Config{
			Org: org, Targets: targets(nil), HTTP: &receiver{}, Leases: leases, Owner: "test", Interval: time.Second, Idle: time.Hour,
		})
		require.NoError(t, err)
		var names []string
		for n := range event.Queues {
			names = append(names, "effects/"+event.QueueName(event.ByBridge, n), "effects/"+event.QueueName(event.ByOrg, n))
		}
		held, err := leases.Acquire(t.Context(), "another", names, 10*time.Minute)
		require.NoError(t, err)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- w.Run(ctx) }()
		synctest.Wait()
		w.Wake(1)
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Empty(t, org.asks(), "nothing can be done")
		require.NoError(t, leases.Release(t.Context(), "another", held))
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		assert.Len(t, org.asks(), 1, "long before the next look that nobody asked for")
		stop()
		require.NoError(t, <-done)
	})
}

// A word of others' looks can be false: a process looks itself too, if rarely.
func TestLooksOfOthersAreNotEnoughForEver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		org := &pages{}
		w, err := effect.New(effect.Config{
			Org: org, Targets: targets(nil), HTTP: &receiver{}, Leases: store.NewMemoryLeases(time.Now), Owner: "test",
			Interval: time.Second, Idle: time.Minute, Looked: func() {},
		})
		require.NoError(t, err)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- w.Run(ctx) }()
		for range 32 * 6 {
			time.Sleep(10 * time.Second)
			w.Seen()
		}
		synctest.Wait()
		assert.Len(t, org.asks(), 3, "at the start, and after 15 pauses each")
		stop()
		require.NoError(t, <-done)
	})
}

// Of several processes one looks at an idle outbox at a time.
func TestALookOfAnotherProcessIsEnough(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		org, told := &pages{}, 0
		w, err := effect.New(effect.Config{
			Org: org, Targets: targets(nil), HTTP: &receiver{}, Leases: store.NewMemoryLeases(time.Now), Owner: "test",
			Interval: time.Second, Idle: time.Minute, Looked: func() { told++ },
		})
		require.NoError(t, err)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- w.Run(ctx) }()
		for range 10 {
			time.Sleep(50 * time.Second)
			w.Seen()
		}
		synctest.Wait()
		assert.Len(t, org.asks(), 1, "at the start")
		w.Wake(1)
		time.Sleep(5 * time.Second)
		synctest.Wait()
		assert.Len(t, org.asks(), 2, "what is announced is looked at")
		time.Sleep(2 * time.Minute)
		stop()
		require.NoError(t, <-done)
		assert.Len(t, org.asks(), 4)
		assert.Equal(t, 4, told)
	})
}
