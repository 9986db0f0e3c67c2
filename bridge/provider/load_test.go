package provider_test

import (
	"net/http"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/identify"
	"sfbridge/bridge/provider"
	"sfbridge/bridge/verify"
)

var catalog = sync.OnceValues(provider.Load)

func load(t testing.TB, name string) *provider.Preset {
	t.Helper()
	catalog, err := catalog()
	require.NoError(t, err)
	preset, err := catalog.Preset(name)
	require.NoError(t, err)
	return preset
}

func TestCatalog(t *testing.T) {
	t.Parallel()
	catalog, err := provider.Load()
	require.NoError(t, err)
	assert.Subset(t, catalog.Names(), []string{"generic", "github", "shopify", "slack", "standard-webhooks", "stripe", "svix"})
	_, err = catalog.Preset("strip")
	assert.ErrorContains(t, err, `provider "strip" is unknown: did you mean "stripe"?`)
	_, err = catalog.Rule("nothing")
	assert.ErrorContains(t, err, `scheme "nothing" is unknown`)
	for _, name := range catalog.Names() {
		preset := load(t, name)
		if preset.Trust == verify.SignedBody && preset.Rules[0].Sig.JSON == "" && preset.Rules[0].Kind == verify.KindHMAC {
			assert.NotEmpty(t, provider.SecretHeaders(preset.Rules), name)
		}
	}
}

func TestEveryMistakeInAPresetIsReported(t *testing.T) {
	t.Parallel()
	table, err := verify.LoadTable()
	require.NoError(t, err)
	_, err = provider.Parse(fstest.MapFS{
		"presets/a.yaml": {Data: []byte(`
rules: [nonsense]
event: {id: ["$.id["], order: [{from: [$.x], as: fortnights}]}
`)},
		"presets/b.yaml": {Data: []byte(`
rules: [stripe]
params: {x: {need: true}}
handshakes:
  - {name: h, methods: [POST], when: {$.a: b}, answer: {status: 500, body: "no {$.[ placeholder"}}
  - {name: all, methods: [GET], do: nothing-known}
  - {name: both, methods: [POST], keeps: $.secret, do: confirm}
answer: {status: 404}
`)},
		"presets/c.yaml": {Data: []byte("rule: [stripe]")},
	}, table)
	for _, part := range []string{
		`preset a: `, `rule "nonsense" is no row`, `$.id[`, `as is "fortnights"`, "signs is", "deadline is missing", "redelivery is missing",
		`preset b: `, "params.x: about is missing", `"nothing-known" is nothing that can be done`, "handshake both: keeps or do, not both", "answer: status 404", `preset c: `, "rule", "status 500", "no {$.[ placeholder", "title is missing", "event.id is missing",
	} {
		assert.ErrorContains(t, err, part)
	}
}

func TestHandshakes(t *testing.T) {
	t.Parallel()
	slack := load(t, "slack")
	value := map[string]any{"type": "url_verification", "challenge": "3eZbrw1a", "token": "x"}
	reply, found := slack.Handshake(provider.Ask{Method: "POST", Value: value, Signed: true})
	assert.True(t, found)
	assert.Equal(t, "url-verification", reply.Name)
	assert.Equal(t, &provider.Answer{Status: 200, ContentType: "text/plain", Body: "3eZbrw1a"}, reply.Answer)

	none := func(why string, p *provider.Preset, ask provider.Ask) {
		_, found := p.Handshake(ask)
		assert.False(t, found, why)
	}
	none("not signed", slack, provider.Ask{Method: "POST", Value: value})
	none("another method", slack, provider.Ask{Method: "GET", Value: value, Signed: true})
	none("an event", slack, provider.Ask{Method: "POST", Value: map[string]any{"type": "event_callback"}, Signed: true})
	none("no text to repeat", slack, provider.Ask{Method: "POST", Value: map[string]any{"type": "url_verification", "challenge": []any{}}, Signed: true})

	github := load(t, "github")
	reply, found = github.Handshake(provider.Ask{Method: "POST", Header: http.Header{"X-Github-Event": {"ping"}}, Signed: true})
	assert.True(t, found)
	assert.Nil(t, reply.Answer, "answered as what is ignored")
}

