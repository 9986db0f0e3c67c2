package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/store/storetest"
	"sfbridge/test/harness"
)

// shared is a process that shares a Redis.
func shared(t *testing.T, org *harness.Org, name, url, receiver string) harness.Config {
	t.Helper()
	return harness.Config{
		Name: name, Org: org, Env: map[string]string{"STRIPE_SECRET": secret, "REDIS_URL": url},
		Mappings: map[string]string{"stripe.yaml": stripeMapping},
		Store:    `{dir: ./data, redis: "${REDIS_URL}"}`, Receiver: receiver,
	}
}

// deliverOne sends a charge and gives the status of the answer.
func deliverOne(t *testing.T, b *harness.Bridge, c charge) (status int, body string) {
	t.Helper()
	answer, err := b.Post(t.Context(), "stripe", sign(c.body(), time.Now()), c.body())
	require.NoError(t, err)
	return answer.Status, string(answer.Body)
}

func depth(t *testing.T, b *harness.Bridge) string {
	t.Helper()
	for line := range strings.Lines(b.Metrics(t)) {
		if value, ok := strings.CutPrefix(line, "bridge_spool_depth "); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// Two processes share a Redis. Salesforce is away, one of them takes events and
// is killed in the middle of draining, Redis is killed and comes back: the other
// process brings every event home, once.
func TestTheSharedSpoolOutlivesProcessAndServer(t *testing.T) {
	t.Parallel()
	server := storetest.StartRedis(t, storetest.Durable()...)
	org := harness.StartOrg(t, "--samples")
	const receiver = "{linger: 5ms, ack: spooled}"
	one := harness.StartBridge(t, shared(t, org, "one", server.URL(), receiver))
	org.Plant(t, harness.Fault{"operation": "collections_insert", "fault": "unavailable", "times": 0})
	sent := charges(4)[:60]
	for i, c := range sent {
		status, body := deliverOne(t, one, c)
		require.Equal(t, http.StatusAccepted, status, body)
		require.Contains(t, body, `"spooled"`)
		if i == len(sent)/2 {
			one.Kill(t)
			one.Start(t)
		}
	}
	one.Kill(t)
	server.Kill(t)
	server.Start(t)
	two := harness.StartBridge(t, shared(t, org, "two", server.URL(), receiver))
	org.Eventually(t, "the spool is seen by another process", func(context.Context) (bool, error) {
		return depth(t, two) == fmt.Sprint(len(sent)), nil
	})
	org.ClearFaults(t)
	org.Eventually(t, "the spool is empty", func(context.Context) (bool, error) { return depth(t, two) == "0", nil })
	org.Settle(t)
	assert.Equal(t, len(sent), org.Count(t, "SELECT COUNT() FROM Inbound_Event__c"))
	checkRecords(t, org, latest(sent))
}

// Redis is away: the processes go on with Salesforce, and with neither of them
// nobody is told that an event is durable.
func TestRedisThatIsAway(t *testing.T) {
	t.Parallel()
	server := storetest.StartRedis(t, storetest.Durable()...)
	org := harness.StartOrg(t, "--samples")
	b := harness.StartBridge(t, shared(t, org, "bridge", server.URL(), "{linger: 5ms, ack: spooled, ack_timeout: 1s}"))
	server.Kill(t)
	sent := charges(1)
	status, body := deliverOne(t, b, sent[0])
	assert.Equal(t, http.StatusAccepted, status, body)
	assert.Contains(t, body, `"accepted"`)
	org.Settle(t)
	org.Plant(t, harness.Fault{"operation": "*", "fault": "unavailable", "times": 0})
	status, body = deliverOne(t, b, sent[1])
	assert.Equal(t, http.StatusServiceUnavailable, status, body)
	org.Eventually(t, "not ready", b.Readiness(http.StatusServiceUnavailable))
	server.Start(t)
	org.Eventually(t, "ready with Redis alone", b.Readiness(http.StatusOK))
	status, body = deliverOne(t, b, sent[1])
	assert.Equal(t, http.StatusAccepted, status, body)
	assert.Contains(t, body, `"spooled"`)
}

// A Redis that would lose events is refused where everything rests on it, and
// stands behind the local file elsewhere.
func TestARedisThatLosesEvents(t *testing.T) {
	t.Parallel()
	server := storetest.StartRedis(t)
	org := harness.StartOrg(t, "--samples")
	refused := harness.Prepare(t, shared(t, org, "refused", server.URL(), "{ack: spooled}"))
	out := harness.Invoke(t, refused.Config.Environment(), "serve", "--config", refused.File())
	assert.Equal(t, 1, out.Code)
	assert.Contains(t, out.Err, "appendonly")
	local := harness.StartBridge(t, shared(t, org, "local", server.URL(), "{linger: 5ms, ack: auto, ack_timeout: 1s}"))
	org.Plant(t, harness.Fault{"operation": "collections_insert", "fault": "unavailable", "times": 0})
	status, body := deliverOne(t, local, charges(1)[0])
	assert.Equal(t, http.StatusAccepted, status, body)
	keys, err := server.Client(t).Keys(t.Context(), "bridge:*}:spool").Result()
	require.NoError(t, err)
	assert.Empty(t, keys, "the event waits in the file")
	assert.Equal(t, "1", depth(t, local))
}
