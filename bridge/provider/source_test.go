package provider_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sfbridge/bridge/identify"
	"sfbridge/bridge/provider"
	"sfbridge/bridge/verify"
	"sfbridge/bridge/verify/special"
	"sfbridge/mapping/path"
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
