package providers

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/event"
	"sfbridge/bridge/verify"
	"sfbridge/bridge/verify/special"
)

// batch is a provider's delivery with several events, of which one may lack
// what would identify it.
type batch struct {
	secret, rule string
	header       http.Header
	body         string
	events       int
	review       int
	success      string // the provider's exact answer; empty: the bridge's own
}

const adyenItem = `{"NotificationRequestItem":{"pspReference":"%s","merchantAccountCode":"M","merchantReference":"R","eventCode":"CAPTURE","success":"true","eventDate":"2025-10-09T08:53:20Z","amount":{"currency":"EUR","value":1}%s}}`

func batches() map[string]batch {
	auth := http.Header{"Authorization": {"token-value"}}
	return map[string]batch{
		"hubspot": {secret: "s", rule: "hubspot-v3", events: 3, review: 1,
			body: `[{"eventId":1,"portalId":1,"subscriptionId":1,"occurredAt":1,"objectId":1},{"eventId":2},{"eventId":3,"portalId":1,"subscriptionId":1,"occurredAt":1,"objectId":1}]`},
		"xero": {secret: "s", rule: "xero", events: 3, review: 1, success: "",
			body: `{"events":[{"tenantId":"t","resourceId":"1","eventType":"U","eventDateUtc":"2025-10-09T08:53:20"},null,{"tenantId":"t","resourceId":"2","eventType":"U","eventDateUtc":"2025-10-09T08:53:20"}]}`},
		"gocardless": {secret: "s", rule: "gocardless", events: 3, review: 1,
			body: `{"events":[{"id":"EV1"},{"nothing":1},{"id":"EV2"}]}`},
		"okta": {secret: "token-value", header: auth, events: 3, review: 1,
			body: `{"data":{"events":[{"uuid":"1"},{"uuid":null},{"uuid":"2"}]}}`},
		"auth0": {secret: "token-value", header: auth, events: 3, review: 1,
			body: "{\"log_id\":\"1\"}\n{\"log_id\":\n{\"log_id\":\"2\"}\n"}, // lines, one of them broken
		"meta": {secret: "s", rule: "meta", events: 3, success: "json200",
			body: `{"entry":[{"id":"W","changes":[{"field":"messages","value":{"messages":[{"id":"wamid.1"},{"id":"wamid.2"}]}}]},{"id":"P","time":1,"changes":[{"odd":true}]}]}`},
		"asana": {rule: "asana", secret: "kept-secret-0123", events: 3, success: "json200",
			body: `{"events":[{"action":"added","resource":{"gid":"1"}},{"action":"added","resource":{"gid":"2"}},5]}`},
		"salesforce": {secret: "00D000000000062EAA", header: http.Header{"Content-Type": {"text/xml"}}, events: 3, review: 1, success: "<Ack>true</Ack>",
			body: outbound("04l1", "", "04l3")},
		"adyen": {secret: "00ff", events: 2, success: "[accepted]",
			body: `{"notificationItems":[` + fmt.Sprintf(adyenItem, "P1", "") + `,` + fmt.Sprintf(adyenItem, "P2", "") + `]}`},
	}
}

// TestBatches: one row per event; an element that can't be identified waits
// for a person and loses nobody; redelivery adds none; 2xx only when all are
// durable.
func TestBatches(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.public = "https://hooks.example.com"
	for name, b := range batches() {
		var secrets []string
		more := ""
		if name != "asana" && b.secret != "" {
			secrets = []string{b.secret}
		}
		if name == "meta" {
			more = "params: {verify_token: x}"
		}
		w.source(name, name, secrets, more)
	}
	w.start()
	require.Equal(t, 200, w.post("asana", http.Header{"X-Hook-Secret": {"kept-secret-0123"}}, "{}").status)
	for name, b := range batches() {
		header, body := w.batchSigned(name, b)
		send := func() reply {
			r, err := w.send(http.MethodPost, name, header, []byte(body))
			require.NoError(t, err)
			return r
		}
		w.stager.fail = true
		assert.Equal(t, 503, send().status, "%s: nothing is durable", name)
		w.stager.fail = false
		first := send()
		assert.Less(t, first.status, 300, "%s: %s", name, first.body)
		rows := w.stager.taken()
		assert.Len(t, rows, b.events, name)
		review := 0
		for _, row := range rows {
			if row.Status == event.Review {
				review++
				assert.Contains(t, row.ID, ":sha256:", name)
			}
		}
		assert.Equal(t, b.review, review, name)
		again := send()
		assert.Less(t, again.status, 300, name)
		assert.Empty(t, w.stager.taken(), "%s: redelivery adds none", name)
		checkAnswer(t, name, b, first)
		checkAnswer(t, name, b, again)
	}
}

