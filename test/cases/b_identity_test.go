package cases_test

import (
	"bytes"
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/test/harness"
)

// orders is a source whose deliveries hold several versions of an order, so
// that they are staged and worked on together.
func orders(source, record string) string {
	return "source: " + source + `
provider: generic
secrets: ["${HOOK}"]
event: {id: "order:{$.id}:v{$.v}", type: $.type, object: $.id, order: {from: $.v, as: integer}, split: "$.orders[*]"}
routes:
  - name: order
    records:
      - object: Payment__c
        key: {field: Stripe_Charge_Id__c, from: $.id}
        order: true
        fields: {Amount__c: {from: $.total, as: number}, Note__c: $.status}
` + record
}

const versions = `{"orders":[{"id":98765,"v":4,"total":40,"status":"open"},{"id":98765,"v":5,"total":55,"status":"paid"}]}`

// Two versions of one record in one batch never meet in one call, and the
// newer one holds in the end.
func TestB01TwoVersionsInOneBatch(t *testing.T) {
	t.Parallel()
	w := serve(t, orders("each", ""), orders("folded", "        coalesce: true\n"))
	w.accepted("each", versions)
	rows := w.settled()
	w.completed(rows["each:order:98765:v4"], "Created")
	w.completed(rows["each:order:98765:v5"], "Updated")
	w.accepted("folded", `{"orders":[{"id":"f","v":4,"total":40},{"id":"f","v":5,"total":55}]}`)
	rows = w.settled()
	w.completed(rows["folded:order:f:v4"], "Superseded")
	w.completed(rows["folded:order:f:v5"], "Updated")
	payments := w.records("Payment__c", "Stripe_Charge_Id__c", "Amount__c")
	assert.EqualValues(t, 55, number(t, payments["98765"]["Amount__c"]))
	assert.EqualValues(t, 55, number(t, payments["f"]["Amount__c"]))
}

// Keys are one record when the target's field says so.
func TestB01KeysCompareAsTheFieldDoes(t *testing.T) {
	t.Parallel()
	w := serve(t, `source: shop
provider: generic
secrets: ["${HOOK}"]
event: {id: "{$.id}", type: $.type, split: "$[*]"}
routes:
  - name: all
    records: [{object: Thing__c, key: {field: Fold__c, from: $.key}, fields: {Title__c: $.id}}]
`)
	w.accepted("shop", `[{"id":"a","key":"K-1"},{"id":"b","key":"k-1"}]`)
	rows := w.settled()
	w.completed(rows["shop:a"], "Created")
	w.completed(rows["shop:b"], "Updated")
	assert.Equal(t, 1, w.org.Count(t, "SELECT COUNT() FROM Thing__c"))
}

// What was not stored is not known: the provider's next try is taken as new.
func TestB02FailedStagingIsForgotten(t *testing.T) {
	t.Parallel()
	w := serveStaged(t, generic("shop", things))
	w.org.Plant(t, harness.Fault{"operation": "collections_insert", "fault": "unavailable", "times": 0})
	answer := w.send("shop", body2)
	w.status(answer, http.StatusServiceUnavailable, "unavailable")
	assert.NotEmpty(t, answer.Header.Get("Retry-After"))
	w.org.ClearFaults(t)
	w.accepted("shop", body2)
	rows := w.settled()
	assert.Len(t, rows, 1)
	w.completed(rows["shop:ev-77"], "Created")
}

// An older version is Stale, after the newer one and beside it.
func TestB03OlderAfterNewer(t *testing.T) {
	t.Parallel()
	w := serve(t, orders("shop", ""))
	const newer, older = `{"id":"o1","v":1767225601,"status":"active"}`, `{"id":"o1","v":1767225600,"status":"incomplete"}`
	w.accepted("shop", `{"orders":[`+newer+`]}`)
	w.completed(w.settled()["shop:order:o1:v1767225601"], "Created")
	w.accepted("shop", `{"orders":[`+older+`]}`)
	w.completed(w.settled()["shop:order:o1:v1767225600"], "Stale")
	w.accepted("shop", `{"orders":[{"id":"o2","v":2,"status":"active"},{"id":"o2","v":1,"status":"incomplete"}]}`)
	w.settled()
	payments := w.records("Payment__c", "Stripe_Charge_Id__c", "Note__c")
	assert.Equal(t, "active", payments["o1"]["Note__c"])
	assert.Equal(t, "active", payments["o2"]["Note__c"])
}

// Ids that differ in letter case are different events.
func TestB05LetterCaseOfIDs(t *testing.T) {
	t.Parallel()
	w := serve(t, generic("shop", things))
	w.accepted("shop", `{"id":"evt_1AbC","title":"one"}`, `{"id":"evt_1aBc","title":"two"}`)
	rows := w.settled()
	assert.Len(t, rows, 2)
	found := w.records("Thing__c", "Ext__c", "Title__c")
	assert.Equal(t, "one", found["evt_1AbC"]["Title__c"])
	assert.Equal(t, "two", found["evt_1aBc"]["Title__c"])
}

