package store_test

import (
	"testing"
	"time"

	"sfbridge/bridge/store"
	"sfbridge/bridge/store/storetest"
)

func TestMemoryLeases(t *testing.T) {
	t.Parallel()
	storetest.RunLeases(t, func(*testing.T) (store.Leases, func(time.Duration)) {
		clock := storetest.NewClock()
		return store.NewMemoryLeases(clock.Now), clock.Advance
	})
}
