package provider_test

import (
	"encoding/hex"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/event"
	"sfbridge/bridge/identify"
	"sfbridge/bridge/provider"
	"sfbridge/bridge/verify"
	"sfbridge/bridge/verify/special"
	"sfbridge/mapping/path"
)

// Deliveries and signatures that several cases share.
const (
	body1 = `{"id":"evt_demo_A1",  "note":"caf\u00e9 \u2028 <b>&</b> 12.50","amt":1.0,"path":"a\/b"}` + "\n"
	body2 = `{"id":"ev-77","title":"Gold tier 🥇","qty":2}`
	form  = "payload=%7B%22action%22%3A%22opened%22%2C%22n%22%3A7%7D"

	signedAt = 1767225600

	body1Shopify = "yE9QAJJL3LP096fQtHA6uno9qfMu6vjsjQGjbPK3LC0="
	body2GitHub  = "b1fb7a37fb6d00ce87cd8b494e8b5e8add8aaef36bbd8e725f7507fa48b6beb6"
	body2NoKey   = "843e10734ddee542bf5013cca3e70f06b73f39d624a5a02ebb9327509b27d2a8"
	stripeOld    = "f0574039edc93ba2d0adb4a7b09769ca9612a1b0a4cbe8d565fe2989c3fa670a"
	stripeNew    = "1e2a42aec393277f4c298ef0d36f44aec2b425365251609ad8584a69ff9e0727"
	standard     = "v1,frK27ABV/ikroBubDMrBxlXRxKATQh4JSkuO9JuQZMc="
	formGitHub   = "4840bd50869e6ec3f72dadee5f8f7a55a50aecb519c5a6184deea013bab28267"
	latin1GitHub = "c11a0b1ca17423ce981c46d0edcd052c450a7fea2cd368ce71f5190c43a63754"
)

// source is a configured source, put together as the service does it.
type source struct {
	t        testing.TB
	provider string
	secrets  []string
	rules    provider.RuleOverride
	event    identify.Override
	context  []path.Path
}

type incoming struct {
	header map[string]string
	body   string
	now    int64
}

func (s source) verifier() (*verify.Verifier, *provider.Preset, error) {
	catalog, err := provider.Load()
	require.NoError(s.t, err)
	preset, err := catalog.Preset(s.provider)
	require.NoError(s.t, err)
	rules, err := preset.RulesWith(s.rules)
	require.NoError(s.t, err)
	v, err := verify.New(verify.Config{Rules: rules, Secrets: s.secrets, Schemes: special.Schemes()})
	return v, preset, err
}

func (d incoming) request() verify.Request {
	h := http.Header{"Content-Type": {"application/json"}}
	for name, value := range d.header {
		h.Set(name, value)
	}
	if d.now == 0 {
		d.now = signedAt + 10
	}
	return verify.Request{Method: "POST", Header: h, Body: []byte(d.body), Now: time.Unix(d.now, 0)}
}

func (s source) judge(d incoming) verify.Result {
	s.t.Helper()
	v, _, err := s.verifier()
	require.NoError(s.t, err)
	return v.Verify(d.request())
}

// deliver verifies and identifies.
func (s source) deliver(d incoming) ([]identify.Identified, error) {
	s.t.Helper()
	v, preset, err := s.verifier()
	require.NoError(s.t, err)
	req := d.request()
	require.Equal(s.t, verify.OK, v.Verify(req).Reason)
	identifier, err := identify.New(identify.Config{
		Source: s.provider, Identity: preset.Identity.With(s.event), Content: preset.Content, Context: s.context,
	})
	require.NoError(s.t, err)
	doc, err := identifier.Read(identify.Delivery{Header: req.Header, Body: req.Body, ReceivedAt: req.Now})
	if err != nil {
		return nil, err
	}
	return doc.Events()
}

