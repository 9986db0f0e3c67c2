package verify_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/verify"
	"sfbridge/bridge/verify/special"
)

func TestSecretsThatCannotWorkStopTheStart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rule    string
		secrets []string
		want    string
	}{
		"none":               {"stripe", nil, "no secret is configured"},
		"empty":              {"stripe", []string{""}, "secret 1 can't be used: it is empty"},
		"blank":              {"stripe", []string{"good", " \n"}, "secret 2 can't be used: it is empty"},
		"not base64":         {"svix", []string{"whsec_confidential!"}, "not base64"},
		"no padding":         {"svix", []string{"whsec_confidentials"}, "not base64"},
		"line break inside":  {"svix", []string{"whsec_Y29u\nZmlk"}, "not base64"},
		"empty key":          {"svix", []string{"whsec_"}, "the key in it is empty"},
		"not hex":            {"adyen-header", []string{"confidential"}, "not hexadecimal"},
		"basic without name": {"chargebee", []string{"confidential"}, `"user:password"`},
		"no key":             {"sendgrid", []string{"Y29uZmlkZW50aWFs"}, "no public key"},
		"no certificate":     {"aws-sns", []string{"confidential"}, "no PEM certificate"},
		"webhook id missing": {"paypal", []string{"confidential"}, "no PEM certificate"},
		"no JWK":             {"plaid", []string{"confidential"}, "no JSON Web Key"},
		"JWK off the curve":  {"plaid", []string{`{"kty":"EC","crv":"P-256","x":"AQ","y":"AQ"}`}, "no P-256"},
		"no key pair":        {"braintree", []string{"confidential"}, "public_key:private_key"},
		"items, not hex":     {"adyen-items", []string{"confidential"}, "not hexadecimal"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := verify.New(verify.Config{Rules: []verify.Rule{rule(t, c.rule)}, Secrets: c.secrets, Schemes: special.Schemes()})
			problem := (*verify.SecretError)(nil)
			require.ErrorAs(t, err, &problem)
			assert.ErrorContains(t, err, c.want)
			assert.NotContains(t, strings.ToLower(err.Error()), "confidential", "a secret in a message")
			assert.NotContains(t, err.Error(), "Y29u", "a secret in a message")
		})
	}
}

func TestRulesThatMakeNoSense(t *testing.T) {
	t.Parallel()
	base := `"kind":"hmac","hash":"sha256","enc":"hex","key":"raw"`
	for name, c := range map[string]struct{ row, want string }{
		"no kind":                 {`{}`, "kind is missing"},
		"unknown member":          {`{"kind":"hmac","hsh":"x"}`, "hsh"},
		"unknown hash":            {`{"kind":"hmac","hash":"md5"}`, `hash "md5"`},
		"unknown encoding":        {`{"kind":"hmac","hash":"sha1","enc":"utf8"}`, `encoding "utf8"`},
		"unknown key form":        {`{"kind":"hmac","hash":"sha1","enc":"hex","key":"x"}`, `key form "x"`},
		"no signature":            {`{` + base + `,"signed":"{body}"}`, "either in headers or"},
		"empty template":          {`{` + base + `,"sig":{"headers":["X"]}}`, "template is empty"},
		"open brace":              {`{` + base + `,"sig":{"headers":["X"]},"signed":"{body"}`, "not closed"},
		"unknown placeholder":     {`{` + base + `,"sig":{"headers":["X"]},"signed":"{time}"}`, "{time} is unknown"},
		"nothing in the template": {`{` + base + `,"sig":{"headers":["X"]},"signed":"abc"}`, "no placeholder"},
		"time but no place":       {`{` + base + `,"sig":{"headers":["X"]},"signed":"{ts}{body}"}`, "names no timestamp"},
		"time not signed":         {`{` + base + `,"sig":{"headers":["X"]},"signed":"{body}","ts":{"header":"T","unit":"s","tolerance_s":1}}`, "not under the signature"},
		"time unit":               {`{` + base + `,"sig":{"headers":["X"]},"signed":"{ts}{body}","ts":{"header":"T","unit":"h","tolerance_s":1}}`, `unit "h"`},
		"no tolerance":            {`{` + base + `,"sig":{"headers":["X"]},"signed":"{ts}{body}","ts":{"header":"T","unit":"s","tolerance_s":0}}`, "more than zero"},
		"two places for the time": {`{` + base + `,"sig":{"headers":["X"]},"signed":"{ts}{body}","ts":{"header":"T","json":"t","unit":"s","tolerance_s":1}}`, "either in a header or"},
		"index without split":     {`{` + base + `,"sig":{"headers":["X"]},"signed":"{ts}{body}","ts":{"header":"T","index":0,"unit":"s","tolerance_s":1}}`, "needs split"},
		"unknown url form":        {`{` + base + `,"sig":{"headers":["X"]},"signed":"{url}","url_forms":["x"]}`, `url form "x"`},
		"digest without secret":   {`{"kind":"digest","hash":"sha256","enc":"hex","sig":{"headers":["X"]},"signed":"{body}"}`, "without {secret}"},
		"token in two headers":    {`{"kind":"token","sig":{"headers":["X","Y"]}}`, "exactly one header"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := verify.ParseTable([]byte(`{"mine":` + c.row + `}`))
			assert.ErrorContains(t, err, c.want)
		})
	}
	_, err := verify.New(verify.Config{Rules: []verify.Rule{rule(t, "plaid")}, Secrets: []string{"x"}})
	assert.ErrorContains(t, err, `kind "jwt-es256-bodysha" is unknown`)
	_, err = verify.New(verify.Config{Secrets: []string{"x"}})
	assert.ErrorContains(t, err, "no rule is named")
}

func TestWarningsOfRulesThatPeopleWrite(t *testing.T) {
	t.Parallel()
	assert.Empty(t, rule(t, "stripe").Warnings())
	assert.Len(t, rule(t, "zendesk").Warnings(), 1)
	mailgun := rule(t, "mailgun").Warnings()
	require.Len(t, mailgun, 2)
	assert.Contains(t, mailgun[0], "does not cover the payload")
	assert.Contains(t, mailgun[1], "{ts} and {j:signature.token}")
}
