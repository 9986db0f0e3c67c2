package crash_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/test/harness"
)

// remapped writes the note in another way.
var remapped = strings.ReplaceAll(mapping, "Note__c: $.note", `Note__c: {template: "new {$.note}"}`)

// The mapping changes while a commit made under the old one is under way: by a
// reload, or by a restart after the process has died. What the org has carried
// out stands as it was decided; what it has not is decided anew. The row always
// names the mapping that wrote the record.
func TestMappingChangedInTheMiddle(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*testing.T, world, *harness.Call)
		note   string
	}{
		"reloaded": {note: "first", change: func(t *testing.T, w world, call *harness.Call) {
			require.Contains(t, reload(t, w, remapped), "reloaded")
			call.Deliver(t)
		}},
		"killed before the org had it": {note: "new first", change: func(t *testing.T, w world, _ *harness.Call) {
			restartWith(t, w, remapped)
		}},
		"killed after it": {note: "first", change: func(t *testing.T, w world, call *harness.Call) {
			require.True(t, succeeded(t, call.Forward(t)))
			restartWith(t, w, remapped)
		}},
		"killed, carried out after the next decision": {note: "new first", change: carriedOutLate},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t)
			d := deliveries(4)
			require.Equal(t, "accepted", post(t, w.bridge, d[3]))
			w.org.Settle(t)
			old := version(t, w.org, d[3])
			commit := w.wire.Trap(harness.Commits)
			require.Equal(t, "accepted", post(t, w.bridge, d[0]))
			c.change(t, w, commit(t))
			w.org.Settle(t)

			require.Equal(t, "accepted", post(t, w.bridge, d[1]))
			w.org.Settle(t)
			assert.Equal(t, c.note, note(t, w.org, d[0]))
			assert.Equal(t, "new first", note(t, w.org, d[1]))
			assert.Equal(t, "first", note(t, w.org, d[3]), "what is done is left alone")
			assert.NotEqual(t, old, version(t, w.org, d[1]))
			assert.Equal(t, c.note == "first", version(t, w.org, d[0]) == old, "the row names the mapping that wrote the record")
			checkWrittenOnce(t, w.wire, 3)
			w.bridge.Stop(t)
		})
	}
}

func carriedOutLate(t *testing.T, w world, call *harness.Call) {
	t.Helper()
	restartWith(t, w, remapped)
	w.org.Settle(t)
	assert.False(t, succeeded(t, call.Forward(t)), "the late commit must be refused")
}

// restartWith has the process die and come back with another mapping.
func restartWith(t *testing.T, w world, text string) {
	t.Helper()
	w.bridge.Kill(t)
	require.NoError(t, os.WriteFile(filepath.Join(w.bridge.Config.Dir, "mappings", "shop.yaml"), []byte(text), 0o600))
	w.bridge.Start(t)
}

func version(t *testing.T, org *harness.Org, d delivery) string {
	t.Helper()
	rows := org.Query(t, "SELECT Mapping_Version__c FROM Inbound_Event__c WHERE Event_Id__c = '"+d.eventID()+"'")
	require.Len(t, rows, 1)
	return fmt.Sprint(rows[0]["Mapping_Version__c"])
}

func note(t *testing.T, org *harness.Org, d delivery) string {
	t.Helper()
	rows := org.Query(t, "SELECT Note__c FROM Payment__c WHERE Stripe_Charge_Id__c = '"+d.charge+"'")
	require.Len(t, rows, 1)
	return fmt.Sprint(rows[0]["Note__c"])
}
