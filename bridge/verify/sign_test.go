package verify_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/verify"
	"sfbridge/bridge/verify/special"
)

// secretFor is a secret in the form that the rule wants.
func secretFor(rule verify.Rule) string {
	switch {
	case rule.Kind == verify.KindBasic:
		return "user:pass:word"
	case rule.Key == "whsec":
		return "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
	case rule.Key == "hex":
		return "44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056"
	}
	return "a made up secret"
}

// TestWhatIsSignedVerifies signs under every rule a sender can sign for.
func TestWhatIsSignedVerifies(t *testing.T) {
	t.Parallel()
	table, err := verify.LoadTable()
	require.NoError(t, err)
	now := time.UnixMilli(1_767_225_600_123)
	var signed, refused []string
	for name, rule := range table {
		req := verify.Request{
			Method: "POST", URL: "https://hooks.example.com/webhooks/x?a=%2F", Now: now,
			Header: http.Header{"Webhook-Id": {"msg_1"}, "Svix-Id": {"msg_1"}},
			Body:   []byte(`{"id":"ev-1","webhookTimestamp":1767225600123}`),
		}
		headers, err := verify.Sign(rule, secretFor(rule), req)
		if err != nil {
			refused = append(refused, name)
			continue
		}
		signed = append(signed, name)
		for h, values := range headers {
			req.Header[h] = values
		}
		v, err := verify.New(verify.Config{
			Rules: []verify.Rule{rule}, Secrets: []string{secretFor(rule)}, Schemes: special.Schemes(),
		})
		require.NoError(t, err, name)
		assert.Equal(t, verify.Result{
			Valid: true, Reason: verify.OK, Rule: name, Secret: 0, Trust: rule.Trust(special.Schemes()),
		}, v.Verify(req), name)
		if rule.Trust(nil) == verify.SignedBody {
			req.Body = append(req.Body, '\n')
			assert.Equal(t, verify.BadSignature, v.Verify(req).Reason, "%s: body changed", name)
		}
	}
	slices.Sort(refused)
	assert.Equal(t, []string{"adyen-items", "aws-sns", "braintree", "mailgun", "mollie-classic", "monday",
		"paypal", "plaid", "salesforce-om", "sendgrid", "twilio"}, refused)
	assert.Len(t, signed, len(table)-len(refused))
}
