package providers

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/store"
)

// recorded is one handshake with the answer that it must get.
type recorded struct {
	Provider, Name, Secret string
	Request                struct {
		Method, Query, Body string
		Headers             map[string]string
		Signed              *bool
	}
	Response struct {
		Status   int
		Type     string `json:"content_type"`
		Headers  map[string]string
		Body     *string
		BodyJSON any `json:"body_json"`
	}
}

// setups are the sources of the recorded handshakes: what is signed, and what
// stands in for the bodies that the record leaves out.
var setups = map[string]struct {
	secret, rule, more, body string
	header                   http.Header
	unsignedBody             bool
}{
	"zoom":        {secret: "zoom-secret-token-1", rule: "zoom"},
	"braintree":   {secret: "integration_public_key:integration_private_key"},
	"meta":        {secret: "app", more: "params: {verify_token: my-verify-token}"},
	"dropbox":     {secret: "app"},
	"asana":       {},
	"okta":        {secret: "value"},
	"monday":      {secret: "app"},
	"slack":       {secret: "app", rule: "slack"},
	"xero":        {secret: "app", rule: "xero"},
	"notion":      {},
	"woocommerce": {secret: "app"},
	"github":      {secret: "app", rule: "github", body: `{"zen":"x"}`},
	"intercom":    {secret: "app", rule: "intercom"},
	"cloudevents": {secret: "app"},
	"salesforce":  {secret: "00D000000000062EAA", header: http.Header{"Content-Type": {"text/xml; charset=UTF-8"}}, body: outbound("04l1", "04l2")},
	"adyen":       {secret: "00ff", rule: "adyen-header", body: `{"type":"t","timestamp":"2026-01-05T04:30:30Z","data":{"id":"d1"}}`},
}

func outbound(ids ...string) string {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?><soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/"><soapenv:Body><notifications xmlns="http://soap.sforce.com/2005/09/outbound"><OrganizationId>00D000000000062EAA</OrganizationId><ActionId>04k1</ActionId><SessionId xsi:nil="true" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"/>`)
	for _, id := range ids {
		b.WriteString(`<Notification><Id>` + id + `</Id><sObject xsi:type="sf:Contact" xmlns:sf="urn:sobject.enterprise.soap.sforce.com" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><sf:Id>0031</sf:Id><sf:LastName>Ünal &amp; Co</sf:LastName></sObject></Notification>`)
	}
	b.WriteString(`</notifications></soapenv:Body></soapenv:Envelope>`)
	return b.String()
}

func TestEveryRecordedHandshakeThroughTheRoute(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/handshakes.json")
	require.NoError(t, err)
	var list []recorded
	require.NoError(t, json.Unmarshal(data, &list))
	w := newWorld(t)
	for name, s := range setups {
		var secrets []string
		if s.secret != "" {
			secrets = []string{s.secret}
		}
		w.source(name, name, secrets, s.more)
	}
	w.start()
	for _, h := range list {
		setup, ok := setups[h.Provider]
		if !ok {
			continue // box has none; aws-sns needs keys and has a test of its own
		}
		body := h.Request.Body
		if setup.body != "" {
			body = setup.body
		}
		header := http.Header{}
		for name, values := range setup.header {
			header[name] = values
		}
		for name, value := range h.Request.Headers {
			header.Set(name, value)
		}
		if h.Request.Signed != nil && setup.rule != "" {
			secret := setup.secret
			if !*h.Request.Signed {
				secret = "0a0b"
			}
			header = w.signed(setup.rule, secret, h.Provider, header, body)
		}
		target := w.url(h.Provider)
		if h.Request.Query != "" {
			target += "?" + h.Request.Query
		}
		w.stager.taken()
		r, err := w.sendTo(h.Request.Method, target, header, []byte(body))
		require.NoError(t, err)
		h.check(t, r)
		if setup.body == "" {
			assert.Empty(t, w.stager.taken(), "%s %s is no event", h.Provider, h.Name)
		}
	}
}

func (h recorded) check(t *testing.T, r reply) {
	t.Helper()
	name := h.Provider + " " + h.Name
	assert.Equal(t, h.Response.Status, r.status, "%s: %s", name, r.body)
	assert.Equal(t, "nosniff", orNosniff(r), name)
	if h.Response.Type != "" {
		assert.True(t, strings.HasPrefix(r.header.Get("Content-Type"), h.Response.Type), "%s: %s", name, r.header)
	}
	for header, value := range h.Response.Headers {
		assert.Equal(t, value, r.header.Get(header), "%s: %s", name, header)
	}
	if h.Response.Body != nil {
		assert.Equal(t, *h.Response.Body, r.body, name)
	}
	if h.Response.BodyJSON != nil {
		want, err := json.Marshal(h.Response.BodyJSON)
		require.NoError(t, err)
		assert.JSONEq(t, string(want), r.body, name)
	}
	if h.Provider == "xero" {
		assert.Empty(t, r.body, name)
		assert.Empty(t, r.header.Values("Set-Cookie"), name)
	}
}