// A record that a duplicate rule refuses was not written: a person must look,
// and its neighbours complete.
func TestB06DuplicateRuleIsNoDuplicate(t *testing.T) {
	t.Parallel()
	w := prepare(t, func(c *harness.Config) { overWire(t)(c); c.Only = []string{"process"} }, generic("shop", things))
	w.staged("shop", `{"id":"a"}`, `{"id":"b"}`, `{"id":"c"}`)
	w.org.Plant(t, harness.Fault{"operation": "collections_upsert", "object": "Thing__c", "key": "b", "fault": "validation"})
	call := w.wire.Trap(harness.Commits)
	w.bridge.Start(t)
	batch := call(t)
	answer := batch.Forward(t)
	require.Contains(t, string(answer.Body), "FIELD_CUSTOM_VALIDATION_EXCEPTION")
	answer.Body = bytes.ReplaceAll(answer.Body, []byte("FIELD_CUSTOM_VALIDATION_EXCEPTION"), []byte("DUPLICATES_DETECTED"))
	answer.Header.Del("Content-Length")
	batch.Reply(answer)
	rows := w.settled()
	w.review(rows["shop:b"], "DUPLICATES_DETECTED")
	w.completed(rows["shop:a"], "Created")
	w.completed(rows["shop:c"], "Created")
}

// The reply to a staging call is lost after the rows were written: the sender
// gets its 2xx, and there is one row.
func TestB08LostReplyOfStaging(t *testing.T) {
	t.Parallel()
	w := serve(t, generic("shop", things))
	w.org.Plant(t, harness.Fault{"operation": "collections_insert", "fault": "drop_after"})
	w.accepted("shop", body2)
	var senders sync.WaitGroup
	w.org.Plant(t, harness.Fault{"operation": "collections_insert", "fault": "drop_after"})
	for n := range 40 {
		senders.Go(func() { assert.True(t, w.send("shop", fmt.Sprintf(`{"id":"n%d"}`, n)).OK()) })
	}
	senders.Wait()
	rows := w.settled()
	assert.Len(t, rows, 41)
	for id, r := range rows {
		w.completed(r, "Created")
		assert.Nil(t, r["Duplicate_Count__c"], id)
	}
}

// What changes with every attempt is no part of the key; what two events have
// in common is no key.
func TestB09KeyOfADelivery(t *testing.T) {
	t.Parallel()
	w := serve(t, generic("shop", things))
	deliver := func(body, attempt string) harness.Answer {
		return w.post("shop", http.Header{"X-Signature": {harness.HMACHex(hookSecret, []byte(body))}, "X-Attempt": {attempt}, "Content-Type": {"application/json"}}, body)
	}
	const first, second = `{"id":"e1","object":"sub_9"}`, `{"id":"e2","object":"sub_9"}`
	w.status(deliver(first, "1"), http.StatusAccepted, "accepted")
	w.status(deliver(first, "2"), http.StatusOK, "duplicate")
	w.status(deliver(second, "1"), http.StatusAccepted, "accepted")
	assert.Len(t, w.settled(), 2)
}

// Without an id there is no event, unless the mapping says what it is made of.
func TestB11EventsWithoutID(t *testing.T) {
	t.Parallel()
	w := serve(t, generic("plain", things), `source: derived
provider: generic
secrets: ["${HOOK}"]
event: {id: "{$.type}:{$.email}:{$.ts}", type: $.type}
routes:
  - name: all
    records: [{object: Thing__c, key: {field: Ext__c, from: $.ts}, fields: {Title__c: $.email}}]
`)
	for _, body := range []string{`{"type":"unsubscribe"}`, `{"id":null}`, `{"id":""}`} {
		w.status(w.send("plain", body), http.StatusBadRequest, "bad_request")
	}
	w.accepted("plain", `{"id":0}`)
	w.accepted("derived", `{"type":"unsubscribe","email":"p@example.test","ts":1767225600}`, `{"type":"unsubscribe","email":"p@example.test","ts":1767225601}`)
	rows := w.settled()
	require.Len(t, rows, 3)
	assert.Contains(t, rows, "plain:0")
	assert.Contains(t, rows, "derived:unsubscribe:p@example.test:1767225600")
}

// A member that changes with each sending doesn't make another content.
func TestB14VolatileMembers(t *testing.T) {
	t.Parallel()
	w := serve(t, `source: shop
provider: generic
secrets: ["${HOOK}"]
event: {id: $.id, type: $.type, volatile: [$.sent_at]}
`+things)
	w.accepted("shop", `{"id":"a","sent_at":"10:00:00","title":"t"}`)
	w.status(w.send("shop", `{"id":"a","sent_at":"10:00:01","title":"t"}`), http.StatusOK, "duplicate")
	conflict := w.send("shop", `{"id":"a","sent_at":"10:00:01","title":"other"}`)
	w.status(conflict, http.StatusAccepted, "conflict")
	rows := w.settled()
	assert.Len(t, rows, 2)
	assert.Equal(t, "t", w.records("Thing__c", "Ext__c", "Title__c")["a"]["Title__c"])
}
