package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/store"
	"sfbridge/salesforce/simorg"
)

const routes = "\nroutes: [{name: a, when: {type: \"*\"}, records: [{object: X__c, key: {field: K__c, from: $.id}, fields: {N__c: {value: x}}}]}]\n"

// providersConfig writes settings and one mapping per text.
func providersConfig(t *testing.T, org string, mappings ...string) (file, dir string) {
	t.Helper()
	dir = t.TempDir()
	for i, m := range mappings {
		write(t, dir, fmt.Sprintf("m%d.yaml", i), m+routes)
	}
	return write(t, dir, "bridge.yml", fmt.Sprintf(`
public_url: https://hooks.example.com
salesforce: {login_url: %q, allow_http: true, auth: {flow: client_credentials, client_id: sim, client_secret: "${S}"}}
store: {dir: ./data}
mappings: ["m*.yaml"]
`, org)), dir
}

func TestSources(t *testing.T) {
	t.Parallel()
	org, err := simorg.New(simorg.Config{})
	require.NoError(t, err)
	require.NoError(t, org.Start())
	t.Cleanup(func() { assert.NoError(t, org.Close()) })
	file, dir := providersConfig(t, org.URL(),
		"source: todo\nprovider: asana", "source: pay\nprovider: stripe\nsecrets: [\"${A}\"]", "source: old\nprovider: mollie-classic",
		"source: queue\nprovider: aws-sns\nparams: {topics: [\"arn:x\"]}", "source: talk\nprovider: slack\nsecrets: [\"${A}\"]")
	vars := map[string]string{"S": "sim"}
	type listed struct {
		Sources []listedSource `json:"sources"`
	}
	list := func(args ...string) map[string]listedSource {
		r := bridge(t, vars, "", append([]string{"sources", "--config", file}, args...)...)
		require.Equal(t, 0, r.code, r.err)
		var l listed
		require.NoError(t, json.Unmarshal([]byte(r.out), &l))
		all := map[string]listedSource{}
		for _, s := range l.Sources {
			all[s.Source] = s
		}
		return all
	}
	all := list()
	assert.Len(t, all, 5)
	assert.Equal(t, "https://hooks.example.com/webhooks/todo", all["todo"].URL)
	assert.Equal(t, []string{"hook-secret"}, all["todo"].Handshakes)
	assert.Equal(t, []string{"url-verification"}, all["talk"].Handshakes)
	assert.Equal(t, []string{"awaited", "configured", "none", "fetched"},
		[]string{all["todo"].Secret, all["pay"].Secret, all["old"].Secret, all["queue"].Secret})
	assert.Equal(t, "Unsigned", all["old"].Trust)
	assert.Nil(t, all["pay"].Last)

	require.NoError(t, store.OpenSecrets(filepath.Join(dir, "data")).Keep("todo", "brought-secret", time.Unix(1, 0)))
	first, again := list("--source", "todo", "--offline"), list("--source", "todo", "--offline")
	assert.Equal(t, "brought-secret", first["todo"].NewSecret)
	assert.Empty(t, again["todo"].NewSecret, "it is shown once")
	assert.Equal(t, "kept", again["todo"].Secret)
	assert.Empty(t, again["todo"].Handshakes)
	assert.Equal(t, "awaited", list("--forget", "todo", "--offline")["todo"].Secret)

	for name, why := range map[string]string{
		"pay":  "pay has its secret from its mapping; only a secret from a handshake can be forgotten",
		"todo": "todo keeps no secret: there is nothing to forget",
		"old":  "old keeps no secret",
	} {
		r := bridge(t, vars, "", "sources", "--config", file, "--forget", name, "--offline")
		assert.Equal(t, exitUsage, r.code, name)
		assert.Contains(t, r.err, why)
	}

	assert.Equal(t, 2, bridge(t, vars, "", "sources", "--config", file, "--source", "none").code)
	r := bridge(t, nil, "", "sources", "--config", file)
	assert.Equal(t, 0, r.code, "the list is of use without the org")
	assert.Contains(t, r.err, "the last deliveries are not known")
}

