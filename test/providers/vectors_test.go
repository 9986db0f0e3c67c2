package providers

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/provider"
	"sfbridge/bridge/verify"
)

// unsentVectors bounds the vectors that no HTTP client can send as they are.
const unsentVectors = 40

// TestEveryVectorThroughTheRoute sends each recorded delivery to a source of
// its provider. Those that sign an address of their own are covered elsewhere:
// here the address is the source's.
func TestEveryVectorThroughTheRoute(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	catalog, err := provider.Load()
	require.NoError(t, err)
	sourceOf := map[string]string{}
	type sent struct {
		verify.Vector
		source string
	}
	var list []sent
	for _, v := range vectors(t) {
		preset, more, ok := presetOf(catalog, v)
		secrets := v.Secrets
		if len(secrets) == 0 {
			secrets = []string{v.Secret}
		}
		if v.Skip || !ok || slices.ContainsFunc(secrets, func(s string) bool { return strings.TrimSpace(s) == "" }) || v.URL != "" {
			continue
		}
		key := fmt.Sprint(preset, secrets, more)
		if sourceOf[key] == "" {
			name := fmt.Sprintf("s%d-%s", len(sourceOf), preset)
			sourceOf[key] = name
			w.source(name, preset, secrets, more)
		}
		list = append(list, sent{v, sourceOf[key]})
	}
	if !assert.Greater(t, len(list), 500) {
		return
	}
	w.start()
	unsent := 0
	for _, v := range list {
		req, err := v.Request()
		require.NoError(t, err)
		w.now.Store(v.Now)
		r, err := w.send(v.Method, v.source, req.Header, req.Body)
		switch {
		case err != nil:
			unsent++
		case v.Valid:
			// What is signed may still be no event: an empty body, no id, no JSON.
			assert.True(t, r.status < 300 || r.status == 400 || r.status == 415, "%s: %d %s", v.ID, r.status, r.body)
		default:
			assert.Equal(t, 401, r.status, "%s: %s", v.ID, r.body)
		}
	}
	assert.Less(t, unsent, unsentVectors)
	t.Logf("%d vectors sent to %d sources, %d could not be sent", len(list)-unsent, len(sourceOf), unsent)
}

// presetOf finds the preset that a vector is for, and what else its mapping
// says; ok is false for schemes that no preset uses.
func presetOf(catalog *provider.Catalog, v verify.Vector) (name, more string, ok bool) {
	for _, name := range catalog.Names() {
		preset, err := catalog.Preset(name)
		if err != nil || preset.Unsigned() {
			continue
		}
		if slices.ContainsFunc(preset.Rules, func(r verify.Rule) bool { return r.Name == v.Scheme }) &&
			(preset.Rules[0].Name == v.Scheme || strings.HasPrefix(name, v.Provider)) {
			return name, params(preset, v), true
		}
	}
	return "", "", false
}

func params(p *provider.Preset, v verify.Vector) string {
	var lines []string
	if p.Name == "generic" {
		lines = append(lines, "event: {id: $.id, type: $.event}")
	}
	switch p.Name {
	case "paypal":
		lines = append(lines, fmt.Sprintf("params: {webhook_id: %q}", v.Extra["webhook_id"]))
	case "meta":
		lines = append(lines, "params: {verify_token: t}")
	case "aws-sns":
		lines = append(lines, fmt.Sprintf("params: {topics: [%q]}", topicOf(v.Body)))
	}
	return strings.Join(lines, "\n")
}

func topicOf(body string) string {
	_, rest, _ := strings.Cut(body, `"TopicArn": "`)
	if rest == "" {
		_, rest, _ = strings.Cut(body, `"TopicArn":"`)
	}
	topic, _, _ := strings.Cut(rest, `"`)
	return topic
}