func (s source) one(d incoming) identify.Identified {
	s.t.Helper()
	events, err := s.deliver(d)
	require.NoError(s.t, err)
	require.Len(s.t, events, 1)
	return events[0]
}

func (s source) kind(d incoming) identify.Kind {
	s.t.Helper()
	_, err := s.deliver(d)
	refusal := (*identify.Refusal)(nil)
	require.ErrorAs(s.t, err, &refusal)
	return refusal.Kind
}

func idTemplate(t testing.TB, text string) *path.Template {
	t.Helper()
	parsed, err := path.ParsePathOrTemplate(text, path.EventID)
	require.NoError(t, err)
	return &parsed
}

func plainTemplate(t testing.TB, text string) *path.Template {
	t.Helper()
	parsed, err := path.ParsePathOrTemplate(text, path.Identity)
	require.NoError(t, err)
	return &parsed
}

func pathsOf(t testing.TB, texts ...string) []path.Path {
	t.Helper()
	var list []path.Path
	for _, text := range texts {
		p, err := path.Parse(text)
		require.NoError(t, err)
		list = append(list, p)
	}
	return list
}

// signed adds the headers of the provider's rule.
func (s source) signed(d incoming) incoming {
	s.t.Helper()
	_, preset, err := s.verifier()
	require.NoError(s.t, err)
	rules, err := preset.RulesWith(s.rules)
	require.NoError(s.t, err)
	headers, err := verify.Sign(rules[0], s.secrets[0], d.request())
	require.NoError(s.t, err)
	out := incoming{header: map[string]string{}, body: d.body, now: d.now}
	for name, value := range d.header {
		out.header[name] = value
	}
	for name := range headers {
		out.header[name] = headers.Get(name)
	}
	return out
}

func TestA01TheSignatureIsOverTheBytesAsSent(t *testing.T) {
	t.Parallel()
	s := source{t: t, provider: "shopify", secrets: []string{"demo-secret-one"}}
	header := map[string]string{
		"X-Shopify-Hmac-Sha256": body1Shopify, "X-Shopify-Topic": "orders/create", "X-Shopify-Webhook-Id": "w1",
	}
	got := s.one(incoming{header: header, body: body1})
	assert.Equal(t, body1, string(got.Event.Payload))
	assert.Len(t, got.Event.Payload, 88)
	assert.Equal(t, "shopify:orders/create:w1", got.Event.ID)
	for _, changed := range []string{
		strings.TrimSuffix(body1, "\n"), strings.ReplaceAll(body1, `\/`, "/"), strings.ReplaceAll(body1, "1.0", "1"),
		strings.ReplaceAll(body1, `\u00e9`, `\u00E9`), strings.ReplaceAll(body1, `\u00e9`, "é"),
	} {
		assert.Equal(t, verify.BadSignature, s.judge(incoming{header: header, body: changed}).Reason)
	}
}

func TestA02BytesBeyondASCIIAreSignedAsTheyAre(t *testing.T) {
	t.Parallel()
	s := source{t: t, provider: "github", secrets: []string{"demo-secret-two"}}
	header := map[string]string{"X-Hub-Signature-256": "sha256=" + body2GitHub, "X-GitHub-Delivery": "d1", "X-GitHub-Event": "issues"}
	got := s.one(incoming{header: header, body: body2})
	assert.Equal(t, body2, string(got.Event.Payload))
	assert.Equal(t, "Gold tier 🥇", got.Value.(map[string]any)["title"])
	assert.Equal(t, verify.BadSignature, s.judge(incoming{header: header, body: strings.ReplaceAll(body2, "🥇", "?")}).Reason)
}

