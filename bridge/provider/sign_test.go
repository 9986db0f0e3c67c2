package provider_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/verify"
	"sfbridge/bridge/verify/special"
)

// secretsFor are secrets in the form that the presets want; others are text.
var secretsFor = map[string]string{
	"standard-webhooks": "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=", "svix": "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=",
	"gitlab": "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=", "adyen": "00ff", "chargebee": "user:pass:word",
	"braintree": "public:private", "salesforce": "00D000000000062EAA",
}

// bodiesFor are bodies for schemes that sign a part of them; others are JSON.
var bodiesFor = map[string]string{
	"braintree":      `<notification><kind>check</kind></notification>`,
	"twilio":         "To=%2B49&Body=Hi&Tag=b&Tag=a&Tag=a",
	"mollie-classic": "id=tr_1",
	"salesforce":     `<n xmlns="http://soap.sforce.com/2005/09/outbound"><OrganizationId>00D000000000062EAA</OrganizationId></n>`,
}

// TestWhatASenderSignsVerifies for every preset that a sender can sign for, and
// no longer after a byte of it has changed.
func TestWhatASenderSignsVerifies(t *testing.T) {
	t.Parallel()
	catalog, err := catalog()
	require.NoError(t, err)
	var refused []string
	for _, name := range catalog.Names() {
		p := load(t, name)
		secret, body := secretsFor[name], bodiesFor[name]
		if secret == "" {
			secret = "a made up secret"
		}
		if body == "" {
			body = `{"id":"e1","webhookTimestamp":1,"event-data":{"id":"x"}}`
		}
		header := http.Header{}
		for k, v := range p.Send.For([]byte(body)) {
			header[k] = v
		}
		req := verify.Request{Method: "POST", URL: "https://hooks.example.com/webhooks/x", Header: header, Body: []byte(body), Now: time.Unix(1767225600, 0)}
		signed, err := verify.SignRequest(p.Rules[0], special.Schemes(), secret, req)
		if err != nil {
			refused = append(refused, name)
			require.ErrorIs(t, err, verify.ErrNotSignable, name)
			continue
		}
		if p.Unsigned() {
			continue
		}
		v, err := verify.New(verify.Config{Rules: p.Rules, Secrets: []string{secret}, Schemes: special.Schemes()})
		require.NoError(t, err, name)
		assert.Equal(t, verify.OK, v.Verify(signed).Reason, name)
		if p.Trust == verify.SignedBody {
			signed.Body = append(signed.Body, 'x')
			assert.NotEqual(t, verify.OK, v.Verify(signed).Reason, name)
		}
	}
	assert.Equal(t, []string{"aws-sns", "paypal", "plaid", "sendgrid"}, refused, "only the provider has the key")
}

func TestSigningWhatCannotBeSigned(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{"adyen": `{"a":1}`, "braintree": "neither", "mailgun": "[]", "linear": "x"} {
		rules := load(t, name).Rules
		_, err := verify.SignRequest(rules[len(rules)-1], special.Schemes(), secretsFor[name]+"", verify.Request{
			Method: "POST", Header: http.Header{}, Body: []byte(body), Now: time.Unix(1767225600, 0)})
		assert.Error(t, err, name)
	}
	items := `{"live":"false","notificationItems":[{"NotificationRequestItem":{"pspReference":"P","amount":{"value":1,"currency":"EUR"},"eventCode":"A","success":"true"}}]}`
	rules := load(t, "adyen").Rules
	signed, err := verify.SignRequest(rules[1], special.Schemes(), "00ff", verify.Request{Header: http.Header{}, Body: []byte(items)})
	require.NoError(t, err)
	v, err := verify.New(verify.Config{Rules: rules, Secrets: []string{"00ff"}, Schemes: special.Schemes()})
	require.NoError(t, err)
	assert.Equal(t, verify.OK, v.Verify(signed).Reason)
	url := "https://a.example/x?y=1"
	signed, err = verify.SignRequest(load(t, "twilio").Rules[0], special.Schemes(), "s", verify.Request{URL: url, Header: http.Header{}, Body: []byte(`{"a":1}`)})
	require.NoError(t, err)
	assert.Contains(t, signed.URL, url+"&bodySHA256=", "the hash of a body that is no form goes into the address")
	v, err = verify.New(verify.Config{Rules: load(t, "twilio").Rules, Secrets: []string{"s"}, Schemes: special.Schemes()})
	require.NoError(t, err)
	assert.Equal(t, verify.OK, v.Verify(signed).Reason)
}
