package crash_test

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/store/storetest"
	"sfbridge/test/harness"
)

// The process dies while the spool is staged, before the spool is told so. The
// spool hands the events out again, on a file as on Redis, where the next process
// goes by another name: the org refuses a second row and each event is applied
// once.
func TestQueueRedelivery(t *testing.T) {
	t.Parallel()
	for engine, begin := range map[string]func(*testing.T, *harness.Config) (lapse func()){"file": onFile, "redis": onRedis} {
		for name, carriedOut := range map[string]bool{"before the org has it": false, "before the answer comes": true} {
			t.Run(engine+", killed "+name, func(t *testing.T) {
				t.Parallel()
				org := harness.StartOrg(t, "--samples")
				w := world{org: org, wire: harness.StartWire(t, org)}
				c := config(org)
				c.Via, c.Receiver = w.wire, "{linger: 5ms, ack: spooled}"
				lapse := begin(t, &c)
				w.bridge = harness.StartBridge(t, c)
				events := deliveries(6)
				drained := w.wire.Trap(harness.Stages)
				for _, d := range events {
					require.Equal(t, "spooled", post(t, w.bridge, d))
				}
				call := drained(t)
				if carriedOut {
					require.Contains(t, string(call.Forward(t).Body), `"success":true`)
				}
				w.bridge.Kill(t)
				lapse()
				w.bridge.Start(t)
				org.Eventually(t, "not every event is staged", func(context.Context) (bool, error) {
					return org.Count(t, "SELECT COUNT() FROM Inbound_Event__c") == len(events), nil
				})
				org.Settle(t)
				checkAll(t, org, events)
				checkWrittenOnce(t, w.wire, len(events))
				w.bridge.Stop(t)
			})
		}
	}
}

func onFile(*testing.T, *harness.Config) (lapse func()) { return func() {} }

// onRedis keeps the spool in a Redis. What a dead process holds is taken over
// when its leases, its membership and its hold on entries are old; lapse makes
// them so.
func onRedis(t *testing.T, c *harness.Config) (lapse func()) {
	t.Helper()
	server := storetest.StartRedis(t, storetest.Durable()...)
	c.Store, c.Env["REDIS_URL"] = `{dir: ./data, redis: "${REDIS_URL}"}`, server.URL()
	return func() {
		client := server.Client(t)
		for _, pattern := range []string{"*lease*", "*members*"} {
			held, err := client.Keys(t.Context(), pattern).Result()
			require.NoError(t, err)
			require.NotEmpty(t, held, pattern)
			require.NoError(t, client.Del(t.Context(), held...).Err())
		}
		streams, err := client.Keys(t.Context(), "bridge:*}:spool").Result()
		require.NoError(t, err)
		for _, stream := range streams {
			age(t, client, stream)
		}
	}
}

// age has all that consumers hold of a stream be an hour old.
func age(t *testing.T, client *redis.Client, stream string) {
	t.Helper()
	groups, err := client.XInfoGroups(t.Context(), stream).Result()
	require.NoError(t, err)
	for _, g := range groups {
		held, err := client.XPendingExt(t.Context(), &redis.XPendingExtArgs{Stream: stream, Group: g.Name, Start: "-", End: "+", Count: 100}).Result()
		require.NoError(t, err)
		for _, e := range held {
			hour := time.Hour.Milliseconds()
			require.NoError(t, client.Do(t.Context(), "XCLAIM", stream, g.Name, e.Consumer, 0, e.ID, "IDLE", hour, "JUSTID").Err())
		}
	}
}