func TestA03EverySignatureAndEverySecretCounts(t *testing.T) {
	t.Parallel()
	const before, after, unknown = "whsec_old_demo", "whsec_new_demo", "whsec_other"
	for name, c := range map[string]struct {
		signatures []string
		secrets    []string
		want       verify.Reason
		position   int
	}{
		"old secret":         {[]string{"v1=" + stripeOld, "v1=" + stripeNew, "v0=00"}, []string{before}, verify.OK, 0},
		"new secret":         {[]string{"v1=" + stripeOld, "v1=" + stripeNew, "v0=00"}, []string{after}, verify.OK, 0},
		"both secrets":       {[]string{"v1=" + stripeOld, "v1=" + stripeNew, "v0=00"}, []string{before, after}, verify.OK, 0},
		"swapped":            {[]string{"v1=" + stripeNew, "v1=" + stripeOld}, []string{before}, verify.OK, 0},
		"second secret only": {[]string{"v1=" + stripeNew}, []string{before, after}, verify.OK, 1},
		"one not hex":        {[]string{"v1=zz", "v1=" + stripeNew}, []string{after}, verify.OK, 0},
		"other secret":       {[]string{"v1=" + stripeOld, "v1=" + stripeNew, "v0=00"}, []string{unknown}, verify.BadSignature, -1},
		"only v0":            {[]string{"v0=" + stripeNew}, []string{after}, verify.MalformedHeader, -1},
		"none is hex":        {[]string{"v1=zz"}, []string{after}, verify.MalformedHeader, -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := source{t: t, provider: "stripe", secrets: c.secrets}
			header := map[string]string{"Stripe-Signature": "t=1767225600," + strings.Join(c.signatures, ",")}
			got := s.judge(incoming{header: header, body: body2})
			assert.Equal(t, c.want, got.Reason)
			assert.Equal(t, c.want == verify.OK, got.Valid)
			assert.Equal(t, c.position, got.Secret)
		})
	}
}

func TestA05BytesAfterTheFirstValueAreRefused(t *testing.T) {
	t.Parallel()
	s := source{t: t, provider: "stripe", secrets: []string{"secret"}}
	assert.Equal(t, identify.NotJSON, s.kind(s.signed(incoming{body: `{"id":"a"}{"id":"b"}`})))
	assert.Equal(t, "stripe:a", s.one(s.signed(incoming{body: `{"id":"a"}` + strings.Repeat(" ", 9<<10)})).Event.ID)
}

func TestA06AnEmptyBodyIsNoEvent(t *testing.T) {
	t.Parallel()
	s := source{t: t, provider: "stripe", secrets: []string{"secret"}}
	assert.Equal(t, identify.Empty, s.kind(s.signed(incoming{body: ""})), "even when it is rightly signed")
}

func TestA08AgeIsJudgedAgainstTheTimeOfReceipt(t *testing.T) {
	t.Parallel()
	s := source{t: t, provider: "stripe", secrets: []string{"whsec_old_demo"}}
	header := map[string]string{"Stripe-Signature": "t=1767225600,v1=" + stripeOld}
	at := func(offset int64) verify.Reason {
		return s.judge(incoming{header: header, body: body2, now: signedAt + offset}).Reason
	}
	assert.Equal(t, verify.OK, at(300))
	assert.Equal(t, verify.TooOld, at(301))
	assert.Equal(t, verify.OK, at(-300))
	assert.Equal(t, verify.TooNew, at(-301))
	s.rules.Tolerance = time.Hour
	assert.Equal(t, verify.OK, at(3600), "the mapping's own tolerance")
	assert.Equal(t, verify.TooOld, at(3601))
	// Identification has no clock of its own: an event found two hours later is the same event.
	s.rules.Tolerance = 24 * time.Hour
	assert.Equal(t, "stripe:ev-77", s.one(incoming{header: header, body: body2, now: signedAt + 7200}).Event.ID)
}

