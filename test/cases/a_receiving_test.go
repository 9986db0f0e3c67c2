package cases_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/test/harness"
)

const (
	body1 = `{"id":"evt_demo_A1",  "note":"caf\u00e9 \u2028 <b>&</b> 12.50","amt":1.0,"path":"a\/b"}` + "\n"
	body2 = `{"id":"ev-77","title":"Gold tier 🥇","qty":2}`

	body1Signature = "yE9QAJJL3LP096fQtHA6uno9qfMu6vjsjQGjbPK3LC0="
	body2Signature = "b1fb7a37fb6d00ce87cd8b494e8b5e8add8aaef36bbd8e725f7507fa48b6beb6"
	form1          = "payload=%7B%22action%22%3A%22opened%22%2C%22n%22%3A7%7D"
	form1Signature = "4840bd50869e6ec3f72dadee5f8f7a55a50aecb519c5a6184deea013bab28267"
	latin1         = "7b226964223a2265762d3838222c226e616d65223a224a6f73e9227d"
	latin1Sign     = "c11a0b1ca17423ce981c46d0edcd052c450a7fea2cd368ce71f5190c43a63754"
)

func preset(source, provider, rest string) string {
	return "source: " + source + "\nprovider: " + provider + "\nsecrets: [\"${HOOK}\"]\n" + rest
}

// What is signed and what is stored are the bytes that came, trailing line feed
// and escapes included.
func TestA01BytesAreStoredAsSent(t *testing.T) {
	t.Parallel()
	w := prepare(t, func(c *harness.Config) { c.Env["HOOK"] = "demo-secret-one" }, preset("shopify", "shopify", things))
	w.bridge.Start(t)
	header := http.Header{"X-Shopify-Hmac-Sha256": {body1Signature}, "X-Shopify-Topic": {"orders/create"}, "X-Shopify-Webhook-Id": {"w1"},
		"Content-Type": {"application/json"}}
	w.status(w.post("shopify", header, body1), http.StatusAccepted, "accepted")
	stored := payload(t, w.settled()["shopify:orders/create:w1"])
	assert.Equal(t, body1, stored)
	assert.Len(t, stored, 88)
	w.status(w.post("shopify", header, strings.TrimSpace(body1)), http.StatusUnauthorized, "bad_signature")
}

// A letter of four bytes comes whole and cut in two by the transfer.
func TestA02LettersBeyondASCII(t *testing.T) {
	t.Parallel()
	w := serve(t, preset("github", "github", things))
	w.status(w.post("github", github("whole", body2Signature), body2), http.StatusAccepted, "accepted")
	cut := strings.Index(body2, "🥇") + 2
	w.status(inChunks(t, w.bridge, github("cut", body2Signature), body2[:cut], body2[cut:]), http.StatusAccepted, "accepted")
	rows := w.settled()
	assert.Equal(t, body2, payload(t, rows["github:whole"]))
	assert.Equal(t, body2, payload(t, rows["github:cut"]))
	assert.Equal(t, "Gold tier 🥇", w.records("Thing__c", "Ext__c", "Title__c")["ev-77"]["Title__c"])
}

// inChunks delivers a body without a length, each part by itself.
func inChunks(t *testing.T, b *harness.Bridge, header http.Header, parts ...string) harness.Answer {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(b.URL(), "http://"))
	require.NoError(t, err)
	defer conn.Close()
	var head bytes.Buffer
	require.NoError(t, header.Write(&head))
	_, err = fmt.Fprintf(conn, "POST /webhooks/github HTTP/1.1\r\nHost: b\r\nTransfer-Encoding: chunked\r\n%s\r\n", head.String())
	require.NoError(t, err)
	for _, part := range parts {
		chunk := httputil.NewChunkedWriter(conn)
		_, err := io.WriteString(chunk, part)
		require.NoError(t, err)
	}
	_, err = io.WriteString(conn, "0\r\n\r\n")
	require.NoError(t, err)
	r, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	return harness.Answer{Status: r.StatusCode, Header: r.Header, Body: body}
}

