package lease_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/internal/lease"
)

// board grants a claim as the test says; it counts what it is asked.
type board struct {
	mu     sync.Mutex
	holder string // who holds the claim; "" for nobody
	until  time.Time
	err    error
	freed  bool
	slow   time.Duration // how long an answer takes
	hung   bool          // there is none
}

// set changes what the board does from now on.
func (b *board) set(change func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change()
}

func (b *board) holds() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return time.Now().Before(b.until)
}

func (b *board) Acquire(ctx context.Context, owner string, names []string, ttl time.Duration) ([]string, error) {
	got, err := b.grant(owner, names, ttl)
	time.Sleep(b.slow)
	if errors.Is(err, errHung) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return got, err
}

var errHung = errors.New("no answer")

func (b *board) grant(owner string, names []string, ttl time.Duration) ([]string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.hung {
		return nil, errHung
	}
	if b.err != nil {
		return nil, b.err
	}
	if b.holder != "" && b.holder != owner && time.Now().Before(b.until) {
		return nil, nil
	}
	b.holder, b.until = owner, time.Now().Add(ttl)
	return slices.Clone(names), nil
}

func (b *board) Release(_ context.Context, owner string, _ []string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.freed = b.holder == owner
	b.holder = ""
	return b.err
}

func claim(b *board) lease.Claim {
	return lease.Claim{Leases: b, Owner: "me", Name: "work", TTL: time.Minute}
}

func TestOneProcessAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := &board{holder: "another", until: time.Now().Add(time.Second)}
		made, err := lease.Hold(t.Context(), claim(b), func(context.Context) { t.Error("another does it") })
		require.NoError(t, err)
		assert.False(t, made)
		assert.False(t, b.freed)

		time.Sleep(2 * time.Second)
		done := false
		made, err = lease.Hold(t.Context(), claim(b), func(ctx context.Context) {
			done = true
			assert.NoError(t, ctx.Err())
		})
		require.NoError(t, err)
		assert.True(t, made)
		assert.True(t, done)
		assert.True(t, b.freed, "it is given back at once")
	})
}

func TestTheClaimLastsAsLongAsTheWork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := &board{}
		_, err := lease.Hold(t.Context(), claim(b), func(ctx context.Context) {
			for range 100 {
				time.Sleep(10 * time.Second)
				assert.True(t, b.holds())
				require.NoError(t, ctx.Err())
			}
		})
		require.NoError(t, err)
	})
}

func TestWorkEndsWithTheClaim(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil func(b *board)
		after time.Duration // from the last time that the claim was extended
	}{
		"another has it":       {func(b *board) { b.holder, b.until = "another", time.Now().Add(time.Hour) }, 20 * time.Second},
		"it can't be extended": {func(b *board) { b.err = errors.New("away") }, time.Minute},
		"there is no answer":   {func(b *board) { b.hung = true }, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := &board{}
				began := time.Now()
				made, _ := lease.Hold(t.Context(), claim(b), func(ctx context.Context) {
					b.set(func() { c.spoil(b) })
					<-ctx.Done()
				})
				assert.True(t, made)
				assert.Equal(t, c.after, time.Since(began))
			})
		})
	}
}

// A claim lasts from when the store took it, which may be long before its answer.
func TestSlowAnswersMakeNoClaimLonger(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := &board{slow: 15 * time.Second}
		_, err := lease.Hold(t.Context(), claim(b), func(ctx context.Context) {
			time.Sleep(5 * time.Minute)
			assert.NoError(t, ctx.Err())
			b.set(func() { b.hung = true })
			<-ctx.Done()
			b.set(func() { assert.Zero(t, time.Until(b.until)) })
		})
		require.NoError(t, err)
	})
}

func TestAShortOutageIsSurvived(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := &board{}
		_, err := lease.Hold(t.Context(), claim(b), func(ctx context.Context) {
			b.set(func() { b.err = errors.New("away") })
			time.Sleep(30 * time.Second)
			b.set(func() { b.err = nil })
			time.Sleep(5 * time.Minute)
			require.NoError(t, ctx.Err())
		})
		require.NoError(t, err)
	})
}

func TestProblemsAreTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := &board{err: errors.New("away")}
		made, err := lease.Hold(t.Context(), claim(b), func(context.Context) { t.Error("unclaimed") })
		assert.False(t, made)
		require.ErrorContains(t, err, "claiming the lease work: away")
		b.err = nil
		made, err = lease.Hold(t.Context(), claim(b), func(context.Context) { b.set(func() { b.err = errors.New("gone") }) })
		assert.True(t, made)
		require.ErrorContains(t, err, "giving the lease work back")
	})
}