func TestA09SecretsThatLookAlikeMakeDifferentKeys(t *testing.T) {
	t.Parallel()
	const secret = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
	for _, prefix := range []string{"webhook", "svix"} {
		for _, name := range []string{"standard-webhooks", "svix"} {
			header := map[string]string{
				prefix + "-id": "msg_demo_1", prefix + "-timestamp": "1767225600",
				prefix + "-signature": "v1,AAAA v1a,xyz " + standard,
			}
			for _, pasted := range []string{secret, "v1," + secret, strings.TrimPrefix(secret, "whsec_")} {
				got := source{t: t, provider: name, secrets: []string{pasted}}.one(incoming{header: header, body: body2})
				assert.Equal(t, name+":msg_demo_1", got.Event.ID)
			}
			raw := source{t: t, provider: name, secrets: []string{secret}}
			header[prefix+"-signature"] = signedWithTheText(t, secret)
			assert.Equal(t, verify.BadSignature, raw.judge(incoming{header: header, body: body2}).Reason)
		}
	}
	for _, bad := range []string{"whsec_!!!!", "whsec_", "", "  "} {
		_, _, err := source{t: t, provider: "standard-webhooks", secrets: []string{bad}}.verifier()
		problem := (*verify.SecretError)(nil)
		require.ErrorAs(t, err, &problem, bad)
		assert.NotContains(t, err.Error(), "!!!!", "a secret in a message")
	}
	_, _, err := source{t: t, provider: "stripe", secrets: []string{"whsec_!!!!"}}.verifier()
	assert.NoError(t, err, "Stripe's secret is the text itself")
}

// signedWithTheText is the signature of body2 when the secret's text is wrongly
// taken as the key.
func signedWithTheText(t *testing.T, secret string) string {
	t.Helper()
	table, err := verify.LoadTable()
	require.NoError(t, err)
	req := incoming{body: body2, now: signedAt, header: map[string]string{"webhook-id": "msg_demo_1"}}.request()
	headers, err := verify.Sign(table["bigcommerce"], secret, req)
	require.NoError(t, err)
	require.Contains(t, headers.Get("webhook-signature"), "v1,5xkXn5fZ")
	return headers.Get("webhook-signature")
}

func TestA11FormsAreVerifiedAsSentAndReadAsJSON(t *testing.T) {
	t.Parallel()
	s := source{t: t, provider: "github", secrets: []string{"demo-secret-two"}}
	got := s.one(incoming{body: form, header: map[string]string{
		"Content-Type": "application/x-www-form-urlencoded", "X-Hub-Signature-256": "sha256=" + formGitHub,
		"X-GitHub-Delivery": "d2", "X-GitHub-Event": "issues",
	}})
	assert.Equal(t, `{"action":"opened","n":7}`, string(got.Event.Payload))
	assert.Equal(t, "issues.opened", got.Event.Type)
}

func TestA13OddBytesAreNeitherLostNorChanged(t *testing.T) {
	t.Parallel()
	latin1, err := hex.DecodeString("7b226964223a2265762d3838222c226e616d65223a224a6f73e9227d")
	require.NoError(t, err)
	s := source{t: t, provider: "github", secrets: []string{"demo-secret-two"}}
	header := map[string]string{"X-Hub-Signature-256": "sha256=" + latin1GitHub, "X-GitHub-Delivery": "d3", "X-GitHub-Event": "issues"}
	got := s.one(incoming{header: header, body: string(latin1)})
	assert.Equal(t, latin1, got.Event.Payload)
	assert.Equal(t, event.HashBytes(latin1), got.Event.Hash)
	require.NotNil(t, got.Review)
	assert.Equal(t, "the payload is not valid UTF-8", got.Review.Reason)
	stored, err := event.EncodePayload(got.Event.Payload)
	require.NoError(t, err)
	assert.Equal(t, event.Base64, stored.Encoding)

	stripe := source{t: t, provider: "stripe", secrets: []string{"secret"}}
	for _, body := range []string{`{"id":"e1","n":"x\u0000y"}`, `{"id":"e2","n":"\ud83d"}`, "\xEF\xBB\xBF" + `{"id":"e3"}`} {
		got := stripe.one(stripe.signed(incoming{body: body}))
		assert.Equal(t, body, string(got.Event.Payload))
		assert.Nil(t, got.Review)
	}
	assert.Equal(t, identify.NoID, stripe.kind(stripe.signed(incoming{body: "\xEF\xBB\xBF{}"})))
}

