package store_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"sfbridge/bridge/store"
	"sfbridge/bridge/store/storetest"
)

func TestBell(t *testing.T) {
	t.Parallel()
	t.Run("one server", func(t *testing.T) {
		t.Parallel()
		checkBell(t, storetest.Open(t, storetest.StartRedis(t).URL()))
	})
	t.Run("a cluster", func(t *testing.T) {
		t.Parallel()
		url, _ := storetest.StartCluster(t)
		checkBell(t, storetest.Open(t, url))
	})
}

// checkBell rings once somebody listens, and hears what was meant for the scope.
func checkBell(t *testing.T, r *store.Redis) {
	t.Helper()
	bell := store.NewBell(r, "org")
	ctx, cancel := context.WithCancel(t.Context())
	connected, heard, ended := make(chan bool, 8), make(chan string, 8), make(chan error, 1)
	go func() {
		ended <- bell.Listen(ctx, func() { connected <- true }, func(text []byte) { heard <- string(text) })
	}()
	<-connected
	assert.NoError(t, store.NewBell(r, "other").Ring(t.Context(), []byte("elsewhere")))
	assert.NoError(t, bell.Ring(t.Context(), []byte("one")))
	assert.NoError(t, bell.Ring(t.Context(), []byte("two")))
	assert.Equal(t, "one", <-heard)
	assert.Equal(t, "two", <-heard)
	cancel()
	assert.NoError(t, <-ended)
}
