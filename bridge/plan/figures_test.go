package plan_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/event"
	"sfbridge/bridge/plan"
	"sfbridge/bridge/spool"
	"sfbridge/bridge/stage"
	"sfbridge/bridge/store/storetest"
)

// TestTheMemoryOfRedis holds the plan against a real Redis that the spool writes
// to: no more than planned, and not half of it.
func TestTheMemoryOfRedis(t *testing.T) {
	t.Parallel()
	for _, size := range []int{500, 1400, 4000, 20_000} {
		server := storetest.StartRedis(t, storetest.Durable()...)
		engine := spool.OpenRedis(spool.RedisConfig{Store: storetest.Open(t, server.URL()), Consumer: "one"})
		require.NoError(t, engine.Append(t.Context(), []spool.Entry{entry(t, 0, size)})) // streams, scripts and buffers exist now
		before := usedMemory(t, server)
		const n = 1000
		for first := 1; first <= n; first += 100 {
			var batch []spool.Entry
			for i := range 100 {
				batch = append(batch, entry(t, first+i, size))
			}
			require.NoError(t, engine.Append(t.Context(), batch))
		}
		used := float64(usedMemory(t, server)-before) / n
		l := load(86_400) // one a second
		l.PayloadBytes = size
		planned := made(t, l).Redis.MBPerHour / 3600 * (1 << 20)
		assert.LessOrEqual(t, used, planned, "payloads of %d bytes", size)
		assert.GreaterOrEqual(t, used, planned/2, "payloads of %d bytes", size)
	}
}

func entry(t *testing.T, n, size int) spool.Entry {
	t.Helper()
	id := fmt.Sprintf("stripe:evt_1PqZkL2eZvKYlo2C%08d", n)
	e, err := spool.Encode(stage.Request{Event: &event.Event{
		ID: id, Source: "stripe", Type: "charge.succeeded", ObjectID: fmt.Sprintf("ch_3PqZkL2eZvKYlo2C%08d", n),
		Hash: strings.Repeat("a", 64), Payload: []byte(strings.Repeat("x", size)), Trust: event.Trust("SignedBody"),
		SourceTime: time.Unix(1767225600, 0), ReceivedAt: time.Unix(1767225601, 0), Status: event.Received,
		HomeQueue: event.HomeQueue(event.ByBridge, id),
	}})
	require.NoError(t, err)
	return e
}

// usedMemory is what Redis says that it holds.
func usedMemory(t *testing.T, server *storetest.Server) int {
	t.Helper()
	n, err := strconv.Atoi(strings.TrimSpace(server.Client(t).InfoMap(t.Context(), "memory").Item("Memory", "used_memory")))
	require.NoError(t, err)
	return n
}

func TestCostsFallAsTheRateRises(t *testing.T) {
	t.Parallel()
	costs := plan.Costs()
	for i, c := range costs[1:] {
		assert.Greater(t, c.PerSecond, costs[i].PerSecond)
		assert.LessOrEqual(t, c.Calls, costs[i].Calls)
		assert.LessOrEqual(t, c.Staging, costs[i].Staging)
		assert.Less(t, c.Staging, c.Calls)
	}
	for _, c := range costs { // the plan says at a measured rate what was measured
		calls := made(t, load(c.PerSecond*86_400)).Calls
		assert.InDelta(t, c.Calls, calls.EvenPerEvent, 1e-9)
		assert.Greater(t, calls.PacedPerDay, c.PerSecond*86_400*c.Staging, "pacing spares no call that stages, at %v a second", c.PerSecond)
	}
}
