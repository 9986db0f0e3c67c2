package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/app"
	"sfbridge/config"
	"sfbridge/config/examples"
	"sfbridge/salesforce/simorg"
)

// result is what a command line did.
type result struct {
	code     int
	out, err string
}

// bridge runs a command line with these environment variables.
func bridge(t *testing.T, vars map[string]string, stdin string, args ...string) result {
	t.Helper()
	var out, errs bytes.Buffer
	code := run(t.Context(), args, environment{
		in: strings.NewReader(stdin), out: &out, err: &errs,
		env: config.Env{
			Lookup:   func(name string) (string, bool) { v, ok := vars[name]; return v, ok },
			ReadFile: os.ReadFile,
		},
		now: func() time.Time { return time.Unix(1767225610, 0) }, user: "ada",
	})
	return result{code, out.String(), errs.String()}
}

func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	file := filepath.Join(dir, name)
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

const charge = `{"id":"evt_1","type":"charge.succeeded","created":1767225600,"data":{"object":{"id":"ch_1","amount":1250,` +
	`"currency":"usd","status":"succeeded","created":1767225600,"description":null,"customer":null}}}`

func TestWrongUse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ args, says string }{
		{"frobnicate", `unknown command "frobnicate"`},
		{"version extra", "takes no argument"},
		{"demo --events 0", "at least 1"},
		{"demo --nonsense", "bridge demo --help"},
		{"serve", "needs --config"},
		{"serve --config x.yaml --stop-within 0s", "1s to 10m"},
		{"show --config x", "takes one argument"},
		{"map --mapping x", "needs --payload"},
		{"verify --provider stripe --body -", "needs --secret-env, --secret-file or --secret"},
		{"verify --provider stripe --body - --secret-env NOT_SET", "NOT_SET"},
		{"verify --provider stripe --body - --secret-file /does/not/exist", "/does/not/exist"},
		{"send --url http://127.0.0.1:1 --provider generic --secret a --secret b --body -", "signs with one secret, 2 are given"},
		{"send --url http://127.0.0.1:1 --provider generic --body -", "needs --secret-env, --secret-file or --secret: the shared secret"},
		{"send --url 127.0.0.1:1/webhooks/s --provider generic --secret x --body -", "begin with http:// or https://"},
		{"verify --provider nobody --secret x --body -", "nobody"},
		{"send --url http://127.0.0.1:1 --provider nobody --secret x --body -", "nobody"},
		{"simorg --metadata /does/not/exist", "not a folder"},
		{"events --config x --status lost", "unknown status"},
		{"events --config x --since tomorrow", "write a time like"},
		{"map --mapping x --payload y --code FIELD", "--code chooses stored events: it goes with --review"},
		{"map --mapping x --review --config y", "needs --diff"},
		{"map --mapping x --diff y --review", "needs --config"},
		{"map --mapping x --diff y --review --config z --payload -", "leave --payload and --header out"},
		{"discard --config x --status review", "needs --reason"},
		{"accept --config x --status review", "needs --reason"},
		{"restore", "needs --config"},
	} {
		r := bridge(t, nil, "{}", strings.Fields(c.args)...)
		assert.Equal(t, exitUsage, r.code, c.args)
		assert.Contains(t, r.err, c.says, c.args)
	}
}

func TestRolesAreKnownByName(t *testing.T) {
	t.Parallel()
	roles, err := parseRoles([]string{"receive", "process", "effects", "reconcile", "retain"})
	require.NoError(t, err)
	assert.Equal(t, app.Roles(), roles)
	_, err = parseRoles([]string{"dance"})
	assert.ErrorContains(t, err, "the roles are")
}

func TestVersionIsJSONWithoutATerminal(t *testing.T) {
	t.Parallel()
	r := bridge(t, nil, "", "version")
	require.Equal(t, exitOK, r.code)
	assert.Contains(t, r.out, `"go":"go1`)
}

