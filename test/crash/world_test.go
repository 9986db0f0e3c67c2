package crash_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/test/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

const (
	secret  = "crash-secret"
	mapping = `source: shop
provider: generic
secrets: ["${SHOP_SECRET}"]
event: {id: $.id, type: $.type, object: $.charge, order: {from: $.at, as: unix_s}}
routes:
  - name: charge
    when: {type: charge}
    records:
      - object: Payment__c
        key: {field: Stripe_Charge_Id__c, from: $.charge}
        order: true
        fields: {Amount__c: {from: $.amount, as: number}, Note__c: $.note}
`
)

// delivery is one event of a shop.
type delivery struct {
	id, charge string
	at, amount int
	note       string
}

func (d delivery) body() []byte {
	return fmt.Appendf(nil, `{"id":%q,"type":"charge","charge":%q,"at":%d,"amount":%d,"note":%q}`, d.id, d.charge, d.at, d.amount, d.note)
}

func (d delivery) eventID() string { return "shop:" + d.id }

func signed(body []byte) http.Header {
	return http.Header{"X-Signature": {harness.HMACHex(secret, body)}, "Content-Type": {"application/json"}}
}

// deliveries are events of some charges, two versions of every third one.
func deliveries(n int) []delivery {
	var list []delivery
	for i := range n {
		d := delivery{id: fmt.Sprintf("e%02d", i), charge: fmt.Sprintf("ch_%02d", i), at: 1767225600 + i, amount: 10 * i, note: "first"}
		if i%3 == 2 {
			d.charge, d.note = list[i-1].charge, "second"
		}
		list = append(list, d)
	}
	return list
}

// world is an org with a bridge behind a wire.
type world struct {
	org    *harness.Org
	wire   *harness.Wire
	bridge *harness.Bridge
}

func config(org *harness.Org) harness.Config {
	return harness.Config{
		Org: org, Mappings: map[string]string{"shop.yaml": mapping}, Env: map[string]string{"SHOP_SECRET": secret},
	}
}

// start runs an org and, behind a wire, a bridge with all roles.
func start(t *testing.T, change ...func(*harness.Config)) world {
	t.Helper()
	org := harness.StartOrg(t, "--samples")
	w := world{org: org, wire: harness.StartWire(t, org)}
	c := config(org)
	c.Via = w.wire
	for _, f := range change {
		f(&c)
	}
	w.bridge = harness.StartBridge(t, c)
	return w
}

// stage has the events stored in a new org by a bridge that only receives.
func stage(t *testing.T, list []delivery) *harness.Org {
	t.Helper()
	org := harness.StartOrg(t, "--samples")
	c := config(org)
	c.Name, c.Only = "receiver", []string{"receive"}
	receiver := harness.StartBridge(t, c)
	for _, d := range list {
		require.Equal(t, "accepted", post(t, receiver, d))
	}
	receiver.Stop(t)
	return org
}

// post delivers an event and returns the status word of the answer.
func post(t *testing.T, b *harness.Bridge, d delivery) string {
	t.Helper()
	answer, err := b.Post(t.Context(), "shop", signed(d.body()), d.body())
	require.NoError(t, err)
	require.True(t, answer.OK(), "%d: %s", answer.Status, answer.Body)
	return word(t, answer)
}

func word(t *testing.T, a harness.Answer) string {
	t.Helper()
	var said struct{ Status string }
	require.NoError(t, json.Unmarshal(a.Body, &said), "%s", a.Body)
	return said.Status
}

// checkAll holds the org to what the events must come to: one row each,
// completed by one decision, no attempt charged, and the newest version of
// every charge in one record.
func checkAll(t *testing.T, org *harness.Org, list []delivery) {
	t.Helper()
	rows := org.Query(t, "SELECT Event_Id__c, Status__c, Outcome__c, Attempts__c, Error_Code__c, History__c FROM Inbound_Event__c")
	assert.Len(t, rows, len(list))
	found := map[string]harness.Row{}
	for _, r := range rows {
		found[fmt.Sprint(r["Event_Id__c"])] = r
	}
	newest := map[string]delivery{}
	for _, d := range list {
		r := found[d.eventID()]
		if !assert.NotNil(t, r, "%s is lost", d.id) {
			continue
		}
		assert.Equal(t, "Completed", r["Status__c"], "%s: %v", d.id, r)
		outcome := "Created"
		if _, known := newest[d.charge]; known {
			outcome = "Updated"
		}
		assert.Equal(t, outcome, r["Outcome__c"], "%s: %v", d.id, r)
		assert.Zero(t, attempts(t, r), "attempts of %s", d.id)
		assert.Nil(t, r["Error_Code__c"], d.id)
		assert.Equal(t, 1, strings.Count(fmt.Sprint(r["History__c"]), "-> Completed"), "%s: %v", d.id, r["History__c"])
		newest[d.charge] = d
	}
	payments := org.Query(t, "SELECT Stripe_Charge_Id__c, Note__c, Source_Event__c FROM Payment__c")
	assert.Len(t, payments, len(newest))
	for _, p := range payments {
		d := newest[fmt.Sprint(p["Stripe_Charge_Id__c"])]
		assert.Equal(t, d.note, p["Note__c"])
		assert.Equal(t, d.eventID(), p["Source_Event__c"])
	}
}

func attempts(t *testing.T, row harness.Row) float64 {
	t.Helper()
	n, ok := row["Attempts__c"].(json.Number)
	require.True(t, ok, "%v", row)
	f, err := n.Float64()
	require.NoError(t, err)
	return f
}

// checkWrittenOnce counts, over everything that the org has carried out, how
// often each event was moved on.
func checkWrittenOnce(t *testing.T, w *harness.Wire, events int) {
	t.Helper()
	moves := map[string]int{}
	for _, c := range w.Calls(harness.Commits) {
		for _, id := range carriedOut(t, c) {
			moves[id]++
		}
	}
	assert.Len(t, moves, events)
	for id, n := range moves {
		assert.Equal(t, 1, n, "row %s was moved on %d times", id, n)
	}
}

// carriedOut lists the staging rows that a transaction has moved on.
func carriedOut(t *testing.T, c *harness.Call) []string {
	t.Helper()
	answer, ok := c.Answer()
	if !ok || !succeeded(t, answer) {
		return nil
	}
	var sent struct {
		CompositeRequest []struct {
			Body struct {
				Records []struct {
					ID         string `json:"id"`
					Attributes struct{ Type string }
					Status     string `json:"Status__c"`
				}
			}
		}
	}
	require.NoError(t, json.Unmarshal(c.Body, &sent))
	var ids []string
	for _, sub := range sent.CompositeRequest {
		for _, r := range sub.Body.Records {
			if r.Attributes.Type == "Inbound_Event__c" && r.Status != "" {
				ids = append(ids, r.ID)
			}
		}
	}
	return ids
}

func succeeded(t *testing.T, a harness.Answer) bool {
	t.Helper()
	var said struct {
		CompositeResponse []struct{ HTTPStatusCode int }
	}
	if a.Status != http.StatusOK {
		return false
	}
	require.NoError(t, json.Unmarshal(a.Body, &said))
	for _, s := range said.CompositeResponse {
		if s.HTTPStatusCode/100 != 2 {
			return false
		}
	}
	return len(said.CompositeResponse) > 0
}
