package verify_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/verify"
	"sfbridge/bridge/verify/special"
)

var signedNow = time.UnixMilli(1_767_225_600_123)

func rule(t testing.TB, name string) verify.Rule {
	t.Helper()
	table, err := verify.LoadTable()
	require.NoError(t, err)
	r, ok := table[name]
	require.True(t, ok, name)
	return r
}

// signed is a delivery that the rule accepts with secretFor(rule).
func signed(t testing.TB, r verify.Rule) verify.Request {
	t.Helper()
	req := verify.Request{
		Method: "POST", URL: "https://hooks.example.com/webhooks/x", Now: signedNow, Body: []byte(`{"id":"ev-1"}`),
		Header: http.Header{"Webhook-Id": {"msg_1"}, "Svix-Id": {"msg_1"}},
	}
	headers, err := verify.Sign(r, secretFor(r), req)
	require.NoError(t, err)
	for name, values := range headers {
		req.Header[name] = values
	}
	return req
}

func verifier(t testing.TB, secrets []string, rules ...verify.Rule) *verify.Verifier {
	t.Helper()
	v, err := verify.New(verify.Config{Rules: rules, Secrets: secrets, Schemes: special.Schemes()})
	require.NoError(t, err)
	return v
}

// TestReasonsSayWhatIsWrong gives each kind of recorded fault its reason.
func TestReasonsSayWhatIsWrong(t *testing.T) {
	t.Parallel()
	allowed := map[string][]verify.Reason{
		"missing-header":      {verify.MissingHeader, verify.MalformedHeader},
		"malformed-header":    {verify.MalformedHeader},
		"malformed-timestamp": {verify.MalformedTimestamp},
		"old-timestamp":       {verify.TooOld},
		"future-timestamp":    {verify.TooNew},
		"empty-secret":        {verify.NoSecret},
		"duplicated-header":   {verify.RepeatedHeader},
		"evil-cert-url":       {verify.UntrustedURL},
		"tampered-body":       {verify.BadSignature},
		"tampered-signature":  {verify.BadSignature},
		"tampered-timestamp":  {verify.BadSignature},
		"wrong-secret":        {verify.BadSignature},
		"wrong-url":           {verify.BadSignature},
		"wrong-version":       {verify.MalformedHeader},
	}
	run, seen := newRun(t), map[string]bool{}
	for _, vector := range loadVectors(t) {
		reasons, listed := allowed[vector.Case]
		if !listed || vector.Valid || vector.Skip {
			continue
		}
		seen[vector.Case] = true
		result, err := run.Judge(vector)
		require.NoError(t, err)
		assert.Contains(t, reasons, result.Reason, vector.ID)
		assert.Equal(t, -1, result.Secret, vector.ID)
	}
	assert.Len(t, seen, len(allowed))
}

func TestRepeatedHeaders(t *testing.T) {
	t.Parallel()
	const good, bad = "good", "bad"
	for name, c := range map[string]struct {
		lines []string
		multi bool
		want  verify.Reason
	}{
		"one":                   {[]string{good}, false, verify.OK},
		"twice the same":        {[]string{good, good}, false, verify.OK},
		"same but for space":    {[]string{good, " \t" + good + " "}, false, verify.OK},
		"different, good first": {[]string{good, bad}, false, verify.RepeatedHeader},
		"different, good last":  {[]string{bad, good}, false, verify.RepeatedHeader},
		"one is empty":          {[]string{"", good}, false, verify.RepeatedHeader},
		"only empty":            {[]string{"", " "}, false, verify.MissingHeader},
		"repeatable":            {[]string{bad, good}, true, verify.OK},
		"repeatable, one empty": {[]string{"", good}, true, verify.OK},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rule(t, "generic-sha256-hex")
			req := signed(t, r)
			right := req.Header.Get("X-Signature")
			req.Header.Del("X-Signature")
			for _, line := range c.lines {
				line = strings.ReplaceAll(strings.ReplaceAll(line, good, right), bad, strings.Repeat("00", 32))
				req.Header.Add("X-Signature", line)
			}
			r.Sig.Multi = c.multi
			assert.Equal(t, c.want, verifier(t, []string{secretFor(r)}, r).Verify(req).Reason)
		})
	}
}

func TestTheFirstRuleThatFindsItsSignatureDecides(t *testing.T) {
	t.Parallel()
	signing, token := rule(t, "gitlab-signing-token"), rule(t, "gitlab-token")
	secrets := []string{secretFor(signing), "plain-token"}
	v := verifier(t, secrets, signing, token)
	assert.Equal(t, verify.AuthenticatedCaller, v.Trust(), "the least of the rules")
	assert.Equal(t, 300*time.Second, v.Tolerance())

	req := signed(t, signing)
	assert.Equal(t, verify.Result{Valid: true, Reason: verify.OK, Rule: "gitlab-signing-token", Secret: 0, Trust: verify.SignedBody}, v.Verify(req))
	req.Body = []byte("changed")
	req.Header.Set("X-Gitlab-Token", "plain-token")
	assert.Equal(t, verify.BadSignature, v.Verify(req).Reason, "a token beside a wrong signature doesn't help")

	req.Header = http.Header{"X-Gitlab-Token": {"plain-token"}}
	assert.Equal(t, verify.Result{Valid: true, Reason: verify.OK, Rule: "gitlab-token", Secret: 1, Trust: verify.AuthenticatedCaller}, v.Verify(req))
	req.Header = http.Header{}
	assert.Equal(t, verify.Result{Reason: verify.MissingHeader, Rule: "gitlab-signing-token", Secret: -1, Trust: verify.SignedBody}, v.Verify(req))
}

