package operate_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAConflictIsComparedAndAcceptedOrDiscarded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.deliver(charge("evt_1", 10, "12.50"))
	w.org.Settle(t)
	status, accepted := w.deliver(charge("evt_1", 10, "99.00"))
	require.Equal(t, "conflict", status)
	_, refused := w.deliver(charge("evt_1", 10, "66.00"))
	w.org.Settle(t)

	assert.Equal(t, "12.5 <nil> shop:evt_1", w.payment())
	var story struct {
		ConflictOf string           `json:"conflict_of"`
		Changes    []map[string]any `json:"changes"`
	}
	require.NoError(t, json.Unmarshal([]byte(w.run("show", accepted).Out), &story))
	assert.Equal(t, "shop:evt_1", story.ConflictOf)
	assert.Equal(t, []map[string]any{{"path": "$.amount", "kind": "changed", "from": 12.5, "to": 99.0}}, story.Changes)
	groups := w.report("events", "--status", "review", "--group")["groups"].([]any)
	require.Len(t, groups, 1)
	assert.InDelta(t, 2, groups[0].(map[string]any)["events"], 0)

	assert.InDelta(t, 1, w.report("accept", "--id", accepted, "--reason", "the shop has confirmed it")["done"], 0)
	assert.InDelta(t, 1, w.report("discard", "--id", refused, "--reason", "a test of theirs")["done"], 0)
	w.org.Settle(t)
	w.ends(accepted, "Completed", "Updated")
	w.ends(refused, "Completed", "Discarded")
	assert.Equal(t, "99.0 <nil> "+accepted, w.payment(), "it wins an equal order")
	assert.Contains(t, w.event(accepted)["History__c"], "Review -> Received by ada: accept: the shop has confirmed it")

	assert.InDelta(t, 1, w.report("replay", "--id", "shop:evt_1", "--force")["done"], 0)
	w.org.Settle(t)
	w.ends("shop:evt_1", "Completed", "Stale")
	assert.Equal(t, "99.0 <nil> "+accepted, w.payment(), "the first version does not come back")
}

func TestAnAcceptedConflictDoesNotOverwriteNewerData(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.deliver(charge("evt_1", 10, "12.50"))
	w.deliver(charge("evt_2", 20, "20.00"))
	w.org.Settle(t)
	_, conflict := w.deliver(charge("evt_1", 10, "99.00"))
	w.run("accept", "--id", conflict, "--reason", "confirmed")
	w.org.Settle(t)
	w.ends(conflict, "Completed", "Stale")
	assert.Equal(t, "20.0 <nil> shop:evt_2", w.payment())
}

func TestReplayUnderAChangedMapping(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v2 := `{"id":"evt_2","type":"charge","version":2,"charge":"ch_1","at":1767225620,"money":{"value":20.5},"note":"second"}`
	w.deliver(charge("evt_1", 10, "12.50"))
	w.deliver(v2)
	w.org.Settle(t)
	old := w.event("shop:evt_1")["Mapping_Version__c"]
	require.Len(t, old, 12)
	assert.Equal(t, "UNMATCHED", w.event("shop:evt_2")["Error_Code__c"], "the mapping selects by the payload's version")
	assert.Equal(t, "12.5 <nil> shop:evt_1", w.payment(), "version 1 has no note")

	w.remap(mappingV2())
	assert.Equal(t, old, w.event("shop:evt_1")["Mapping_Version__c"], "a row keeps the version that it was decided under")
	w.run("replay", "--id", "shop:evt_1", "--force", "--reason", "one more field")
	w.org.Settle(t)
	w.ends("shop:evt_1", "Completed", "Updated")
	assert.Equal(t, "12.5 n evt_1 shop:evt_1", w.payment(), "the new mapping fills the new field")
	now := w.event("shop:evt_1")["Mapping_Version__c"]
	assert.NotEqual(t, old, now)

	w.run("replay", "--status", "review", "--code", "UNMATCHED", "--reason", "version 2 is mapped")
	w.org.Settle(t)
	w.ends("shop:evt_2", "Completed", "Updated")
	assert.Equal(t, "20.5 second shop:evt_2", w.payment())
	assert.Equal(t, now, w.event("shop:evt_2")["Mapping_Version__c"])

	w.run("replay", "--id", "shop:evt_2", "--force")
	w.run("replay", "--id", "shop:evt_1", "--force")
	w.org.Settle(t)
	w.ends("shop:evt_2", "Completed", "Unchanged")
	w.ends("shop:evt_1", "Completed", "Stale")
	assert.Equal(t, "20.5 second shop:evt_2", w.payment(), "replay of what is older changes nothing")
}
