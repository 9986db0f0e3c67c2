package spool_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/spool"
	"sfbridge/bridge/spool/spooltest"
	"sfbridge/bridge/store"
	"sfbridge/bridge/store/storetest"
)

// database is a place in a Redis: each test has a database, or a server, of its own.
type database struct {
	*store.Redis
	opened atomic.Int32
}

func (d *database) Open(t *testing.T) spool.Engine { return d.open(t) }

// open gives another consumer each time.
func (d *database) open(t *testing.T) *spool.Redis {
	t.Helper()
	r := spool.OpenRedis(spool.RedisConfig{Store: d.Redis, Consumer: fmt.Sprint("consumer ", d.opened.Add(1)), ClaimAfter: -1})
	t.Cleanup(func() { _ = r.Close() })
	return r
}

func TestRedis(t *testing.T) {
	t.Parallel()
	server := storetest.StartRedis(t, append(storetest.Durable(), "--databases", "100")...)
	var next atomic.Int32
	spooltest.Run(t, func(t *testing.T) spooltest.Place {
		return &database{Redis: storetest.Open(t, fmt.Sprintf("%s/%d", server.URL(), next.Add(1)))}
	})
}

// alone is an engine on a server of its own.
func alone(t *testing.T, args ...string) (*database, *storetest.Server) {
	t.Helper()
	server := storetest.StartRedis(t, append(storetest.Durable(), args...)...)
	return &database{Redis: storetest.Open(t, server.URL())}, server
}

func TestAFlushedRedisSkipsNothingThatComesAfter(t *testing.T) {
	t.Parallel()
	d, _ := alone(t)
	e := d.open(t)
	put(t, e, "1", "2")
	require.Len(t, held(t, e), 2)
	require.NoError(t, d.Client.FlushAll(t.Context()).Err())
	put(t, e, "3")
	assert.Equal(t, []string{"3"}, held(t, e))
}

func TestAGroupThatIsGoneStartsFromTheBeginning(t *testing.T) {
	t.Parallel()
	d, _ := alone(t)
	e := d.open(t)
	put(t, e, "1", "2")
	require.Len(t, held(t, e), 2)
	require.NoError(t, d.Client.XGroupDestroy(t.Context(), d.Key("B00", "spool"), "bridge").Err())
	put(t, e, "3")
	assert.Equal(t, []string{"1", "2", "3"}, held(t, e))
}

func TestPendingEntriesWhoseDataIsGoneAreCounted(t *testing.T) {
	t.Parallel()
	for name, taker := range map[string]func(*testing.T, *database, *spool.Redis) *spool.Redis{
		"by the same process": func(_ *testing.T, _ *database, e *spool.Redis) *spool.Redis { return e },
		"by another process":  func(t *testing.T, d *database, _ *spool.Redis) *spool.Redis { return d.open(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, _ := alone(t)
			e := d.open(t)
			put(t, e, "1", "2", "3")
			list, err := e.Take(t.Context(), "B00", 3)
			require.NoError(t, err)
			require.NoError(t, d.Client.XDel(t.Context(), d.Key("B00", "spool"), list[0].ID, list[2].ID).Err())
			next := taker(t, d, e)
			assert.Equal(t, []string{"2"}, held(t, next))
			state, err := next.State(t.Context())
			require.NoError(t, err)
			assert.Equal(t, 2, state.Lost)
			assert.Equal(t, 1, state.Total())
			pending, err := d.Client.XPending(t.Context(), d.Key("B00", "spool"), "bridge").Result()
			require.NoError(t, err)
			assert.EqualValues(t, 1, pending.Count, "nothing without data is left pending")
		})
	}
}

// An entry in other hands holds back what came after it, for as long as it isn't
// idle for long enough.
func TestNothingOvertakesWhatAnotherProcessHolds(t *testing.T) {
	t.Parallel()
	d, _ := alone(t)
	first := d.open(t)
	put(t, first, "1")
	list, err := first.Take(t.Context(), "B00", 1)
	require.NoError(t, err)
	put(t, first, "2")
	second := spool.OpenRedis(spool.RedisConfig{Store: d.Redis, Consumer: "patient"})
	t.Cleanup(func() { _ = second.Close() })
	assert.Empty(t, held(t, second))
	require.NoError(t, first.Done(t.Context(), "B00", []string{list[0].ID}))
	assert.Equal(t, []string{"2"}, held(t, second))
}

func TestNothingIsLostWhenRedisIsKilled(t *testing.T) {
	t.Parallel()
	d, server := alone(t)
	e := d.open(t)
	put(t, e, "1", "2")
	require.Len(t, held(t, e), 2)
	put(t, e, "3")
	server.Kill(t)
	assert.Error(t, e.Append(t.Context(), []spool.Entry{{Queue: "B00", Data: []byte("refused")}}))
	assert.Error(t, e.Ready(t.Context()))
	server.Start(t)
	storetest.Eventually(t, "it does not recover", func(ctx context.Context) bool { return e.Ready(ctx) == nil })
	next := d.open(t)
	assert.Equal(t, []string{"1", "2"}, held(t, next), "what the other had taken")
}

func TestAServerThatTakesNoWritesIsNoDurablePath(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(t *testing.T, d *database){
		"full": func(t *testing.T, d *database) {
			require.NoError(t, d.Client.ConfigSet(t.Context(), "maxmemory", "1").Err())
		},
		"a replica": func(t *testing.T, d *database) {
			require.NoError(t, d.Client.SlaveOf(t.Context(), "127.0.0.1", "1").Err())
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, _ := alone(t)
			e := d.open(t)
			require.NoError(t, e.Ready(t.Context()))
			put(t, e, "1")
			spoil(t, d)
			assert.Error(t, e.Append(t.Context(), []spool.Entry{{Queue: "B00", Data: []byte("2")}}))
			assert.Error(t, e.Ready(t.Context()))
			state, err := e.State(t.Context())
			require.NoError(t, err, "what waits can be looked at all the same")
			assert.Equal(t, 1, state.Total())
		})
	}
}

