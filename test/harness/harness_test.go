package harness_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/test/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

const mapping = `source: demo
provider: generic
secrets: ["${DEMO_SECRET}"]
event: {id: $.id, type: $.type, object: $.object}
unmatched: ignore
routes:
  - name: charge
    when: {type: charge}
    records:
      - object: Payment__c
        key: {field: Stripe_Charge_Id__c, from: $.object}
        fields: {Note__c: $.note}
`

// A bridge starts, serves, survives kill -9 on its settings and stops in order.
func TestLifecycle(t *testing.T) {
	t.Parallel()
	org := harness.StartOrg(t, "--samples")
	bridge := harness.StartBridge(t, harness.Config{
		Org: org, Mappings: map[string]string{"demo.yaml": mapping}, Env: map[string]string{"DEMO_SECRET": "secret"},
	})
	body := []byte(`{"id":"e1","type":"charge","object":"ch_1","note":"hello"}`)
	answer, err := bridge.Post(t.Context(), "demo", http.Header{"X-Signature": {"00"}}, body)
	require.NoError(t, err)
	assert.Equal(t, http.StatusUnauthorized, answer.Status)
	signed := http.Header{"X-Signature": {harness.HMACHex("secret", body)}, "Content-Type": {"application/json"}}
	answer, err = bridge.Post(t.Context(), "demo", signed, body)
	require.NoError(t, err)
	require.Equal(t, http.StatusAccepted, answer.Status, "%s", answer.Body)
	org.Settle(t)
	rows := org.Query(t, "SELECT Event_Id__c, Status__c, Outcome__c FROM Inbound_Event__c")
	require.Len(t, rows, 1)
	assert.Equal(t, "demo:e1", rows[0]["Event_Id__c"])
	assert.Equal(t, "Completed", rows[0]["Status__c"])
	assert.Equal(t, "Created", rows[0]["Outcome__c"])
	assert.Equal(t, 1, org.Count(t, "SELECT COUNT() FROM Payment__c WHERE Note__c = 'hello'"))
	assert.Contains(t, bridge.Metrics(t), `bridge_deliveries_total{result="accepted",source="demo"} 1`)

	bridge.Kill(t)
	require.False(t, bridge.Running())
	bridge.Start(t)
	answer, err = bridge.Post(t.Context(), "demo", signed, body)
	require.NoError(t, err)
	assert.Equal(t, http.StatusOK, answer.Status, "%s", answer.Body)
	bridge.Stop(t)
	assert.Equal(t, 1, org.Stats(t).Rows["Inbound_Event__c"])
}