func TestTrustOfEachRule(t *testing.T) {
	t.Parallel()
	table, err := verify.LoadTable()
	require.NoError(t, err)
	below := map[string]verify.Trust{
		"mailgun": verify.SignedPartial, "adyen-items": verify.SignedPartial, "aws-sns": verify.SignedPartial,
		"chargebee": verify.AuthenticatedCaller, "gitlab-token": verify.AuthenticatedCaller, "okta": verify.AuthenticatedCaller,
		"auth0": verify.AuthenticatedCaller, "monday": verify.AuthenticatedCaller,
		"mollie-classic": verify.Unsigned, "salesforce-om": verify.Unsigned,
	}
	for name, r := range table {
		want, ok := below[name]
		if !ok {
			want = verify.SignedBody
		}
		assert.Equal(t, want, r.Trust(special.Schemes()), name)
	}
}

func TestURLForms(t *testing.T) {
	t.Parallel()
	ports := verify.Rule{URLForms: []string{"as-is", "with-default-port", "without-port"}}
	for url, want := range map[string][]string{
		"https://a.example/x?y":      {"https://a.example/x?y", "https://a.example:443/x?y"},
		"http://u:p@a.example":       {"http://u:p@a.example", "http://u:p@a.example:80"},
		"https://a.example:1234?q=:": {"https://a.example:1234?q=:", "https://a.example?q=:"},
		"https://[::1]/":             {"https://[::1]/", "https://[::1]:443/"},
		"https://[::1]:8/":           {"https://[::1]:8/", "https://[::1]/"},
		"nonsense":                   {"nonsense"},
		"":                           {""},
	} {
		assert.Equal(t, want, ports.URLs(url), url)
	}
	hubspot := verify.Rule{URLForms: []string{"as-is", "hubspot-decoded"}}
	assert.Equal(t, []string{"https://a/?u=https%3A%2f%2Fb%20c", "https://a/?u=https://b%20c"}, hubspot.URLs("https://a/?u=https%3A%2f%2Fb%20c"))
	assert.Equal(t, []string{"x"}, verify.Rule{}.URLs("x"))
}

func TestMoreSignaturesThanAnyoneSendsAreNotLookedAt(t *testing.T) {
	t.Parallel()
	r := rule(t, "stripe")
	req := signed(t, r)
	ts, good, _ := strings.Cut(req.Header.Get("Stripe-Signature"), ",")
	junk := strings.Repeat(",v1="+strings.Repeat("ab", 32), 99)
	v := verifier(t, []string{secretFor(r)}, r)
	req.Header.Set("Stripe-Signature", ts+junk+","+good)
	assert.Equal(t, verify.OK, v.Verify(req).Reason, "the hundredth")
	req.Header.Set("Stripe-Signature", ts+junk+junk+","+good)
	assert.Equal(t, verify.BadSignature, v.Verify(req).Reason)
}

func TestHeadersThatAreNeverKept(t *testing.T) {
	t.Parallel()
	assert.Equal(t, []string{"X-Signature"}, rule(t, "generic-sha256-hex").SecretHeaders())
	assert.Equal(t, []string{"Authorization"}, rule(t, "chargebee").SecretHeaders())
	assert.Equal(t, []string{"X-DocuSign-Signature-{n}"}, rule(t, "docusign").SecretHeaders())
}

func TestPublicKeysOfStandardWebhooks(t *testing.T) {
	t.Parallel()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	r := rule(t, "standard-webhooks")
	req := signed(t, r)
	secret := "whpk_" + base64.StdEncoding.EncodeToString(public)
	symmetric := req.Header.Get("Webhook-Signature")
	good := "v1a," + base64.StdEncoding.EncodeToString(ed25519.Sign(private, []byte("msg_1.1767225600."+string(req.Body))))
	for name, c := range map[string]struct {
		signature string
		secrets   []string
		want      verify.Reason
		position  int
	}{
		"public key":              {good, []string{secret}, verify.OK, 0},
		"beside a symmetric one":  {symmetric + " " + good, []string{"whsec_MDAw", secret}, verify.OK, 1},
		"symmetric one counts":    {good + " " + symmetric, []string{secretFor(r)}, verify.OK, 0},
		"only for the other kind": {good, []string{secretFor(r)}, verify.MalformedHeader, -1},
		"symmetric only":          {symmetric, []string{secret}, verify.MalformedHeader, -1},
		"called symmetric":        {strings.Replace(good, "v1a,", "v1,", 1), []string{secret}, verify.MalformedHeader, -1},
		"changed":                 {good[:20] + "AAAA" + good[24:], []string{secret}, verify.BadSignature, -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			req := req
			req.Header = req.Header.Clone()
			req.Header.Set("Webhook-Signature", c.signature)
			got := verifier(t, c.secrets, r).Verify(req)
			assert.Equal(t, c.want, got.Reason)
			assert.Equal(t, c.position, got.Secret)
		})
	}
	for _, bad := range []string{"whpk_", "whpk_AAAA", "whpk_!"} {
		_, err := verify.New(verify.Config{Rules: []verify.Rule{r}, Secrets: []string{bad}})
		problem := (*verify.SecretError)(nil)
		require.ErrorAs(t, err, &problem, bad)
	}
}