func TestARedisThatWouldLoseEventsTakesNone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		args []string
		want []string
	}{
		{"nothing on disk", []string{"--appendonly", "no"}, []string{"appendonly"}},
		{"a second is lost", []string{"--appendfsync", "everysec"}, []string{"appendfsync"}},
		{"eviction", []string{"--maxmemory-policy", "allkeys-lru"}, []string{"maxmemory-policy"}},
		{"all of it", []string{"--appendonly", "no", "--appendfsync", "no", "--maxmemory-policy", "volatile-ttl"},
			[]string{"appendonly", "appendfsync", "maxmemory-policy"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d, _ := alone(t, c.args...)
			e := d.open(t)
			var n *spool.NotDurable
			require.ErrorAs(t, e.Check(t.Context()), &n)
			assert.Len(t, n.Problems, len(c.want))
			for _, word := range c.want {
				assert.ErrorContains(t, n, word)
			}
			assert.ErrorAs(t, e.Append(t.Context(), []spool.Entry{{Queue: "B00", Data: []byte("x")}}), &n)
			assert.ErrorAs(t, e.Ready(t.Context()), &n)
		})
	}
}

func TestAPersonMayVouchForSettingsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	server := storetest.StartRedis(t, append(storetest.Durable(), "--rename-command", "CONFIG", "")...)
	for vouched, durable := range map[bool]bool{true: true, false: false} {
		e := spool.OpenRedis(spool.RedisConfig{Store: storetest.Open(t, server.URL()), Consumer: "c", Durable: vouched})
		t.Cleanup(func() { _ = e.Close() })
		err := e.Check(t.Context())
		assert.Equal(t, durable, err == nil, "%v", err)
		if !durable {
			assert.ErrorContains(t, err, "store.durable")
		}
	}
}

// The whole suite by TLS, for a user who may do no more than the bridge needs.
func TestAUserWithTheLeastRights(t *testing.T) {
	t.Parallel()
	server := storetest.StartTLS(t, append(storetest.Durable(), "--databases", "100")...)
	server.Grant(t, "bridge", "s3cret/%@:")
	var next atomic.Int32
	spooltest.Run(t, func(t *testing.T) spooltest.Place {
		url := strings.Replace(server.URL("bridge", "s3cret/%@:"), "?", fmt.Sprintf("/%d?", next.Add(1)), 1)
		return &database{Redis: storetest.Open(t, url)}
	})
}

func TestACluster(t *testing.T) {
	t.Parallel()
	url, _ := storetest.StartCluster(t, storetest.Durable()...)
	d := &database{Redis: storetest.Open(t, url)}
	e := d.open(t)
	err := e.Check(t.Context())
	if waits(t, d) {
		require.NoError(t, err)
		return
	}
	assert.ErrorContains(t, err, "WAITAOF")
	// Queues live on different servers: every look goes to all of them.
	for i := range 16 {
		queue := fmt.Sprintf("B%02d", i)
		require.NoError(t, d.Client.XAdd(t.Context(), &redis.XAddArgs{Stream: d.Key(queue, "spool"), Values: []any{"d", "x"}}).Err())
		list, err := e.Take(t.Context(), queue, 10)
		require.NoError(t, err)
		require.Len(t, list, 1)
		require.NoError(t, e.SetApart(t.Context(), queue, []spool.Refused{{Waiting: list[0], Reason: "why"}}))
	}
	n, err := spool.RetryAll(t.Context(), e)
	require.NoError(t, err)
	assert.Equal(t, 16, n)
	state, err := e.State(t.Context())
	require.NoError(t, err)
	assert.Equal(t, 16, state.Total())
}

// waits says whether the servers of a test can wait for the disks of replicas.
func waits(t *testing.T, d *database) bool {
	t.Helper()
	var missing atomic.Bool
	require.NoError(t, d.Masters(t.Context(), func(ctx context.Context, c redis.UniversalClient) error {
		if c.Do(ctx, "WAITAOF", 0, 0, 1).Err() != nil {
			missing.Store(true)
		}
		return nil
	}))
	return !missing.Load()
}

func TestSentinel(t *testing.T) {
	t.Parallel()
	url, master, replica := storetest.StartSentinel(t, storetest.Durable()...)
	d := &database{Redis: storetest.Open(t, url)}
	e := d.open(t)
	if !waits(t, d) {
		assert.ErrorContains(t, e.Check(t.Context()), "WAITAOF")
	}
	stream := d.Key("B00", "spool")
	require.NoError(t, d.Client.XAdd(t.Context(), &redis.XAddArgs{Stream: stream, Values: []any{"d", "1"}}).Err())
	require.NoError(t, d.Client.Do(t.Context(), "WAIT", 1, 5000).Err())
	require.Len(t, held(t, e), 1)
	follower := replica.Client(t)
	storetest.Eventually(t, "the group does not reach the replica", func(ctx context.Context) bool {
		groups, err := follower.XInfoGroups(ctx, stream).Result()
		return err == nil && len(groups) == 1 && groups[0].Pending == 1
	})
	master.Kill(t)
	next := d.open(t)
	storetest.Eventually(t, "the new master is not found", func(ctx context.Context) bool {
		list, err := next.Take(ctx, "B00", 10)
		return err == nil && len(list) == 1 && string(list[0].Data) == "1"
	})
}