func TestVerify(t *testing.T) {
	t.Parallel()
	// Signed Stripe style, in the first second of 2026.
	const body = `{"id":"ev-77","title":"Gold tier 🥇","qty":2}`
	header := "Stripe-Signature: t=1767225600,v1=f0574039edc93ba2d0adb4a7b09769ca9612a1b0a4cbe8d565fe2989c3fa670a"
	r := bridge(t, nil, body, "verify", "--provider", "stripe", "--secret", "whsec_old_demo", "--header", header, "--body", "-")
	assert.Equal(t, exitOK, r.code, r.err)
	assert.Contains(t, r.out, `"valid":true,"reason":"ok"`)
	assert.Contains(t, r.out, `"event_id":"stripe:ev-77"`)
	r = bridge(t, nil, body, "verify", "--provider", "stripe", "--secret", "whsec_other", "--header", header, "--body", "-")
	assert.Equal(t, exitFailed, r.code)
	assert.Contains(t, r.out, `"valid":false,"reason":"bad_signature"`)
	r = bridge(t, nil, body, "verify", "--provider", "stripe", "--secret", "whsec_old_demo", "--header", header, "--body", "-", "--now", "1767229999")
	assert.Contains(t, r.out, `"reason":"too_old"`)
	r = bridge(t, nil, body, "verify", "--provider", "stripe", "--secret", "whsec_old_demo", "--header", header, "--body", "-", "--now", "0")
	assert.Contains(t, r.out, `"reason":"too_new"`, "the beginning of Unix time is a time too")
}

func TestVectors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	vector := `{"id":"v1","provider":"github","scheme":"github","secret":"demo-secret-two","method":"POST","headers":` +
		`{"X-Hub-Signature-256":"sha256=4840bd50869e6ec3f72dadee5f8f7a55a50aecb519c5a6184deea013bab28267"},` +
		`"body":"payload=%7B%22action%22%3A%22opened%22%2C%22n%22%3A7%7D","timestamp_now":1767225600,"valid":VALID}`
	good := write(t, dir, "good.json", "["+strings.Replace(vector, "VALID", "true", 1)+"]")
	bad := write(t, dir, "bad.json", "["+strings.Replace(vector, "VALID", "false", 1)+"]")
	r := bridge(t, nil, "", "verify", "--vectors", good)
	assert.Equal(t, result{exitOK, "1 passed, 0 failed\n", ""}, r)
	r = bridge(t, nil, "", "verify", "--vectors", bad)
	assert.Equal(t, result{exitFailed, `{"id":"v1","want":false,"got":true,"reason":"ok"}` + "\n0 passed, 1 failed\n", ""}, r)
}

func TestMapNeedsNoSecret(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := write(t, dir, "stripe.yaml", string(examples.Stripe))
	r := bridge(t, nil, charge, "map", "--mapping", file, "--payload", "-")
	require.Equal(t, exitOK, r.code, r.err)
	var report struct {
		Events []struct {
			EventID string `json:"event_id"`
			Order   int64  `json:"order"`
			Hash    string `json:"hash"`
			Outcome string `json:"outcome"`
			Records []struct {
				Object string         `json:"object"`
				Fields map[string]any `json:"fields"`
			} `json:"records"`
			Errors []any `json:"errors"`
		} `json:"events"`
	}
	require.NoError(t, json.Unmarshal([]byte(r.out), &report))
	require.Len(t, report.Events, 1)
	e := report.Events[0]
	assert.Equal(t, "stripe:evt_1", e.EventID)
	assert.Equal(t, int64(1767225600000), e.Order)
	assert.Equal(t, "apply", e.Outcome)
	assert.Regexp(t, "^[0-9a-f]{64}$", e.Hash)
	assert.Equal(t, "Payment__c", e.Records[0].Object)
	assert.Contains(t, r.out, `"Amount__c":12.50`)
	assert.NotNil(t, e.Errors)

	bad := strings.Replace(charge, `"usd"`, `"zzz"`, 1)
	r = bridge(t, nil, bad, "map", "--mapping", file, "--payload", "-")
	assert.Equal(t, exitFailed, r.code)
	assert.Contains(t, r.out, `"outcome":"review","records":[]`)
	assert.Contains(t, r.out, "Amount__c")
}

func TestCheckReportsEverythingAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "a.yaml", "source: a\nprovider: stripe\nsecretss: []\nroutes: []\n")
	write(t, dir, "b.yaml", "source: B\nprovider: stripe\n")
	cfg := write(t, dir, "bridge.yaml", "lissten: x\nmappings: ['[ab].yaml']\n")
	r := bridge(t, nil, "", "check", "--config", cfg)
	assert.Equal(t, exitFailed, r.code)
	assert.Contains(t, r.out, "lissten")
	cfg = write(t, dir, "bridge.yaml", "salesforce: {login_url: https://login.salesforce.com, auth: {flow: jwt, client_id: x, username: y, private_key_file: k}}\nmappings: ['[ab].yaml']\n")
	r = bridge(t, nil, "", "check", "--config", cfg)
	assert.Equal(t, exitFailed, r.code)
	for _, problem := range []string{"a.yaml:3:1", "secretss", "b.yaml"} {
		assert.Contains(t, r.out, problem)
	}
}

// org starts a simulated org and writes settings for it.
func org(t *testing.T, mapping string) (*simorg.Server, string) {
	t.Helper()
	srv, err := simorg.New(simorg.Config{Samples: true})
	require.NoError(t, err)
	require.NoError(t, srv.Start())
	t.Cleanup(func() { assert.NoError(t, srv.Close()) })
	dir := t.TempDir()
	write(t, dir, "stripe.yaml", mapping)
	return srv, write(t, dir, "bridge.yaml", `
salesforce:
  login_url: `+srv.URL()+`
  allow_http: true
  auth: {flow: session, instance_url: `+srv.URL()+`, access_token: "${TOKEN}"}
mappings: [stripe.yaml]
`)
}

func TestCheckAgainstTheOrg(t *testing.T) {
	t.Parallel()
	srv, cfg := org(t, string(examples.Stripe))
	vars := map[string]string{"TOKEN": srv.AccessToken()}
	r := bridge(t, vars, "", "check", "--config", cfg, "--org")
	assert.Equal(t, exitOK, r.code, r.out+r.err)
	assert.Contains(t, r.out, `"ok":true`)
	assert.Contains(t, r.out, `"compared_with":"`+srv.URL()+`"`)

	out := shown(t, func(env environment) error {
		return checkReport{OK: true, ComparedWith: "https://acme.my.salesforce.com", Sources: []checkedSource{{Source: "stripe", Routes: []string{"customer", "charge"}}}}.show(env)
	})
	assert.Contains(t, squeeze(out), "stripe customer, charge\nok, compared with the org at https://acme.my.salesforce.com\n")

	srv, cfg = org(t, strings.ReplaceAll(string(examples.Stripe), "Note__c:", "Notes__c:"))
	r = bridge(t, map[string]string{"TOKEN": srv.AccessToken()}, "", "check", "--config", cfg, "--org")
	assert.Equal(t, exitFailed, r.code)
	assert.Contains(t, r.out, "Payment__c.Notes__c")

	r = bridge(t, nil, "", "check", "--config", cfg, "--org")
	assert.Equal(t, exitFailed, r.code)
	assert.Contains(t, r.err, "TOKEN", "an unset secret is named")
}

func TestEventsOfAnEmptyOrg(t *testing.T) {
	t.Parallel()
	srv, cfg := org(t, string(examples.Stripe))
	vars := map[string]string{"TOKEN": srv.AccessToken()}
	assert.Equal(t, result{exitOK, "{\"events\":[]}\n", ""}, bridge(t, vars, "", "events", "--config", cfg))
	r := bridge(t, vars, "", "show", "--config", cfg, "stripe:evt_nobody")
	assert.Equal(t, exitFailed, r.code)
	assert.Contains(t, r.err, "stripe:evt_nobody")
	r = bridge(t, vars, "", "replay", "--config", cfg, "--status", "review", "--dry-run")
	assert.Equal(t, exitOK, r.code, r.err)
	assert.Contains(t, r.out, `"matched":0`)
}
