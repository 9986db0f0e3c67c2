package retain_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"sfbridge/bridge/retain"
	"sfbridge/bridge/store"
)

func TestOneKeeperAtATime(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.stage(ev(1, 95, nil))
	leases := store.NewMemoryLeases(nil)
	b.cfg.Leases, b.cfg.Owner = leases, "me"
	_, err := leases.Acquire(t.Context(), "another", []string{"retain"}, time.Hour)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	var rests []time.Duration
	b.cfg.Sleep = func(_ context.Context, d time.Duration) error {
		switch rests = append(rests, d); len(rests) {
		case 1:
			assert.Len(t, b.events(), 1, "another keeper is at it")
			return leases.Release(t.Context(), "another", []string{"retain"})
		case 2: // the horizon settles
			return nil
		}
		cancel()
		return context.Canceled
	}
	k, err := retain.New(b.cfg)
	require.NoError(t, err)
	require.NoError(t, k.Run(ctx))
	assert.Equal(t, []time.Duration{10 * time.Minute, 30 * time.Second, time.Hour}, rests)
	assert.Empty(t, b.events())
}

// Keepers that share nothing: what one has moved on the other leaves alone.
func TestTwoKeepersWithoutASharedStore(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	for n := range 20 {
		b.stage(ev(n, 31+60*(n%2), nil))
	}
	var g errgroup.Group
	var reports [2]retain.Report
	for i := range reports {
		cfg := b.cfg
		cfg.Sleep = func(context.Context, time.Duration) error { return nil }
		k, err := retain.New(cfg)
		require.NoError(t, err)
		g.Go(func() (err error) {
			reports[i], err = k.Sweep(t.Context())
			return err
		})
	}
	require.NoError(t, g.Wait())
	assert.Equal(t, 10, reports[0].Deleted+reports[1].Deleted)
	assert.Equal(t, 10, reports[0].Cleared+reports[1].Cleared)
	assert.Len(t, b.events(), 10)
	b.cfg.Sleep = func(context.Context, time.Duration) error { return nil }
	report, err := b.restore(nil)
	require.NoError(t, err)
	assert.Equal(t, 20, report.Matched, "each of them can be restored")
	assert.Equal(t, 10, report.Restored)
	assert.Equal(t, 10, report.Refilled)
}
