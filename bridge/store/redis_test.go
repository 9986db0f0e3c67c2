package store_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/store"
	"sfbridge/bridge/store/storetest"
)

func TestRedisLeases(t *testing.T) {
	t.Parallel()
	server := storetest.StartRedis(t, "--databases", "100")
	var next atomic.Int32
	storetest.RunLeases(t, func(t *testing.T) (store.Leases, func(time.Duration)) {
		r := storetest.Open(t, fmt.Sprintf("%s/%d", server.URL(), next.Add(1)))
		return store.NewRedisLeases(r, "poll"), func(d time.Duration) { pass(t, r, d) }
	})
}

func TestRedisLeasesInACluster(t *testing.T) {
	t.Parallel()
	url, _ := storetest.StartCluster(t)
	leases := store.NewRedisLeases(storetest.Open(t, url), "poll")
	var names []string
	for n := range 16 {
		names = append(names, fmt.Sprintf("B%02d", n))
	}
	held, err := leases.Acquire(t.Context(), "one", names, time.Minute)
	require.NoError(t, err)
	assert.Equal(t, names, held)
	held, err = leases.Acquire(t.Context(), "two", names, time.Minute)
	require.NoError(t, err)
	assert.Empty(t, held)
	require.NoError(t, leases.Release(t.Context(), "one", names[:3]))
	held, err = leases.Acquire(t.Context(), "two", names, time.Minute)
	require.NoError(t, err)
	assert.Equal(t, names[:3], held)
}

// pass lets time pass for what expires in a database: keys, and members that
// count until their score.
func pass(t *testing.T, r *store.Redis, d time.Duration) {
	t.Helper()
	keys, err := r.Client.Keys(t.Context(), "*").Result()
	require.NoError(t, err)
	for _, key := range keys {
		if kind := r.Client.Type(t.Context(), key).Val(); kind == "zset" {
			for _, member := range r.Client.ZRange(t.Context(), key, 0, -1).Val() {
				require.NoError(t, r.Client.ZIncrBy(t.Context(), key, -float64(d.Milliseconds()), member).Err())
			}
		}
		left, err := r.Client.PTTL(t.Context(), key).Result()
		require.NoError(t, err)
		if left > 0 {
			require.NoError(t, r.Client.PExpire(t.Context(), key, max(0, left-d)).Err())
		}
	}
}

func TestRedisURLs(t *testing.T) {
	t.Parallel()
	for _, good := range []string{
		"redis://localhost", "redis://user:p%40ss@10.0.0.1:6380/3", "rediss://:p/w@cache.example.com:6380/0",
		"redis://[::1]:6379", "unix:///run/redis.sock?db=2", "redis-cluster://a:1,b:2,c", "rediss-cluster://u:p@a:1,b:2",
		"redis-sentinel://a,b:26380/main", "redis-sentinel://u:p@a:1/main/2?sentinel_user=s&sentinel_password=x",
		"rediss://h?server_name=other",
	} {
		r, err := store.OpenRedis(good)
		require.NoError(t, err, good)
		require.NoError(t, r.Close())
	}
	for bad, what := range map[string]string{
		"":                                     "begins with none",
		"localhost:6379":                       "begins with none",
		"http://user:canary@h":                 "begins with none",
		"redis://":                             "names no host",
		"redis://u:canary@a:1,b:2":             "names one server",
		"redis://u:canary%zz@a":                "can't be read",
		"redis://u:canary@a/x":                 "not a number",
		"redis://u:canary@a:1:2":               "host:port",
		"redis-cluster://u:canary@a/1":         "no databases",
		"redis-sentinel://u:canary@a":          "mymaster",
		"redis://u:canary@a?timeout=1":         "an option",
		"redis://u:canary@a?ca_file=x":         "rediss://",
		"rediss://u:canary@a?ca_file=/no/file": "ca_file",
		"redis://u:canary@a?%zz":               "options",
		"unix://":                              "socket",
	} {
		_, err := store.OpenRedis(bad)
		require.ErrorContains(t, err, what, bad)
		assert.NotContains(t, err.Error(), "canary")
	}
}