func orNosniff(r reply) string {
	if r.status >= 300 {
		return "nosniff"
	}
	return r.header.Get("X-Content-Type-Options")
}

// TestHandshakesAreNoOracleAndNoOpenDoor.
func TestHandshakesAreNoOracleAndNoOpenDoor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.source("braintree", "braintree", []string{"public:private"}, "")
	w.source("zoom", "zoom", []string{"secret"}, "")
	w.source("asana", "asana", []string{"known-secret"}, "")
	w.source("notion", "notion", []string{"known-secret"}, "")
	w.source("fresh", "asana", nil, "")
	w.source("slack", "slack", []string{"secret"}, "")
	w.source("monday", "monday", []string{"secret"}, "")
	w.source("woo", "woocommerce", []string{"secret"}, "")
	w.source("meta", "meta", []string{"secret"}, "params: {verify_token: right}")
	w.source("dropbox", "dropbox", []string{"secret"}, "")
	w.start()
	get := func(source, query string) reply {
		r, err := w.sendTo(http.MethodGet, w.url(source)+query, nil, nil)
		require.NoError(t, err)
		return r
	}
	post := func(source, header, value, body string) int {
		h := http.Header{}
		if header != "" {
			h.Set(header, value)
		}
		return w.post(source, h, body).status
	}
	assert.Equal(t, 400, get("braintree", "?bt_challenge=dHJhbnNhY3Rpb24%3D").status, "only hexadecimal is signed")
	assert.Equal(t, 400, get("braintree", "?bt_challenge=0123456789abcdef0").status, "too short")
	assert.Equal(t, 405, get("braintree", "").status)
	assert.Equal(t, 405, get("zoom", "").status)
	assert.Equal(t, 401, post("zoom", "", "", `{"event":"endpoint.url_validation","payload":{"plainToken":"abc"}}`), "not signed")
	oracle := `{"event":"endpoint.url_validation","payload":{"plainToken":"v0:1760000000:{}"}}`
	r := w.post("zoom", w.signed("zoom", "secret", "zoom", nil, oracle), oracle)
	assert.Equal(t, 400, r.status, "what could be a signature's text is not hashed, and is no event")
	assert.NotContains(t, r.body, "encryptedToken")
	empty := `{"event":"endpoint.url_validation","payload":{}}`
	assert.Equal(t, 400, w.post("zoom", w.signed("zoom", "secret", "zoom", nil, empty), empty).status)
	assert.Equal(t, 401, post("asana", "X-Hook-Secret", "another-secret-0123", "{}"), "a source with a secret takes no other")
	assert.Equal(t, 401, post("notion", "", "", `{"verification_token":"another-secret-0123"}`))
	assert.Equal(t, 401, post("slack", "", "", `{"type":"url_verification","challenge":"x"}`))
	assert.Equal(t, 401, post("monday", "", "", `{"challenge":"x","event":{}}`), "nothing but a challenge is repeated")
	assert.Equal(t, 401, post("monday", "", "", `{"challenge":"`+strings.Repeat("x", 2000)+`"}`), "not at any length")
	assert.Equal(t, 401, post("woo", "", "", "webhook_id=42&x=1"))
	assert.Equal(t, 403, get("meta", "?hub.mode=subscribe&hub.verify_token=&hub.challenge=1").status)
	assert.Equal(t, 403, get("meta", "?hub.mode=unsubscribe&hub.verify_token=right&hub.challenge=1").status)
	assert.Equal(t, 405, get("meta", "?hub.mode=subscribe").status)
	assert.Equal(t, 405, get("dropbox", "?challenge="+strings.Repeat("x", 2000)).status)

	assert.Equal(t, 401, post("fresh", "", "", `{"events":[]}`), "nothing is taken before there is a secret")
	assert.Equal(t, 401, post("fresh", "X-Hook-Secret", "short", "{}"))
	assert.Equal(t, 200, post("fresh", "X-Hook-Secret", "first-secret-0123", "{}"))
	assert.Equal(t, 401, post("fresh", "X-Hook-Secret", "other-secret-0123", "{}"), "the first one stays")
	heartbeat := `{"events":[]}`
	r = w.post("fresh", w.signed("asana", "first-secret-0123", "fresh", nil, heartbeat), heartbeat)
	assert.Equal(t, 200, r.status)
	assert.JSONEq(t, `{"status":"ignored"}`, r.body)
	assert.NotContains(t, w.log.String(), "first-secret-0123")

	require.NoError(t, store.OpenSecrets(filepath.Join(w.dir, "store")).Forget("fresh"))
	require.NoError(t, w.bridge.Reload())
	assert.Equal(t, 401, w.post("fresh", w.signed("asana", "first-secret-0123", "fresh", nil, heartbeat), heartbeat).status, "forgotten")
	assert.Equal(t, 200, post("fresh", "X-Hook-Secret", "first-secret-0123", "{}"), "set up again")

	again := newWorld(t) // another process on the same store
	again.dir, again.env = w.dir, w.env
	again.start()
	assert.Equal(t, 200, again.post("fresh", w.signed("asana", "first-secret-0123", "fresh", nil, heartbeat), heartbeat).status)
	assert.Empty(t, w.stager.taken())
}