func TestRulesWithPartsReplaced(t *testing.T) {
	t.Parallel()
	header, none := "X-Time", ""
	prefix := "sha256="
	for name, c := range map[string]struct {
		provider string
		override provider.RuleOverride
		want     func(t *testing.T, rules []verify.Rule)
		problem  string
	}{
		"nothing": {"standard-webhooks", provider.RuleOverride{}, func(t *testing.T, rules []verify.Rule) {
			assert.Len(t, rules, 2)
		}, ""},
		"generic as it comes": {"generic", provider.RuleOverride{}, func(t *testing.T, rules []verify.Rule) {
			assert.Equal(t, verify.Rule{
				Name: "generic-sha256-hex", Kind: "hmac", Hash: "sha256", Enc: "hex", Key: "raw", Signed: "{body}",
				Sig: verify.Signature{Headers: []string{"X-Signature"}},
			}, rules[0])
		}, ""},
		"generic, all of it": {"generic", provider.RuleOverride{
			Headers: []string{"X-Mine"}, Prefix: &prefix, Hash: "sha512", Encoding: "base64", Signed: "{ts}.{body}",
			TimestampHeader: &header, TimestampUnit: "ms", Tolerance: time.Minute,
		}, func(t *testing.T, rules []verify.Rule) {
			assert.Equal(t, verify.Signature{Headers: []string{"X-Mine"}, Prefix: "sha256="}, rules[0].Sig)
			assert.Equal(t, &verify.Timestamp{Header: "X-Time", Unit: "ms", Tolerance: 60}, rules[0].TS)
			assert.Equal(t, "sha512 base64 {ts}.{body}", rules[0].Hash+" "+rules[0].Enc+" "+rules[0].Signed)
		}, ""},
		"a timestamp that isn't signed": {"generic", provider.RuleOverride{TimestampHeader: &header}, nil, "not under the signature"},
		"a signed time without header":  {"generic", provider.RuleOverride{Signed: "{ts}.{body}"}, nil, "names no timestamp"},
		"unknown placeholder":           {"generic", provider.RuleOverride{Signed: "{bdy}"}, nil, "{bdy} is unknown"},
		"unknown hash":                  {"generic", provider.RuleOverride{Hash: "md5"}, nil, `hash "md5"`},
		"no timestamp any more": {"slack", provider.RuleOverride{TimestampHeader: &none, Signed: "{body}"}, func(t *testing.T, rules []verify.Rule) {
			assert.Nil(t, rules[0].TS)
		}, ""},
		"one scheme is described": {"standard-webhooks", provider.RuleOverride{Headers: []string{"x-sig"}}, func(t *testing.T, rules []verify.Rule) {
			assert.Len(t, rules, 1)
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			preset := load(t, c.provider)
			rules, err := preset.RulesWith(c.override)
			if c.problem != "" {
				assert.ErrorContains(t, err, c.problem)
				return
			}
			require.NoError(t, err)
			c.want(t, rules)
			assert.Equal(t, load(t, c.provider).Rules, preset.Rules, "the preset itself stays")
		})
	}
}

