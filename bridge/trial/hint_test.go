package trial_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/trial"
	"sfbridge/bridge/verify"
)

// TestHints spoils a right delivery in one way each, and wants to be told in
// which.
func TestHints(t *testing.T) {
	t.Parallel()
	const secret = "whsec_c2VjcmV0IG9mIGEgdGVzdCBlbmRwb2ludA=="
	plain := func(body string) func(t *testing.T) trial.Delivery {
		return func(t *testing.T) trial.Delivery { return delivery(t, "stripe", secret, body, nil) }
	}
	body := func(to string) func(*trial.Delivery) {
		return func(d *trial.Delivery) { d.Request.Body = []byte(to) }
	}
	secrets := func(list ...string) func(*trial.Delivery) {
		return func(d *trial.Delivery) { d.Secrets = list }
	}
	const pretty = "{\n  \"id\": \"e\",\n  \"n\": \"J\u00f6rg/\\\\\"\n}"
	for name, c := range map[string]struct {
		signed func(t *testing.T) trial.Delivery
		spoil  func(*trial.Delivery)
		want   string
	}{
		"right":         {plain(`{"id":"e"}`), func(*trial.Delivery) {}, ""},
		"second secret": {plain(`{"id":"e"}`), secrets("new", secret), "signed with the previous secret (number 2 of 2)"},
		"newline added": {plain(`{"id":"e"}`), body("{\"id\":\"e\"}\n"), "without its final newline: something in front re-encoded it"},
		"newline lost":  {plain("{\"id\":\"e\"}\n"), body(`{"id":"e"}`), "with a final newline"},
		"line ends":     {plain("{\r\n}"), body("{\n}"), "CR LF"},
		"mark added":    {plain("{}"), body("\xEF\xBB\xBF{}"), "byte order mark"},
		"indented":      {plain(`{"id":"e","n":1}`), body("{\n  \"id\": \"e\",\n  \"n\": 1\n}"), "as compact JSON"},
		"compacted":     {plain(pretty), body(strings.NewReplacer("\n  ", "", "\n", "", ": ", ":").Replace(pretty)), "as indented JSON"},
		"spaces lost":   {plain(`{"id": "e, f", "n": [1, 2]}`), body(`{"id":"e, f","n":[1,2]}`), "with a space after each comma"},
		"escapes lost":  {plain(`{"n":"J\u00f6rg \ud83d\ude00"}`), body(`{"n":"Jörg 😀"}`), `with \u escapes`},
		"escapes added": {plain(`{"n":"Jörg 😀","q":"\"x"}`), body(`{"n":"J\u00f6rg \ud83d\ude00","q":"\"x"}`), `without \u escapes`},
		"slashes":       {plain(`{"u":"a/b"}`), body(`{"u":"a\/b"}`), `with "/" for`},
		"API key":       {plain(`{}`), secrets("sk_live_0123456789"), "this looks like an API key, not a webhook secret"},
		"blank around":  {plain(`{}`), secrets(secret + " "), "white space around it"},
		"secret decoded": {plain(`{}`), func(d *trial.Delivery) {
			d.Provider, d.Scheme = "standard-webhooks", "stripe"
			d.Secrets = []string{"x"}
		}, "the secret or the body is another one"},
		"other body":           {plain(`{"a":1}`), body(`{"a":2}`), "the secret or the body is another one"},
		"old":                  {plain(`{}`), func(d *trial.Delivery) { d.Request.Now = now.Add(time.Hour) }, "longer ago than 5m0s"},
		"early":                {plain(`{}`), func(d *trial.Delivery) { d.Request.Now = now.Add(-time.Hour) }, "from the future"},
		"other provider":       {plain(`{}`), func(d *trial.Delivery) { d.Provider = "shopify" }, "what came looks like a delivery of stripe"},
		"no secret":            {plain(`{}`), secrets(" "), "secret 1 can't be used: it is empty"},
		"no signature":         {plain(`{}`), func(d *trial.Delivery) { d.Request.Header = http.Header{} }, "it stands in the header Stripe-Signature"},
		"text taken as base64": {func(t *testing.T) trial.Delivery { return delivery(t, "bigcommerce", "c2VjcmV0c2VjcmV0", "{}", nil) }, func(d *trial.Delivery) { d.Provider = "standard-webhooks" }, "the secret as text"},
		"another address": {func(t *testing.T) trial.Delivery { return signedFor(t, "square", "https://a.example/x?q=1") },
			func(d *trial.Delivery) { d.Request.URL = "http://a.example/x?q=1" }, "with https:// instead of http://"},
		"milliseconds": {func(t *testing.T) trial.Delivery { return signedIn(t, "slack", "ms") }, func(*trial.Delivery) {}, "the timestamp is in milliseconds"},
		"seconds":      {func(t *testing.T) trial.Delivery { return signedIn(t, "hubspot", "s") }, func(*trial.Delivery) {}, "the timestamp is in seconds"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := c.signed(t)
			c.spoil(&d)
			catalog, _ := load(t, d.Provider)
			report, err := trial.Check(catalog, d)
			require.NoError(t, err)
			if c.want == "" {
				assert.Empty(t, report.Hint)
			}
			assert.Contains(t, report.Hint, c.want)
			for _, s := range d.Secrets {
				assert.False(t, strings.TrimSpace(s) != "" && len(s) > 3 && strings.Contains(report.Hint, strings.TrimSpace(s)), "no secret is shown")
			}
			for _, values := range d.Request.Header {
				assert.NotContains(t, report.Hint, values[0][max(0, len(values[0])-20):])
			}
		})
	}
}

func signedFor(t *testing.T, name, address string) trial.Delivery {
	t.Helper()
	return signedBy(t, name, address, func(*verify.Rule) {})
}

// signedIn signs with a timestamp in another unit than the rule's.
func signedIn(t *testing.T, name, unit string) trial.Delivery {
	t.Helper()
	return signedBy(t, name, "https://a.example/x", func(r *verify.Rule) {
		ts := *r.TS
		ts.Unit = unit
		r.TS = &ts
	})
}

func signedBy(t *testing.T, name, address string, change func(*verify.Rule)) trial.Delivery {
	t.Helper()
	_, preset := load(t, name)
	rule := preset.Rules[0]
	change(&rule)
	req, err := verify.SignRequest(rule, nil, "secret-of-test", verify.Request{
		Method: http.MethodPost, URL: address, Header: http.Header{}, Body: []byte(`{"a":1}`), Now: now,
	})
	require.NoError(t, err)
	return trial.Delivery{Provider: name, Secrets: []string{"secret-of-test"}, Request: req}
}
