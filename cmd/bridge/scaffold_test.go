package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/scaffold"
)

const orderMapping = `
source: shop
provider: stripe
processor: org
routes:
  - records: [{object: Order__c, key: {field: Ext__c, from: $.id}, order: true, fields: {A__c: $.a}}]
`

func TestScaffoldWritesAndLeavesAloneWhatExists(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, out := write(t, dir, "shop.yaml", orderMapping), filepath.Join(dir, "force-app")
	scaffolded := func(args ...string) scaffold.Plan {
		r := bridge(t, nil, "", append([]string{"scaffold", "--mapping", file, "--out", out}, args...)...)
		require.Equal(t, exitOK, r.code, r.err)
		var plan scaffold.Plan
		require.NoError(t, json.Unmarshal([]byte(r.out), &plan))
		return plan
	}
	require.Len(t, scaffolded().Files, 6)
	key := filepath.Join(out, "objects", "Order__c", "fields", "Ext__c.field-meta.xml")
	text, err := os.ReadFile(key)
	require.NoError(t, err)
	mine := []byte(`<CustomField xmlns="http://soap.sforce.com/2006/04/metadata"><fullName>Ext__c</fullName><type>Text</type></CustomField>`)
	require.NoError(t, os.WriteFile(key, mine, 0o600))

	assert.Equal(t, scaffold.Differs, scaffolded().Files[0].State)
	left, err := os.ReadFile(key)
	require.NoError(t, err)
	assert.Equal(t, string(mine), string(left))

	assert.Equal(t, scaffold.Changed, scaffolded("--write").Files[0].State)
	changed, err := os.ReadFile(key)
	require.NoError(t, err)
	assert.Contains(t, string(changed), "<unique>true</unique>")
	assert.NotEqual(t, string(text), string(changed), "the rest of it stays as it was")
	assert.Equal(t, scaffold.Unchanged, scaffolded().Files[0].State)
}

func TestExportWritesTheRecord(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, out := write(t, dir, "shop.yaml", orderMapping), filepath.Join(dir, "customMetadata")
	printed := bridge(t, nil, "", "export", "--mapping", file)
	require.Equal(t, exitOK, printed.code, printed.err)
	assert.Empty(t, printed.err)
	r := bridge(t, nil, "", "export", "--mapping", file, "--out", out)
	require.Equal(t, exitOK, r.code, r.err)
	data, err := os.ReadFile(filepath.Join(out, "Inbound_Mapping.shop.md-meta.xml"))
	require.NoError(t, err)
	assert.Equal(t, printed.out, string(data))
}

func TestExportSaysWhatTheOrgLeavesAloneOrCantRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	own := write(t, dir, "own.yaml", "source: own\nprovider: stripe\nroutes:\n  - records: [{object: A__c, key: {field: E__c, from: $.id}, fields: {A__c: $.a}}]\n")
	r := bridge(t, nil, "", "export", "--mapping", own)
	assert.Equal(t, exitOK, r.code)
	assert.Contains(t, r.err, "write processor: org")
	forms := write(t, dir, "forms.yaml", "source: forms\nprovider: twilio\nroutes:\n  - records: [{object: A__c, key: {field: E__c, from: $.id}, fields: {A__c: $.a}}]\n")
	r = bridge(t, nil, "", "export", "--mapping", forms)
	assert.Equal(t, exitFailed, r.code)
	assert.Empty(t, r.out)
	assert.Contains(t, r.err, "provider twilio sends forms")
	r = bridge(t, nil, "", "export", "--out", dir, "--mapping", own, "--mapping", own)
	assert.Equal(t, exitFailed, r.code)
	assert.Contains(t, r.err, "one file a source")
}

func TestWrongUseOfScaffoldAndExport(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"scaffold"}, {"scaffold", "--mapping", "a", "--config", "b"}, {"export"}, {"export", "--config", "b"},
		{"export", "--mapping", "a", "--mapping", "b"},
	} {
		r := bridge(t, nil, "", args...)
		assert.Equal(t, exitUsage, r.code, args)
		assert.Contains(t, r.err, "needs --", args)
	}
}
