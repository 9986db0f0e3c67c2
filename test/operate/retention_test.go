package operate_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/store"
	"sfbridge/bridge/store/storetest"
	"sfbridge/test/harness"
)

// keeper runs a process of retention alone.
func (w *world) keeper() *harness.Bridge {
	w.t.Helper()
	c := w.bridge.Config
	c.Name, c.Only = "keeper", []string{"retain"}
	return harness.StartBridge(w.t, c)
}

// retain runs a process of retention alone until the events are gone.
func (w *world) retain(gone ...string) {
	w.t.Helper()
	keeper := w.keeper()
	for _, id := range gone {
		w.org.Eventually(w.t, id+" is kept", func(ctx context.Context) (bool, error) {
			return w.org.Count(w.t, "SELECT COUNT() FROM Inbound_Event__c WHERE Event_Id__c = '"+id+"'") == 0, nil
		})
	}
	keeper.Stop(w.t)
}

func TestArchivedDeletedRestoredReplayed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.deliver(charge("evt_1", 10, "12.50"))
	w.deliver(charge("evt_2", 20, "20.00"))
	w.org.Settle(t)
	before := w.event("shop:evt_1")
	w.age("shop:evt_1", "2026-06-01T00:00:00.000Z")
	w.retain("shop:evt_1")
	assert.NotNil(t, w.event("shop:evt_2"), "what is young stays")

	restored := w.report("restore", "--id", "shop:evt_1", "--dry-run")
	assert.InDelta(t, 1, restored["matched"], 0)
	assert.Nil(t, w.event("shop:evt_1"))
	restored = w.report("restore", "--source", "shop", "--reason", "asked for")
	assert.InDelta(t, 1, restored["restored"], 0)
	after := w.event("shop:evt_1")
	assert.Equal(t, before["Payload__c"], after["Payload__c"])
	assert.Equal(t, before["Mapping_Version__c"], after["Mapping_Version__c"])
	assert.Contains(t, after["History__c"], "by ada: restored from the archive: asked for")

	status, _ := w.deliver(charge("evt_1", 10, "12.50"))
	assert.Equal(t, "duplicate", status, "a restored row tells duplicates again")
	w.run("replay", "--id", "shop:evt_1", "--force")
	w.org.Settle(t)
	w.ends("shop:evt_1", "Completed", "Stale")
	assert.Equal(t, "20.0 <nil> shop:evt_2", w.payment(), "a replay from the archive is safe")
}

// Of processes that share a Redis one retains at a time.
func TestRetentionIsDoneByOneProcessAtATime(t *testing.T) {
	t.Parallel()
	server := storetest.StartRedis(t)
	shared, err := store.OpenRedis(server.URL())
	require.NoError(t, err)
	defer func() { assert.NoError(t, shared.Close()) }()
	w := newWorld(t, func(c *harness.Config) {
		c.Store, c.Env["REDIS_URL"] = `{dir: ./data, redis: "${REDIS_URL}"}`, server.URL()
	})
	w.deliver(charge("evt_1", 10, "12.50"))
	w.org.Settle(t)
	w.age("shop:evt_1", "2026-06-01T00:00:00.000Z")
	other := store.NewRedisLeases(shared, "retain")
	held, err := other.Acquire(t.Context(), "another", []string{"retain"}, time.Hour)
	require.NoError(t, err)
	require.Len(t, held, 1)

	keeper := w.keeper()
	_, ok := keeper.Log().Wait(harness.Patient(t), 0, "retention: another process is at it")
	require.True(t, ok, "it keeps off: %s", keeper.Log())
	keeper.Stop(t)
	assert.NotNil(t, w.event("shop:evt_1"))

	require.NoError(t, other.Release(t.Context(), "another", held))
	w.retain("shop:evt_1")
}

func TestALateDeliveryOfADeletedEvent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.deliver(charge("evt_1", 10, "12.50"))
	w.org.Settle(t)
	w.age("shop:evt_1", "2026-06-01T00:00:00.000Z")
	w.bridge.Stop(t) // what it remembers of the event is gone
	w.retain("shop:evt_1")
	w.bridge.Start(t)
	status, id := w.deliver(charge("evt_1", 10, "12.50"))
	assert.Equal(t, "accepted", status)
	e := w.event(id)
	assert.Equal(t, "Review", e["Status__c"])
	assert.Equal(t, "TOO_OLD", e["Error_Code__c"])
	w.run("replay", "--id", id, "--reason", "it is no repetition")
	w.org.Settle(t)
	w.ends(id, "Completed", "Updated")
	assert.Equal(t, "12.5 <nil> shop:evt_1", w.payment())
}

func TestKilledBetweenArchiveAndDeletion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.deliver(charge("evt_1", 10, "12.50"))
	w.org.Settle(t)
	w.age("shop:evt_1", "2026-06-01T00:00:00.000Z")
	w.org.Plant(t, harness.Fault{"operation": "composite", "fault": "drop_before", "times": 0})
	keeper := w.keeper()
	w.org.Eventually(t, "nothing is archived", func(context.Context) (bool, error) {
		files, err := filepath.Glob(filepath.Join(w.bridge.Config.Dir, "archive", "*", "*.jsonl.gz"))
		return len(files) > 0, err
	})
	keeper.Kill(t)
	w.org.ClearFaults(t)
	assert.NotNil(t, w.event("shop:evt_1"), "archived, not deleted")
	w.retain("shop:evt_1")
	assert.InDelta(t, 1, w.report("restore")["restored"], 0)
	w.ends("shop:evt_1", "Completed", "Created")
}
