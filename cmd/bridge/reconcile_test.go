package main

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/reconcile"
	"sfbridge/config/examples"
)

func TestReconcileTellsAPerson(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	report := reconcile.Report{
		Sweeps: []reconcile.Sweep{{
			Source: "stripe", Type: "charge.listed", Finished: true, Objects: 9, Missing: 1, Different: 1, Unmapped: 1, Drifting: 2, Repaired: 1,
			Drift: []reconcile.Drift{
				{Kind: reconcile.Different, Object: "Payment__c", Key: "ch_1", Fields: []reconcile.FieldDiff{{Field: "Amount__c", Provider: json.Number("2.50"), Salesforce: nil}}, Repair: "stripe:reconcile:ch_1:1:2"},
				{Kind: reconcile.Unmapped, ObjectID: "ch_2", Reason: "no route takes it"},
			},
		}, {Source: "stripe", Type: "refund.listed"}},
		Rows: reconcile.Rows{Found: []reconcile.Finding{{EventID: "stripe:1", RowID: "a00", What: "it stood in no queue", Healed: true}, {RowID: "a01", What: "due since noon"}}, Problem: "no access"},
	}
	require.NoError(t, showReconciled(environment{out: &out, err: &errs}, report))
	for _, want := range []string{
		"stripe  charge.listed  9        1        1          0      1         1 of 2",
		"stripe  refund.listed  0        0        0          0      0         0 of 0    not finished",
		"different Payment__c ch_1; Amount__c is null, the provider has 2.50; repair stripe:reconcile:ch_1:1:2",
		"unmapped ch_2 no route takes it",
		"stripe:1 a00: it stood in no queue, set right",
		"a01: due since noon, left as it is",
	} {
		assert.Contains(t, out.String(), want)
	}
	assert.Contains(t, errs.String(), "no access")
}

// A scheduled comparison that compares nothing must not look like one that found
// no drift.
func TestReconcileFailsWhereNothingIsCompared(t *testing.T) {
	t.Parallel()
	srv, cfg := org(t, string(examples.Stripe))
	vars := map[string]string{"TOKEN": srv.AccessToken(), "STRIPE_SECRET": "s"}
	r := bridge(t, vars, "", "reconcile", "--once", "--config", cfg)
	assert.Equal(t, exitFailed, r.code, r.err)
	assert.Contains(t, r.out, `"sweeps":[]`)
	assert.Contains(t, r.err, "no mapping has a reconcile key: nothing was compared")
	r = bridge(t, vars, "", "reconcile", "--once", "--config", cfg, "--source", "stripe")
	assert.Equal(t, exitFailed, r.code, r.err)
	assert.Contains(t, r.err, "the mapping of stripe has no reconcile key: nothing was compared")
}

// A comparison whose objects can't be placed among the source's events is
// refused before it runs.
func TestCheckAsksForTheOrderOfVersionedEvents(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "shop.yaml", `
source: shop
provider: generic
secrets: ["${S}"]
event: {id: $.id, type: $.type, object: $.order.id, order: {from: $.version, as: integer}}
reconcile: {list: https://api.example.com/orders, items: "$[*]", type: order.listed, into: $.order}
routes:
  - name: order
    records: [{object: Order__c, key: {field: Key__c, from: $.order.id}, fields: {Note__c: $.order.note}}]
`)
	cfg := write(t, dir, "bridge.yaml", `
salesforce: {login_url: https://acme.my.salesforce.com, auth: {flow: client_credentials, client_id: a, client_secret: "${C}"}}
mappings: [shop.yaml]
`)
	r := bridge(t, nil, "", "check", "--config", cfg)
	assert.Equal(t, exitFailed, r.code, r.out+r.err)
	assert.Contains(t, r.out+r.err, "has no order")
	assert.Contains(t, r.out+r.err, "shop.yaml:6")
}
