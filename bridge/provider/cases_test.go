package provider_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/identify"
	"sfbridge/bridge/verify"
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
