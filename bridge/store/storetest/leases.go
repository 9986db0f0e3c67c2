// Package storetest holds the suite that every engine of store's interfaces
// has to pass.
package storetest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/store"
)

// Clock is a hand-moved clock.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock starts at a fixed time.
func NewClock() *Clock { return &Clock{now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)} }

// Now is the clock's time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock on.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// LeaseEngine makes a fresh engine. advance lets time pass for it, by whatever
// clock it lives on.
type LeaseEngine func(t *testing.T) (engine store.Leases, advance func(time.Duration))

const ttl = 10 * time.Second

// RunLeases holds an engine to the contract of store.Leases.
func RunLeases(t *testing.T, open LeaseEngine) {
	tests := []struct {
		name string
		run  func(*testing.T, leaseBench)
	}{
		{"a free name is granted", func(t *testing.T, b leaseBench) {
			assert.Equal(t, []string{"B00", "B01"}, b.acquire("one", "B00", "B01"))
		}},
		{"a held name is left out", func(t *testing.T, b leaseBench) {
			b.acquire("one", "B00")
			assert.Equal(t, []string{"B01"}, b.acquire("two", "B00", "B01"))
		}},
		{"the holder extends", func(t *testing.T, b leaseBench) {
			b.acquire("one", "B00")
			b.advance(ttl - time.Second)
			assert.Equal(t, []string{"B00"}, b.acquire("one", "B00"))
			b.advance(ttl - time.Second)
			assert.Empty(t, b.acquire("two", "B00"))
		}},
		{"an expired claim is free", func(t *testing.T, b leaseBench) {
			b.acquire("one", "B00")
			b.advance(ttl + time.Second)
			assert.Equal(t, []string{"B00"}, b.acquire("two", "B00"))
			assert.Empty(t, b.acquire("one", "B00"), "and lost for the first owner")
		}},
		{"a released name is free", func(t *testing.T, b leaseBench) {
			b.acquire("one", "B00", "B01")
			b.release("one", "B00")
			assert.Equal(t, []string{"B00"}, b.acquire("two", "B00", "B01"))
		}},
		{"nobody releases what another holds", func(t *testing.T, b leaseBench) {
			b.acquire("one", "B00")
			b.release("two", "B00", "never held")
			assert.Empty(t, b.acquire("two", "B00"))
		}},
		{"a cancelled context is refused", func(t *testing.T, b leaseBench) {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			_, err := b.engine.Acquire(ctx, "one", []string{"B00"}, ttl)
			assert.ErrorIs(t, err, context.Canceled)
			assert.ErrorIs(t, b.engine.Release(ctx, "one", []string{"B00"}), context.Canceled)
		}},
		{"members are counted while they say so", func(t *testing.T, b leaseBench) {
			assert.Equal(t, 1, b.join("one"))
			b.advance(ttl / 2)
			assert.Equal(t, 2, b.join("two"))
			assert.Equal(t, 2, b.join("two"), "once each")
			b.advance(ttl/2 + time.Second)
			assert.Equal(t, 1, b.join("two"), "the first has fallen silent")
			assert.Equal(t, 2, b.join("one"))
			require.NoError(t, b.engine.Leave(t.Context(), "two"))
			require.NoError(t, b.engine.Leave(t.Context(), "never there"))
			assert.Equal(t, 1, b.join("one"))
		}},
		{"one of many wins", oneOfManyWins},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			engine, advance := open(t)
			tt.run(t, leaseBench{t: t, engine: engine, advance: advance})
		})
	}
}

type leaseBench struct {
	t       *testing.T
	engine  store.Leases
	advance func(time.Duration)
}

func (b leaseBench) acquire(owner string, names ...string) []string {
	b.t.Helper()
	held, err := b.engine.Acquire(b.t.Context(), owner, names, ttl)
	require.NoError(b.t, err)
	return held
}

func (b leaseBench) release(owner string, names ...string) {
	b.t.Helper()
	require.NoError(b.t, b.engine.Release(b.t.Context(), owner, names))
}

func (b leaseBench) join(owner string) int {
	b.t.Helper()
	members, err := b.engine.Join(b.t.Context(), owner, ttl)
	require.NoError(b.t, err)
	return members
}

func oneOfManyWins(t *testing.T, b leaseBench) {
	const workers = 16
	wins := make(chan string, workers)
	var wg sync.WaitGroup
	for i := range workers {
		wg.Go(func() {
			owner := fmt.Sprint("worker ", i)
			held, err := b.engine.Acquire(t.Context(), owner, []string{"B00"}, ttl)
			if assert.NoError(t, err) && len(held) == 1 {
				wins <- owner
			}
		})
	}
	wg.Wait()
	assert.Len(t, wins, 1)
}