func TestA14AnArrayIsOneEventPerElement(t *testing.T) {
	t.Parallel()
	split, err := path.ParseList("$[*]")
	require.NoError(t, err)
	s := source{t: t, provider: "generic", secrets: []string{"secret"}, event: identify.Override{
		ID: idTemplate(t, "{$.eventId}:{$.objectId}"), Type: plainTemplate(t, "$.type"), Object: plainTemplate(t, "$.objectId"), Split: &split,
	}}
	batch := s.signed(incoming{body: `[{"eventId":11,"objectId":5},{"eventId":12,"objectId":5},{"eventId":11,"objectId":9}]`})
	first, err := s.deliver(batch)
	require.NoError(t, err)
	again, err := s.deliver(batch)
	require.NoError(t, err)
	require.Len(t, first, 3)
	for i, want := range []string{"generic:11:5", "generic:12:5", "generic:11:9"} {
		assert.Equal(t, want, first[i].Event.ID)
		assert.Equal(t, want, again[i].Event.ID)
		assert.Equal(t, first[i].Event.Hash, again[i].Event.Hash)
	}
	alone := source{t: t, provider: "stripe", secrets: []string{"secret"}}
	assert.Equal(t, identify.NoID, alone.kind(alone.signed(incoming{body: `[{"id":"a"}]`})), "where no batch is expected")
}

// TestA15EachPresetSaysWhichBytesOfACompressedBodyAreSigned: decompression is
// the receiver's; what it needs to know is whether to verify before or after.
func TestA15EachPresetSaysWhichBytesOfACompressedBodyAreSigned(t *testing.T) {
	t.Parallel()
	catalog, err := provider.Load()
	require.NoError(t, err)
	for _, name := range catalog.Names() {
		preset, err := catalog.Preset(name)
		require.NoError(t, err)
		assert.Equal(t, provider.Wire, preset.Signs, name)
	}
}

func TestB09WhatChangesWithEachAttemptIsNoPartOfTheKey(t *testing.T) {
	t.Parallel()
	s := source{t: t, provider: "generic", secrets: []string{"secret"}, event: identify.Override{
		ID: idTemplate(t, "$.id"), Type: plainTemplate(t, "$.type"),
	}}
	body := `{"id":"e1","type":"t","data":{"id":"sub_9"}}`
	first := s.one(s.signed(incoming{body: body, header: map[string]string{"X-Attempt": "1"}}))
	second := s.one(s.signed(incoming{body: body, header: map[string]string{"X-Attempt": "2"}, now: signedAt + 60}))
	assert.Equal(t, first.Event.ID, second.Event.ID)
	assert.Equal(t, first.Event.Hash, second.Event.Hash)
	other := s.one(s.signed(incoming{body: strings.ReplaceAll(body, "e1", "e2")}))
	assert.NotEqual(t, first.Event.ID, other.Event.ID, "another event of the same object")
}

func TestB11EventsWithoutAnIDNeverShareAKey(t *testing.T) {
	t.Parallel()
	stripe := source{t: t, provider: "stripe", secrets: []string{"secret"}}
	for _, body := range []string{`{"type":"unsubscribe"}`, `{"id":null}`, `{"id":""}`} {
		assert.Equal(t, identify.NoID, stripe.kind(stripe.signed(incoming{body: body})), body)
	}
	assert.Equal(t, "stripe:0", stripe.one(stripe.signed(incoming{body: `{"id":0}`})).Event.ID)
	derived := source{t: t, provider: "generic", secrets: []string{"secret"}, event: identify.Override{
		ID: idTemplate(t, "{$.type}:{$.email}:{$.ts}"), Type: plainTemplate(t, "$.type"),
	}}
	keys := map[string]bool{}
	for _, body := range []string{
		`{"type":"unsubscribe","email":"p@example.test","ts":1767225600}`,
		`{"type":"unsubscribe","email":"p@example.test","ts":1767225601}`,
		`{"type":"unsubscribe","email":"p@example.test:1767225600","ts":1767225600}`,
		`{"type":"unsubscribe:p@example.test","email":"1767225600","ts":1767225600}`,
	} {
		keys[derived.one(derived.signed(incoming{body: body})).Event.ID] = true
	}
	assert.Len(t, keys, 4)
	assert.Equal(t, identify.NoID, derived.kind(derived.signed(incoming{body: `{"type":"unsubscribe","ts":1767225600}`})))
}

