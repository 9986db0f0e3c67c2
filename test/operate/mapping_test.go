package operate_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/test/harness"
)

// tried is what map --diff --review prints.
type tried struct {
	Changes []struct {
		EventID     string `json:"event_id"`
		Differences []struct {
			Record, Field, Change string
			Old, New              any
		}
	}
	Events, Changed int
	Summary         struct{ Apply, Ignore, Review int }
}

// try compares mappings over the events that wait.
func (w *world) try(mapping string, code int, args ...string) tried {
	w.t.Helper()
	dir := filepath.Join(w.bridge.Config.Dir, "tried")
	require.NoError(w.t, os.MkdirAll(dir, 0o700))
	file := filepath.Join(dir, "shop.yaml")
	require.NoError(w.t, os.WriteFile(file, []byte(mapping), 0o600))
	r := harness.Invoke(w.t, w.bridge.Config.Environment(), append([]string{"map", "--review", "--config", w.bridge.File(),
		"--mapping", file, "--diff", filepath.Join(w.bridge.Config.Dir, "mappings", "shop.yaml")}, args...)...)
	require.Equal(w.t, code, r.Code, r.Out+r.Err)
	var said tried
	require.NoError(w.t, json.Unmarshal([]byte(r.Out), &said))
	return said
}

// What a changed mapping would make of the events that wait is what a replay
// under it makes of them.
func TestAChangedMappingIsTriedOnWhatWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.deliver(charge("evt_1", 10, "12.50"))
	w.deliver(`{"id":"evt_2","type":"charge","version":2,"charge":"ch_1","at":1767225620,"money":{"value":20.50},"note":"second"}`)
	w.deliver(`{"id":"evt_3","type":"charge","version":3,"charge":"ch_1","at":1767225630,"pad":"` + strings.Repeat("x", 140_000) + `"}`)
	w.deliver(charge("evt_4", 40, `"much"`))
	w.org.Settle(t)

	said := w.try(mappingV2(), 1)
	assert.Equal(t, 3, said.Events, "those of Review, the one in chunks among them")
	assert.Equal(t, 1, said.Changed)
	require.Len(t, said.Changes, 1)
	assert.Equal(t, "shop:evt_2", said.Changes[0].EventID)
	assert.Equal(t, struct{ Apply, Ignore, Review int }{1, 0, 2}, said.Summary)
	fields := map[string]any{}
	for _, d := range said.Changes[0].Differences {
		if d.Change == "changed" {
			fields[d.Field] = d.New
		}
		if d.Record == "Payment__c ch_1" {
			fields["record"] = d.New.(map[string]any)["Amount__c"]
		}
	}
	assert.Equal(t, map[string]any{"outcome": "apply", "record": 20.50}, fields)

	ignoring := strings.Replace(mappingV2(), "routes:", "routes:\n  - {name: later, when: {$.version: 3}, ignore: true}", 1)
	said = w.try(ignoring, 0, "--code", "UNMATCHED")
	assert.Equal(t, 2, said.Events)
	assert.Equal(t, struct{ Apply, Ignore, Review int }{1, 1, 0}, said.Summary)
	assert.Empty(t, w.try(mappingV1(), 1).Changes, "the same mapping changes nothing")
	assert.Equal(t, "Review", w.event("shop:evt_2")["Status__c"], "nothing is written")

	w.remap(ignoring)
	w.run("replay", "--status", "review", "--code", "UNMATCHED")
	w.org.Settle(t)
	w.ends("shop:evt_2", "Completed", "Updated")
	w.ends("shop:evt_3", "Completed", "Ignored")
	assert.Equal(t, "20.5 second shop:evt_2", w.payment())
}
