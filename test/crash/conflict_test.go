package crash_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/test/harness"
)

// Other content comes under a used id and the process dies while the conflict is
// staged, before the org has it or after. Sent again it is one row for a person;
// the record keeps the first content.
func TestReusedIDMeetsItsFate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reached bool   // the org has the conflict row
		want    string // answer to the second delivery of it
	}{
		"killed before the org had it": {want: "conflict"},
		"killed after it":              {reached: true, want: "duplicate"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t)
			first := deliveries(1)[0]
			other := first
			other.note = "other content"
			require.Equal(t, "accepted", post(t, w.bridge, first))
			w.org.Settle(t)

			call := w.wire.Trap(func(c *harness.Call) bool { return harness.Stages(c) && strings.Contains(string(c.Body), "#conflict:") })
			lost := send(t, w, other)
			staged := call(t)
			if c.reached {
				staged.Forward(t)
			}
			w.bridge.Kill(t)
			require.Error(t, <-lost, "no answer may have come")
			w.bridge.Start(t)
			assert.Equal(t, c.want, post(t, w.bridge, other))
			assert.Equal(t, "duplicate", post(t, w.bridge, other))
			w.org.Settle(t)

			rows := w.org.Query(t, "SELECT Event_Id__c, Status__c, Conflict_Of__r.Event_Id__c FROM Inbound_Event__c WHERE Event_Id__c LIKE '%#conflict:%'")
			require.Len(t, rows, 1)
			assert.Equal(t, "Review", rows[0]["Status__c"])
			assert.Equal(t, first.eventID(), rows[0]["Conflict_Of__r"].(map[string]any)["Event_Id__c"])
			payments := w.org.Query(t, "SELECT Note__c, Source_Event__c FROM Payment__c")
			require.Len(t, payments, 1)
			assert.Equal(t, "first "+first.eventID(), fmt.Sprint(payments[0]["Note__c"], " ", payments[0]["Source_Event__c"]))
			w.bridge.Stop(t)
		})
	}
}

// A later state is written, the process dies before it hears so, and the earlier
// event comes only then: it ends Stale and changes nothing.
func TestLaterStateBeforeEarlierEvent(t *testing.T) {
	t.Parallel()
	w := start(t)
	later := delivery{id: "later", charge: "ch_1", at: 1767225700, amount: 20, note: "second"}
	earlier := delivery{id: "earlier", charge: "ch_1", at: 1767225600, amount: 10, note: "first"}
	commit := w.wire.Trap(harness.Commits)
	require.Equal(t, "accepted", post(t, w.bridge, later))
	require.True(t, succeeded(t, commit(t).Forward(t)))
	w.bridge.Kill(t)
	w.bridge.Start(t)
	require.Equal(t, "accepted", post(t, w.bridge, earlier))
	w.org.Settle(t)
	outcomes := map[any]any{}
	for _, r := range w.org.Query(t, "SELECT Event_Id__c, Outcome__c FROM Inbound_Event__c") {
		outcomes[r["Event_Id__c"]] = r["Outcome__c"]
	}
	assert.Equal(t, map[any]any{"shop:later": "Created", "shop:earlier": "Stale"}, outcomes)
	assert.Equal(t, 1, w.org.Count(t, "SELECT COUNT() FROM Payment__c WHERE Note__c = 'second' AND Source_Event__c = 'shop:later'"))
	w.bridge.Stop(t)
}