func TestB14VolatileMembersAreLeftOutOfTheHash(t *testing.T) {
	t.Parallel()
	s := source{t: t, provider: "generic", secrets: []string{"secret"}, event: identify.Override{
		ID: idTemplate(t, "{$.type}:{$.n}"), Type: plainTemplate(t, "$.type"), Volatile: pathsOf(t, "$.meta.sent_at", "$.tries[-1]"),
	}}
	hash := func(body string) string { return s.one(s.signed(incoming{body: body})).Event.Hash }
	first := hash(`{"type":"t","n":1,"meta":{"sent_at":"10:00:00","x":1},"tries":[1,2]}`)
	assert.Equal(t, first, hash(`{"n":1, "type":"t","meta":{"x":1,"sent_at":"10:00:01"},"tries":[1,3]}`))
	assert.NotEqual(t, first, hash(`{"type":"t","n":1,"meta":{"sent_at":"10:00:00","x":2},"tries":[1,2]}`))
	assert.NotEqual(t, first, hash(`{"type":"t","n":1,"meta":{"sent_at":"10:00:00","x":1.0},"tries":[1,2]}`), "numbers as written")

	stripe := source{t: t, provider: "stripe", secrets: []string{"secret"}}
	one := stripe.one(stripe.signed(incoming{body: `{"id":"e","pending_webhooks":2}`}))
	two := stripe.one(stripe.signed(incoming{body: `{"id":"e","pending_webhooks":1}`}))
	assert.Equal(t, one.Event.Hash, two.Event.Hash)
}

func TestC01LargeIntegersKeepTheirDigits(t *testing.T) {
	t.Parallel()
	s := source{t: t, provider: "generic", secrets: []string{"secret"}, context: pathsOf(t, "$$.order.parent"), event: identify.Override{
		ID: idTemplate(t, "shop:order:{$.order.id}:v1"), Type: plainTemplate(t, "$.type"), Object: plainTemplate(t, "$.order.parent"),
	}}
	body := `{"order":{"id":820982911946154508,"parent":9007199254740993}}`
	got := s.one(s.signed(incoming{body: body})).Event
	assert.Equal(t, "generic:shop:order:820982911946154508:v1", got.ID)
	assert.Equal(t, "9007199254740993", got.ObjectID)
	assert.Equal(t, body, string(got.Payload))
	assert.Equal(t, `{"$$.order.parent":9007199254740993}`, string(got.Context))
}

func TestTheEmptyKeyIsNoKey(t *testing.T) {
	t.Parallel()
	catalog, err := provider.Load()
	require.NoError(t, err)
	preset, err := catalog.Preset("github")
	require.NoError(t, err)
	for _, secrets := range [][]string{nil, {}, {""}, {"good", ""}} {
		_, err := verify.New(verify.Config{Rules: preset.Rules, Secrets: secrets})
		problem := (*verify.SecretError)(nil)
		require.ErrorAs(t, err, &problem)
	}
	s := source{t: t, provider: "github", secrets: []string{"x"}}
	assert.Equal(t, verify.BadSignature, s.judge(incoming{body: body2, header: map[string]string{"X-Hub-Signature-256": "sha256=" + body2NoKey}}).Reason)
}