// While a secret is replaced a delivery carries signatures of both; whichever
// is configured, one is enough.
func TestA03SecretRotation(t *testing.T) {
	t.Parallel()
	source := func(name, secrets string) string {
		return "source: " + name + "\nprovider: stripe\nsecrets: [" + secrets + "]\n" + things
	}
	w := prepare(t, func(c *harness.Config) {
		c.Env["OLD"], c.Env["NEW"], c.Env["OTHER"] = "whsec_old_demo", "whsec_new_demo", "whsec_other"
	}, source("old", `"${OLD}"`), source("new", `"${NEW}"`), source("both", `"${OLD}", "${NEW}"`), source("other", `"${OTHER}"`))
	w.bridge.Start(t)
	at := now()
	sign := func(secret string) string { return hex.EncodeToString(mac(secret, at+"."+body2)) }
	one, two := sign("whsec_old_demo"), sign("whsec_new_demo")
	for _, signature := range []string{
		"t=" + at + ",v1=" + one + ",v1=" + two + ",v0=00",
		"t=" + at + ",v1=" + two + ",v1=" + one,
		"t=" + at + ",v1=zz,v1=" + one + ",v1=" + two,
	} {
		header := http.Header{"Stripe-Signature": {signature}, "Content-Type": {"application/json"}}
		for _, name := range []string{"old", "new", "both"} {
			assert.True(t, w.post(name, header, body2).OK(), "%s: %s", name, signature)
		}
		w.status(w.post("other", header, body2), http.StatusUnauthorized, "bad_signature")
	}
	only := http.Header{"Stripe-Signature": {"t=" + at + ",v0=" + one}, "Content-Type": {"application/json"}}
	w.status(w.post("old", only, body2), http.StatusUnauthorized, "bad_signature")
}

// The size counts to the last byte, whatever stands behind the value.
func TestA05SizeLimit(t *testing.T) {
	t.Parallel()
	w := serve(t, generic("shop", "limits: {max_body: 1KiB}"+things))
	fits := `{"id":"a","title":"` + repeat("x", 1003) + `"}`
	require.Len(t, fits, 1024)
	w.status(w.send("shop", `{"id":"a"}`+repeat(" ", 9<<10)), http.StatusRequestEntityTooLarge, "too_large")
	w.status(w.send("shop", fits+" "), http.StatusRequestEntityTooLarge, "too_large")
	w.status(w.send("shop", `{"id":"a"}{"id":"b"}`), http.StatusBadRequest, "bad_request")
	assert.Empty(t, w.settled(), "nothing may be stored")
	w.accepted("shop", fits)
	assert.Equal(t, fits, payload(t, w.settled()["shop:a"]))
}

// An empty body is told as such; no signature over nothing makes an event.
func TestA06EmptyBody(t *testing.T) {
	t.Parallel()
	w := serve(t, generic("shop", things))
	answer := w.send("shop", "")
	w.status(answer, http.StatusBadRequest, "bad_request")
	assert.Contains(t, string(answer.Body), "empty body")
	w.accepted("shop", body1)
	assert.Len(t, w.settled(), 1)
}

// Standard Webhooks: the key is what stands behind whsec_ in Base64, any of the
// signatures may fit, and Svix's names are taken too.
func TestA09StandardWebhooks(t *testing.T) {
	t.Parallel()
	const secret = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
	w := prepare(t, func(c *harness.Config) { c.Env["HOOK"] = secret }, preset("std", "standard-webhooks", "event: {type: $.type}"+things))
	w.bridge.Start(t)
	at := now()
	header := func(prefix, id, key string) http.Header {
		signature := base64.StdEncoding.EncodeToString(mac(key, id+"."+at+"."+body2))
		h := http.Header{"Content-Type": {"application/json"}}
		h.Set(prefix+"-Id", id)
		h.Set(prefix+"-Timestamp", at)
		h.Set(prefix+"-Signature", "v1,AAAA v1a,xyz v1,"+signature)
		return h
	}
	const key = "0123456789abcdef0123456789abcdef"
	w.status(w.post("std", header("Webhook", "msg_1", key), body2), http.StatusAccepted, "accepted")
	w.status(w.post("std", header("Svix", "msg_2", key), body2), http.StatusAccepted, "accepted")
	w.status(w.post("std", header("Webhook", "msg_3", secret), body2), http.StatusUnauthorized, "bad_signature")
}

// A form is verified as sent and read as the JSON in it.
func TestA11Form(t *testing.T) {
	t.Parallel()
	w := serve(t, preset("github", "github", strings.Replace(things, "$.id", "$.n", 1)))
	header := github("f1", form1Signature)
	header.Set("Content-Type", "application/x-www-form-urlencoded")
	w.status(w.post("github", header, form1), http.StatusAccepted, "accepted")
	assert.JSONEq(t, `{"action":"opened","n":7}`, payload(t, w.settled()["github:f1"]))
	assert.Contains(t, w.records("Thing__c", "Ext__c"), "7")
}

// Bytes that are no text are kept as they are and shown to a person, never
// changed in silence and never answered so that they come for ever.
func TestA13OddBytes(t *testing.T) {
	t.Parallel()
	w := serve(t, preset("github", "github", things), generic("shop", things))
	raw, err := hex.DecodeString(latin1)
	require.NoError(t, err)
	w.status(w.post("github", github("l1", latin1Sign), string(raw)), http.StatusAccepted, "accepted")
	w.accepted("shop", `{"id":"e1","title":"x\u0000y"}`, `{"id":"e2","title":"\ud83d"}`, "\xEF\xBB\xBF"+`{"id":"e3","title":"z"}`)
	w.status(w.send("shop", "\xEF\xBB\xBF{}"), http.StatusBadRequest, "bad_request")
	rows := w.settled()
	assert.Equal(t, string(raw), payload(t, rows["github:l1"]))
	w.review(rows["github:l1"], "PAYLOAD", "UTF-8")
	for id, title := range map[string]string{"e1": `x\u0000y`, "e2": `\ud83d`} {
		w.review(rows["shop:"+id], "FIELD", "Title__c")
		assert.Contains(t, payload(t, rows["shop:"+id]), title)
	}
	w.completed(rows["shop:e3"], "Created")
}

