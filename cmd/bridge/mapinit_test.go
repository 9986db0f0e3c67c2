package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/config/examples"
)

func TestMapInitProposesAMappingThatRuns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	payload := write(t, dir, "charge.json", charge)
	file := filepath.Join(dir, "draft.yaml")
	r := bridge(t, nil, "", "map", "init", "--provider", "stripe", "--object", "Payment__c", "--payload", payload, "--out", file)
	require.Equal(t, exitOK, r.code, r.err)
	assert.Contains(t, r.err, "places to decide")
	r = bridge(t, nil, "", "map", "--mapping", file, "--payload", payload)
	assert.Equal(t, exitOK, r.code, r.err)
	assert.Contains(t, r.out, `"Amount__c":12.50`)

	r = bridge(t, nil, "", "map", "init", "--provider", "stripe", "--object", "Payment__c", "--payload", payload, "--out", file)
	assert.Equal(t, exitFailed, r.code)
	assert.Contains(t, r.err, "exists and is left alone")
}

func TestMapInitFitsTheOrg(t *testing.T) {
	t.Parallel()
	srv, cfg := org(t, string(examples.Stripe))
	vars := map[string]string{"TOKEN": srv.AccessToken()}
	dir := filepath.Dir(cfg)
	payload := write(t, dir, "charge.json", charge)
	r := bridge(t, vars, "", "map", "init", "--provider", "stripe", "--object", "Payment__c", "--payload", payload, "--org", "--config", cfg)
	require.Equal(t, exitOK, r.code, r.err)
	assert.Contains(t, r.out, "key: {field: Stripe_Charge_Id__c, from: $.data.object.id}\n        order: true\n")
	write(t, dir, "stripe.yaml", r.out)
	r = bridge(t, vars, "", "check", "--config", cfg, "--org")
	assert.Equal(t, exitOK, r.code, "what was proposed fits the org: "+r.out)

	require.NoError(t, os.Remove(filepath.Join(dir, "stripe.yaml")))
	r = bridge(t, vars, "", "map", "init", "--provider", "stripe", "--object", "Nothing__c", "--payload", payload, "--org", "--config", cfg)
	assert.Equal(t, exitFailed, r.code)
	assert.Contains(t, r.err, "the org has no Nothing__c, or this user can't see it")
}

func TestMapInitGuessesTheIdentityOfAGenericSender(t *testing.T) {
	t.Parallel()
	const payload = `{"id":"e1","topic":"order.paid","order":{"id":"o1","total":"12.50"}}`
	file := filepath.Join(t.TempDir(), "m.yaml")
	r := bridge(t, nil, payload, "--json", "map", "init", "--provider", "generic", "--object", "Order__c", "--payload", "-", "--out", file)
	require.Equal(t, exitOK, r.code, r.err)
	var draft struct {
		Mapping   string
		Decisions []string
	}
	require.NoError(t, json.Unmarshal([]byte(r.out), &draft))
	assert.Contains(t, draft.Mapping, "  type: $.topic   # decide: what happened\n  object: $.order.id   # decide:")
	assert.Contains(t, draft.Decisions, "type: what happened")
	written, err := os.ReadFile(file)
	require.NoError(t, err, "--out writes the file with --json too")
	assert.Equal(t, draft.Mapping, string(written))
	r = bridge(t, nil, payload, "map", "--mapping", file, "--payload", "-")
	assert.Equal(t, exitOK, r.code, r.err)
	assert.Contains(t, r.out, `"Total__c":12.50`)
}

func TestWhatStandsInHeadersIsAskedFor(t *testing.T) {
	t.Parallel()
	const payload = `{"action":"opened","issue":{"node_id":"I_1"}}`
	args := []string{"map", "init", "--provider", "github", "--object", "Case", "--payload", "-"}
	r := bridge(t, nil, payload, args...)
	assert.Equal(t, exitFailed, r.code)
	assert.Contains(t, r.err, "header.X-GitHub-Delivery: is missing: give the delivery's headers with --header 'Name: value'")
	r = bridge(t, nil, payload, append(args, "--header", "X-GitHub-Delivery: d1", "--header", "X-GitHub-Event: issues")...)
	assert.Equal(t, exitOK, r.code, r.err)
	assert.Contains(t, r.out, "when: {type: [issues.opened]}")
}

func TestMapInitAskedWrongly(t *testing.T) {
	t.Parallel()
	for says, args := range map[string][]string{
		"bridge map init needs --object": {"map", "init", "--provider", "stripe"},
		"needs --config":                 {"map", "init", "--provider", "stripe", "--object", "A__c", "--payload", "-", "--org"},
		"nobody":                         {"map", "init", "--provider", "nobody", "--object", "A__c", "--payload", "-"},
		"takes no arg":                   {"map", "init", "x"},
	} {
		r := bridge(t, nil, charge, args...)
		assert.Equal(t, exitUsage, r.code, says)
		assert.Contains(t, r.err, says)
	}
	r := bridge(t, nil, "not json", "map", "init", "--provider", "generic", "--object", "A__c", "--payload", "-")
	assert.Equal(t, exitFailed, r.code)
	r = bridge(t, nil, `{}`, "map", "init", "--provider", "stripe", "--object", "A__c", "--payload", "-")
	assert.Equal(t, exitFailed, r.code)
	assert.Contains(t, r.err, "no event id")
}
