package main

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/reconcile"
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