func checkAnswer(t *testing.T, name string, b batch, r reply) {
	t.Helper()
	switch {
	case name == "xero":
		assert.Equal(t, 200, r.status, name)
		assert.Empty(t, r.body, name)
	case b.success == "json200":
		assert.Equal(t, 200, r.status, name)
		assert.Contains(t, r.body, `"events"`, name)
	case b.success != "":
		assert.Equal(t, 200, r.status, name)
		assert.Contains(t, r.body, b.success, name)
	default:
		assert.Contains(t, r.body, `"events":[{"status":`, name)
	}
}

// batchSigned signs a batch as its provider would.
func (w *world) batchSigned(name string, b batch) (http.Header, string) {
	w.t.Helper()
	if name == "adyen" {
		signed, err := special.Schemes()["adyen-items"].Sign(b.secret, verify.Request{Header: http.Header{}, Body: []byte(b.body)})
		require.NoError(w.t, err)
		return nil, string(signed.Body)
	}
	if b.rule == "" {
		return b.header, b.body
	}
	return w.signed(b.rule, b.secret, name, b.header, b.body), b.body
}

// TestPayloadsAreStoredExactly whatever their form, and mappings see them.
func TestPayloadsAreStoredExactly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.source("salesforce", "salesforce", []string{"00D000000000062EAA"}, "")
	w.source("mollie", "mollie-classic", nil, "")
	w.start()
	xml := http.Header{"Content-Type": {"text/xml; charset=UTF-8"}}
	require.Equal(t, 200, w.post("salesforce", xml, outbound("04l1", "04l2")).status)
	rows := w.stager.taken()
	require.Len(t, rows, 2)
	assert.True(t, strings.HasPrefix(string(rows[0].Payload), "<Notification><Id>04l1</Id>"))
	assert.Contains(t, string(rows[0].Payload), "Ünal &amp; Co")
	assert.Equal(t, event.HashBytes(rows[0].Payload), rows[0].Hash)
	assert.Equal(t, []string{"salesforce:04l1", "Contact", "0031", string(event.Unsigned)},
		[]string{rows[0].ID, rows[0].Type, rows[0].ObjectID, string(rows[0].Trust)})
	other := strings.Replace(outbound("04l9"), "00D000000000062EAA", "00D000000000099EAA", 1)
	assert.Equal(t, 401, w.post("salesforce", xml, other).status)
	assert.Equal(t, 401, w.post("salesforce", xml, "<broken").status)

	form := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}
	require.Equal(t, 200, w.post("mollie", form, "id=tr_5B8cwPMGnU6qLbRvo7qEZo").status)
	rows = w.stager.taken()
	require.Len(t, rows, 1)
	assert.Equal(t, "id=tr_5B8cwPMGnU6qLbRvo7qEZo", string(rows[0].Payload))
	assert.Equal(t, event.Unsigned, rows[0].Trust)
	w.now.Add(1)
	require.Equal(t, 200, w.post("mollie", form, "id=tr_5B8cwPMGnU6qLbRvo7qEZo").status)
	assert.Len(t, w.stager.taken(), 1, "nothing tells a later change from a redelivery, so none is lost")
	assert.Equal(t, 415, w.post("mollie", xml, "<a/>").status)
}

// TestTokensOfUnsignedEvents: a signature that covers a token only is good for
// one event.
func TestTokensOfUnsignedEvents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.source("mailgun", "mailgun", []string{"key"}, "")
	w.start()
	table, err := verify.LoadTable()
	require.NoError(t, err)
	signed := func(id, token string) string {
		made, err := verify.SignRequest(table["mailgun"], nil, "key", verify.Request{
			Method: http.MethodPost, Body: fmt.Appendf(nil, `{"event-data":{"id":%q,"event":"opened"},"signature":{"token":%q}}`, id, token),
			Now: w.clock(),
		})
		require.NoError(t, err)
		return string(made.Body)
	}
	assert.Equal(t, 200, w.post("mailgun", nil, signed("e1", "t1")).status)
	assert.Equal(t, 200, w.post("mailgun", nil, signed("e1", "t1")).status, "a retry may repeat the token")
	require.NoError(t, w.bridge.Reload())
	assert.Equal(t, 401, w.post("mailgun", nil, signed("e2", "t1")).status, "another event may not, nor after a reload")
	assert.Equal(t, 200, w.post("mailgun", nil, signed("e2", "t2")).status)
	assert.Len(t, w.stager.taken(), 2)
}
