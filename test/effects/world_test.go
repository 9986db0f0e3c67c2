package effects_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/test/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

const (
	secret  = "shop-secret"
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
        state: {field: Status__c, allow: {Pending: [Succeeded]}}
        fields: {Amount__c: {from: $.amount, as: number}, Status__c: $.status}
    effects:
      - name: receipt
        when: {object: Payment__c, field: Status__c, to: [Succeeded]}
        post: {url: "${RECEIPT_URL}", secret: "${RECEIPT_SECRET}", body: {charge: $.charge, amount: $.amount}}
`
)

// receiver is somebody's server: it writes down what it gets and answers as it
// is told.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	got    []got
	answer func(n int) int // status of the n-th request, from 1
}

type got struct{ key, body, id, signature string }

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{answer: func(int) int { return 200 }}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		r.mu.Lock()
		r.got = append(r.got, got{req.Header.Get("Idempotency-Key"), string(body), req.Header.Get("webhook-id"), req.Header.Get("webhook-signature")})
		answer, n := r.answer, len(r.got)
		r.mu.Unlock()
		w.WriteHeader(answer(n))
	}))
	t.Cleanup(r.Close)
	return r
}

// keys counts the requests by key.
func (r *receiver) keys() map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := map[string]int{}
	for _, g := range r.got {
		out[g.key]++
	}
	return out
}

func (r *receiver) answers(f func(n int) int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = f
}

// world is an org, a bridge and a receiver.
type world struct {
	t        *testing.T
	org      *harness.Org
	wire     *harness.Wire
	bridge   *harness.Bridge
	receiver *receiver
}

func newWorld(t *testing.T, change ...func(*harness.Config)) *world {
	t.Helper()
	w := &world{t: t, org: harness.StartOrg(t, "--samples"), receiver: newReceiver(t)}
	w.wire = harness.StartWire(t, w.org)
	c := harness.Config{
		Org: w.org, Via: w.wire, Mappings: map[string]string{"shop.yaml": mapping},
		Env:      map[string]string{"SHOP_SECRET": secret, "RECEIPT_URL": w.receiver.URL + "/receipts", "RECEIPT_SECRET": "whsec_MDEyMzQ1Njc4OWFiY2RlZg=="},
		Outbound: fmt.Sprintf("{allow: [%q]}", strings.TrimPrefix(w.receiver.URL, "http://")),
		Poller:   "{interval: 100ms, idle: 300ms, max_attempts: 3, backoff: {base: 100ms, max: 300ms}}",
	}
	for _, f := range change {
		f(&c)
	}
	w.bridge = harness.StartBridge(t, c)
	return w
}

// deliver sends one event, and requires an answer that takes it.
func (w *world) deliver(id, charge, status string, at int) {
	w.t.Helper()
	body := fmt.Appendf(nil, `{"id":%q,"type":"charge","charge":%q,"at":%d,"amount":12.50,"status":%q}`, id, charge, 1767225600+at, status)
	header := http.Header{"X-Signature": {harness.HMACHex(secret, body)}, "Content-Type": {"application/json"}}
	answer, err := w.bridge.Post(w.t.Context(), "shop", header, body)
	require.NoError(w.t, err)
	require.True(w.t, answer.OK(), "%d: %s", answer.Status, answer.Body)
}

// settle waits until no event is open and no effect outstanding.
func (w *world) settle() {
	w.t.Helper()
	w.org.Settle(w.t)
	w.org.Eventually(w.t, "effects are outstanding", w.none("SELECT COUNT() FROM Outbound_Effect__c WHERE Status__c IN ('Ready', 'Retryable')"))
}

// none holds when a query counts nothing.
func (w *world) none(query string) harness.Holds {
	return func(context.Context) (bool, error) { return w.org.Count(w.t, query) == 0, nil }
}

// check holds the outbox, the events and the receiver to what was caused.
func (w *world) check(keys ...string) {
	w.t.Helper()
	w.recorded(keys...)
	sent := []string{}
	for key := range w.receiver.keys() {
		sent = append(sent, key)
	}
	assert.ElementsMatch(w.t, keys, sent, "sent under these keys")
}

// recorded holds the outbox and the events to what was caused: each key once,
// done once, its event completed.
func (w *world) recorded(keys ...string) {
	w.t.Helper()
	rows := w.org.Query(w.t, "SELECT Effect_Key__c, Status__c, Queue__c, History__c, Event__r.Status__c FROM Outbound_Effect__c")
	found := []string{}
	for _, row := range rows {
		key := row["Effect_Key__c"].(string)
		found = append(found, key)
		assert.Equal(w.t, "Done", row["Status__c"], key)
		assert.Nil(w.t, row["Queue__c"], key)
		assert.Equal(w.t, 1, strings.Count(row["History__c"].(string), "-> Done"), "%s: %s", key, row["History__c"])
		assert.Equal(w.t, "Completed", row["Event__r"].(map[string]any)["Status__c"], key)
	}
	assert.ElementsMatch(w.t, keys, found)
}