func TestCheckOfProviders(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ mapping, problem, warning string }{
		"SNS without topics":      {"source: a\nprovider: aws-sns", "params.topics is missing: it is the ARNs of the topics", ""},
		"SNS pinned":              {"source: a\nprovider: aws-sns\nsecrets: [\"${A}\"]", "", "params.topics is left out: anybody with an AWS account"},
		"PayPal without webhook":  {"source: a\nprovider: paypal", "params.webhook_id is missing", ""},
		"Meta without token":      {"source: a\nprovider: meta\nsecrets: [\"${A}\"]", "", "params.verify_token is left out: the webhook can't be set up"},
		"unknown param":           {"source: a\nprovider: stripe\nsecrets: [\"${A}\"]\nparams: {x: 1}", ":4:13: params.x: is nothing that stripe knows: leave it out", ""},
		"wrong value":             {"source: a\nprovider: plaid\nsecrets: [\"${A}\"]\nparams: {environment: test}", "params.environment: is none of production, sandbox", ""},
		"list for one":            {"source: a\nprovider: paypal\nparams: {webhook_id: [a, b]}", "params.webhook_id: takes one value", ""},
		"no secret":               {"source: a\nprovider: stripe", ":1:1: secrets is missing: give the signing secret", ""},
		"unknown provider":        {"source: a\nprovider: strpie\nsecrets: [\"${A}\"]", `:2:11: provider: provider "strpie" is unknown: did you mean "stripe"?`, ""},
		"no credentials":          {"source: a\nprovider: plaid", "secrets is missing: give the client_id:secret", ""},
		"secret for nothing":      {"source: a\nprovider: mollie-classic\nsecrets: [\"${A}\"]", "nothing of this source is signed", ""},
		"form in the org":         {"source: a\nprovider: twilio\nsecrets: [\"${A}\"]\nprocessor: org", "the Apex package reads JSON", ""},
		"unsigned":                {"source: a\nprovider: mollie-classic", "", ":2:11: provider: deliveries of mollie-classic are Unsigned: anybody can make them up"},
		"unsigned by choice":      {"source: a\nprovider: jira\nparams: {accept_unsigned: true}", "", "Unsigned: anybody"},
		"partly signed":           {"source: a\nprovider: mailgun\nsecrets: [\"${A}\"]", "", "SignedPartial: the signature covers only a part"},
		"caller":                  {"source: a\nprovider: okta\nsecrets: [\"${A}\"]", "", "AuthenticatedCaller: a credential proves who calls"},
		"signed":                  {"source: a\nprovider: hubspot\nsecrets: [\"${A}\"]", "", ""},
		"loaded first":            {"source: a\nprovider: mollie-classic\nauthority: {get: \"https://api.mollie.com/v2/payments/{$.id}\", auth: \"Bearer ${M}\", into: $.object}", "", ""},
		"fetched":                 {"source: a\nprovider: aws-sns\nparams: {topics: [\"arn:x\"]}", "", "SignedPartial"},
		"kept, without a secret":  {"source: a\nprovider: notion", "", ""},
		"accept what can't be so": {"source: a\nprovider: stripe\nparams: {accept_unsigned: true}", "params.accept_unsigned: is nothing that stripe knows", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file, _ := providersConfig(t, "http://127.0.0.1:1", c.mapping)
			r := bridge(t, nil, "", "check", "--config", file)
			var report checkReport
			require.NoError(t, json.Unmarshal([]byte(r.out), &report), r.err)
			problems, warnings := fmt.Sprint(report.Problems), fmt.Sprint(report.Warnings)
			assert.Equal(t, c.problem == "", report.OK, problems)
			assert.Contains(t, problems, c.problem)
			assert.Contains(t, warnings, c.warning)
			if c.warning == "" {
				assert.NotContains(t, warnings, "authority")
			}
		})
	}
}
