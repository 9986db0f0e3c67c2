package spool_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/spool"
	"sfbridge/bridge/store/storetest"
)

// A master dies while entries come: what was acknowledged before is there after
// the failover.
func TestNothingAcknowledgedIsLostInAFailover(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(t *testing.T) (url string, master *storetest.Server){
		"sentinel": func(t *testing.T) (string, *storetest.Server) {
			url, master, _ := storetest.StartSentinel(t, storetest.Durable()...)
			return url, master
		},
		"cluster": func(t *testing.T) (string, *storetest.Server) {
			url, nodes := storetest.StartClusterOf(t, 1, storetest.Durable()...)
			return url, nodes[0]
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, master := start(t)
			d := &database{Redis: storetest.Open(t, url)}
			if !waits(t, d) {
				t.Skip("needs a server with WAITAOF: Redis 7.2 or later, or Valkey")
			}
			e := d.open(t)
			storetest.Eventually(t, "the replicas do not follow", func(ctx context.Context) bool {
				return appendTo(ctx, e, "probe") == nil
			})
			acknowledged := appendThrough(t, e, func() { master.Kill(t) })
			storetest.Eventually(t, "no failover", func(ctx context.Context) bool {
				list, err := e.Take(ctx, "B00", 1)
				return err == nil && len(list) == 1
			})
			next := d.open(t)
			found := map[string]bool{}
			for n := range 16 {
				collect(t, next, fmt.Sprintf("B%02d", n), found)
			}
			assert.NotEmpty(t, acknowledged)
			for text := range acknowledged {
				assert.True(t, found[text], text)
			}
		})
	}
}

func appendTo(ctx context.Context, e *spool.Redis, text string) error {
	var entries []spool.Entry
	for n := range 16 {
		entries = append(entries, spool.Entry{Queue: fmt.Sprintf("B%02d", n), Data: fmt.Appendf(nil, "%s in B%02d", text, n)})
	}
	return e.Append(ctx, entries)
}

// appendThrough appends from several senders until one is refused, spoils
// something in the middle, and gives what was acknowledged.
func appendThrough(t *testing.T, e *spool.Redis, spoil func()) map[string]bool {
	t.Helper()
	acknowledged := map[string]bool{}
	var mu sync.Mutex
	var work sync.WaitGroup
	half := make(chan struct{})
	for sender := range 8 {
		work.Go(func() {
			for i := range 40 {
				text := fmt.Sprintf("%d.%d", sender, i)
				if sender == 0 && i == 20 {
					close(half)
				}
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
				err := appendTo(ctx, e, text)
				cancel()
				if err != nil {
					return
				}
				mu.Lock()
				for n := range 16 {
					acknowledged[fmt.Sprintf("%s in B%02d", text, n)] = true
				}
				mu.Unlock()
			}
		})
	}
	<-half
	spoil()
	work.Wait()
	return acknowledged
}

// collect takes everything out of a queue.
func collect(t *testing.T, e *spool.Redis, queue string, found map[string]bool) {
	t.Helper()
	storetest.Eventually(t, queue+" can't be read", func(ctx context.Context) bool {
		for {
			list, err := e.Take(ctx, queue, 100)
			if err != nil {
				return false
			}
			if len(list) == 0 {
				return true
			}
			for _, w := range list {
				found[string(w.Data)] = true
			}
			require.NoError(t, e.Done(ctx, queue, ids(list)))
		}
	})
}

func ids(list []spool.Waiting) []string {
	all := make([]string, len(list))
	for i, w := range list {
		all[i] = w.ID
	}
	return all
}