// TestIdentityOfEachPreset shows where each preset finds what.
func TestIdentityOfEachPreset(t *testing.T) {
	t.Parallel()
	const jan1 = int64(1767225600000)
	order := func(n int64) *int64 { return &n }
	for name, c := range map[string]struct {
		provider         string
		header           map[string]string
		body             string
		id, kind, object string
		order            *int64
	}{
		"stripe": {"stripe", nil, `{"id":"evt_1","type":"charge.succeeded","created":1767225600,"data":{"object":{"id":"ch_1"}}}`,
			"stripe:evt_1", "charge.succeeded", "ch_1", order(jan1)},
		"stripe thin": {"stripe", nil, `{"id":"evt_2","type":"v2.x","created":"2026-01-01T00:00:00.000Z","related_object":{"id":"o_1"}}`,
			"stripe:evt_2", "v2.x", "o_1", order(jan1)},
		"stripe without object": {"stripe", nil, `{"id":"evt_3","type":"x","created":1767225600}`, "stripe:evt_3", "x", "", order(jan1)},
		"shopify": {"shopify", map[string]string{"X-Shopify-Topic": "orders/updated", "X-Shopify-Webhook-Id": "b5:4%"},
			`{"id":820982911946154508,"updated_at":"2025-12-31T19:00:00-05:00"}`,
			"shopify:orders/updated:b5%3A4%25", "orders/updated", "820982911946154508", order(jan1)},
		"shopify, new headers": {"shopify", map[string]string{"Shopify-Topic": "app/uninstalled", "Shopify-Webhook-Id": "w", "Shopify-Triggered-At": "2026-01-01T00:00:00.000000000Z"},
			`{"admin_graphql_api_id":"gid://1"}`, "shopify:app/uninstalled:w", "app/uninstalled", "gid://1", order(jan1)},
		"github issue": {"github", map[string]string{"X-GitHub-Delivery": "d", "X-GitHub-Event": "issues"},
			`{"action":"labeled","issue":{"id":5,"updated_at":"2026-01-01T00:00:00Z"},"label":{"id":9},"repository":{"id":1}}`,
			"github:d", "issues.labeled", "5", order(jan1)},
		"github comment": {"github", map[string]string{"X-GitHub-Delivery": "d", "X-GitHub-Event": "issue_comment"},
			`{"action":"created","issue":{"id":5},"comment":{"id":6,"updated_at":"2026-01-01T00:00:00Z"}}`,
			"github:d", "issue_comment.created", "6", order(jan1)},
		"github push": {"github", map[string]string{"X-GitHub-Delivery": "d", "X-GitHub-Event": "push"},
			`{"ref":"refs/heads/main","repository":{"id":1,"pushed_at":1767225600}}`, "github:d", "push", "1:refs/heads/main", order(jan1)},
		"github, running check": {"github", map[string]string{"X-GitHub-Delivery": "d", "X-GitHub-Event": "check_run"},
			`{"action":"created","check_run":{"id":7,"started_at":"2026-01-01T00:00:00Z","completed_at":null}}`, "github:d", "check_run.created", "7", order(jan1)},
		"standard webhooks": {"standard-webhooks", map[string]string{"webhook-id": "msg_1", "webhook-timestamp": "1"},
			`{"type":"contact.updated","timestamp":"2026-01-01T00:00:00.000000Z","data":{"id":"c1"}}`,
			"standard-webhooks:msg_1", "contact.updated", "c1", order(jan1)},
		"svix":               {"svix", map[string]string{"svix-id": "msg_2"}, `{"eventType":"invoice.paid"}`, "svix:msg_2", "invoice.paid", "", nil},
		"svix with a number": {"svix", map[string]string{"svix-id": "msg_3"}, `{"type":"t","timestamp":1767225600,"data":{"id":7}}`, "svix:msg_3", "t", "7", order(jan1)},
		"slack": {"slack", nil, `{"type":"event_callback","event_id":"Ev1","event":{"type":"message","channel":"C1","ts":"1767225600.000100","event_ts":"1767225600.000100"}}`,
			"slack:Ev1", "message", "C1:1767225600.000100", order(jan1)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			preset := load(t, c.provider)
			identifier, err := identify.New(identify.Config{Source: c.provider, Identity: preset.Identity, Content: preset.Content})
			require.NoError(t, err)
			header := http.Header{}
			for name, value := range c.header {
				header.Set(name, value)
			}
			doc, err := identifier.Read(identify.Delivery{Header: header, Body: []byte(c.body), ReceivedAt: time.Unix(1, 0)})
			require.NoError(t, err)
			events, err := doc.Events()
			require.NoError(t, err)
			require.Len(t, events, 1)
			e := events[0].Event
			assert.Nil(t, events[0].Review)
			assert.Equal(t, []string{c.id, c.kind, c.object}, []string{e.ID, e.Type, e.ObjectID})
			assert.Equal(t, c.order, e.Order)
		})
	}
}

func TestSignatureHeadersAreNotKept(t *testing.T) {
	t.Parallel()
	rules, err := load(t, "generic").RulesWith(provider.RuleOverride{Headers: []string{"X-Proof"}})
	require.NoError(t, err)
	assert.NoError(t, provider.CheckStored(rules, pathsOf(t, "header.X-Topic", "$['x-proof']", "$$.a")))
	assert.ErrorContains(t, provider.CheckStored(rules, pathsOf(t, "header.x-proof")), "header.x-proof carries the signature")
}