func jwk(key *ecdsa.PublicKey, id string) []byte {
	point, err := key.Bytes()
	if err != nil || key.Curve != elliptic.P256() {
		return nil
	}
	out, _ := json.Marshal(map[string]any{"key": map[string]any{
		"kty": "EC", "crv": "P-256", "kid": id, "x": base64url(point[1:33]), "y": base64url(point[33:]), "expired_at": nil,
	}})
	return out
}

// TestWhatOnlyAPersonCanAllow: unsigned deliveries by param, and a secret that
// everybody knows by nobody.
func TestWhatOnlyAPersonCanAllow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.source("open", "jira", nil, "params: {accept_unsigned: true}")
	w.source("board", "monday", nil, "params: {accept_unsigned: true}")
	w.source("intercom", "intercom", []string{"s"}, "")
	w.source("desk", "zendesk", []string{"dGhpc19zZWNyZXRfaXNfZm9yX3Rlc3Rpbmdfb25seQ=="}, "")
	w.start()
	r := w.post("open", http.Header{"X-Atlassian-Webhook-Identifier": {"j1"}}, `{"webhookEvent":"x"}`)
	assert.Equal(t, 202, r.status, r.body)
	rows := w.stager.taken()
	require.Len(t, rows, 1)
	assert.Equal(t, "Unsigned", string(rows[0].Trust))
	r = w.post("board", nil, `{"challenge":"abc"}`)
	assert.JSONEq(t, `{"challenge":"abc"}`, r.body)
	assert.Empty(t, w.stager.taken())
	r, err := w.send(http.MethodHead, "intercom", nil, nil)
	require.NoError(t, err)
	assert.Equal(t, 200, r.status)
	r, err = w.send(http.MethodDelete, "intercom", nil, nil)
	require.NoError(t, err)
	assert.Equal(t, 405, r.status)
	assert.Equal(t, "POST, HEAD", r.header.Get("Allow"))

	public := newWorld(t)
	public.public = "https://hooks.example.com"
	public.source("desk", "zendesk", []string{"dGhpc19zZWNyZXRfaXNfZm9yX3Rlc3Rpbmdfb25seQ=="}, "")
	_, err = public.load()
	require.ErrorContains(t, err, "secrets[0] is the one that Zendesk publishes for tests")
	assert.NotContains(t, err.Error(), "dGhpc19z")
}

// TestSecretsAreRotated: each of several verifies, and the metric says which.
func TestSecretsAreRotated(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.source("shop", "stripe", []string{"new", "old"}, "")
	w.start()
	for i, secret := range []string{"old", "new", "new"} {
		body := `{"id":"evt_` + strings.Repeat("x", i+1) + `","type":"t"}`
		assert.Equal(t, 202, w.post("shop", w.signed("stripe", secret, "shop", nil, body), body).status)
	}
	body := `{"id":"evt_z"}`
	assert.Equal(t, 401, w.post("shop", w.signed("stripe", "other", "shop", nil, body), body).status)
	r, err := w.sendTo(http.MethodGet, w.bridge.AdminURL()+"/metrics", nil, nil)
	require.NoError(t, err)
	assert.Contains(t, r.body, `bridge_secret_used_total{position="0",source="shop"} 2`)
	assert.Contains(t, r.body, `bridge_secret_used_total{position="1",source="shop"} 1`)
	for _, secret := range []string{`"new"`, `"old"`} {
		assert.NotContains(t, w.log.String(), secret)
	}
}