// One delivery with several events is one row for each, or no 2xx.
func TestA14Batch(t *testing.T) {
	t.Parallel()
	w := serveStaged(t, `source: hub
provider: generic
secrets: ["${HOOK}"]
event: {id: "{$.eventId}:{$.objectId}", type: $.kind, object: $.objectId, split: "$[*]"}
routes:
  - name: all
    records: [{object: Thing__c, key: {field: Ext__c, template: "{$.eventId}:{$.objectId}"}, fields: {Qty__c: {from: $.objectId, as: number}}}]
`)
	const batch = `[{"eventId":11,"objectId":5},{"eventId":12,"objectId":5},{"eventId":11,"objectId":9}]`
	answer := w.send("hub", batch)
	w.status(answer, http.StatusAccepted, "accepted")
	assert.JSONEq(t, `{"status":"accepted","events":[{"status":"accepted","event_id":"hub:11:5"},{"status":"accepted","event_id":"hub:12:5"},{"status":"accepted","event_id":"hub:11:9"}]}`, string(answer.Body))
	w.status(w.send("hub", batch), http.StatusOK, "duplicate")
	rows := w.settled()
	assert.Len(t, rows, 3)
	for _, id := range []string{"hub:11:5", "hub:12:5", "hub:11:9"} {
		w.completed(rows[id], "Created")
	}

	w.org.Plant(t, harness.Fault{"operation": "collections_insert", "fault": "unavailable", "times": 0})
	refused := w.send("hub", `[{"eventId":21,"objectId":5},{"eventId":11,"objectId":5}]`)
	w.status(refused, http.StatusServiceUnavailable, "unavailable")
	assert.NotEmpty(t, refused.Header.Get("Retry-After"))
}

// Compressed bodies are taken where the source says so, up to the size of what
// they hold.
func TestA15CompressedBodies(t *testing.T) {
	t.Parallel()
	w := serve(t, preset("packed", "github", "limits: {encodings: [gzip], max_body: 64KiB}"+things), preset("plain", "github", things))
	zip := func(text string) string {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, err := io.WriteString(z, text)
		require.NoError(t, err)
		require.NoError(t, z.Close())
		return b.String()
	}
	send := func(source, encoding, id, body string) harness.Answer {
		header := github(id, hex.EncodeToString(mac(hookSecret, body)))
		header.Set("Content-Encoding", encoding)
		return w.post(source, header, body)
	}
	w.status(send("packed", "gzip", "g1", zip(body2)), http.StatusAccepted, "accepted")
	w.status(send("plain", "gzip", "g2", zip(body2)), http.StatusUnsupportedMediaType, "unsupported")
	w.status(send("packed", "br", "g3", body2), http.StatusUnsupportedMediaType, "unsupported")
	w.status(send("packed", "gzip", "g4", zip(repeat(" ", 10<<20))), http.StatusRequestEntityTooLarge, "too_large")
	w.status(send("packed", "gzip", "g5", "no gzip"), http.StatusBadRequest, "bad_request")
	rows := w.settled()
	assert.Len(t, rows, 1)
	assert.Equal(t, body2, payload(t, rows["packed:g1"]))
}

// Signature and age are judged once, at receipt: what was accepted is worked on
// and replayed later, whatever the secrets and the time are then.
func TestA08JudgedAtReceipt(t *testing.T) {
	t.Parallel()
	w := prepare(t, func(c *harness.Config) { c.Only = []string{"process"} }, preset("stripe", "stripe", things))
	receiver := w.beside("receive")
	at := now()
	header := http.Header{"Stripe-Signature": {"t=" + at + ",v1=" + hex.EncodeToString(mac(hookSecret, at+"."+body2))}, "Content-Type": {"application/json"}}
	receiver.status(receiver.post("stripe", header, body2), http.StatusAccepted, "accepted")
	receiver.bridge.Stop(t)
	w.bridge.Config.Env["HOOK"] = "another secret by now"
	w.bridge.Start(t)
	w.completed(w.settled()["stripe:ev-77"], "Created")

	replay := harness.Invoke(t, w.bridge.Config.Environment(), "replay", "--config", w.bridge.File(), "--id", "stripe:ev-77", "--force", "--reason", "test")
	require.Equal(t, 0, replay.Code, replay.Err)
	w.completed(w.settled()["stripe:ev-77"], "Unchanged")
}
