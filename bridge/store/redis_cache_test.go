package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/store"
	"sfbridge/bridge/store/storetest"
)

func TestRedisCache(t *testing.T) {
	t.Parallel()
	server := storetest.StartRedis(t)
	t.Run("one server", func(t *testing.T) {
		t.Parallel()
		r := storetest.Open(t, server.URL())
		checkCache(t, r)
		left, err := r.Client.TTL(t.Context(), "bridge:mine:00001").Result()
		require.NoError(t, err)
		assert.Greater(t, left, 30*time.Minute, "values go away by themselves")
	})
	t.Run("a cluster", func(t *testing.T) {
		t.Parallel()
		url, _ := storetest.StartCluster(t)
		checkCache(t, storetest.Open(t, url))
	})
}

func checkCache(t *testing.T, r *store.Redis) {
	t.Helper()
	mine, other := store.NewCache(r, "mine"), store.NewCache(r, "other")
	values := map[string][]byte{}
	var places []string
	for n := range 200 {
		place := fmt.Sprintf("%05x", n)
		places = append(places, place)
		if n%3 != 0 {
			values[place] = []byte{byte(n), 0, 255}
		}
	}
	require.NoError(t, mine.Set(t.Context(), values, time.Hour))
	got, err := mine.Get(t.Context(), places)
	require.NoError(t, err)
	require.Len(t, got, len(places))
	for i, place := range places {
		assert.Equal(t, values[place], got[i], place)
	}
	got, err = other.Get(t.Context(), places[:2])
	require.NoError(t, err)
	assert.Equal(t, [][]byte{nil, nil}, got)
	got, err = mine.Get(t.Context(), nil)
	assert.NoError(t, err)
	assert.Empty(t, got)
}

func TestACacheThatIsAwaySaysSo(t *testing.T) {
	t.Parallel()
	server := storetest.StartRedis(t)
	c := store.NewCache(storetest.Open(t, server.URL()), "mine")
	server.Kill(t)
	_, err := c.Get(t.Context(), []string{"a"})
	assert.ErrorContains(t, err, "cached values")
	assert.ErrorContains(t, c.Set(t.Context(), map[string][]byte{"a": nil}, time.Hour), "caching values")
}
