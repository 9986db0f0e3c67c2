package salesforce_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/salesforce"
)

func rowsOf(n int) []salesforce.Row {
	rows := make([]salesforce.Row, n)
	for i := range rows {
		rows[i] = payment(fmt.Sprintf("ch_%d", i), "1")
	}
	return rows
}

// saveEverything answers collections with a success per record or id.
func saveEverything(w http.ResponseWriter, r *http.Request, body string) {
	n := strings.Count(body, `"attributes"`)
	if r.Method == http.MethodDelete {
		n = len(strings.Split(r.URL.Query().Get("ids"), ","))
	}
	results := make([]string, n)
	for i := range results {
		results[i] = fmt.Sprintf(`{"id":"a0100000000%04dAAA","success":true,"errors":[]}`, i)
	}
	reply(w, 200, "["+strings.Join(results, ",")+"]")
}

func newSavingOrg(t *testing.T) *org {
	t.Helper()
	var o *org
	o = newOrg(t, func(w http.ResponseWriter, r *http.Request, n int) {
		saveEverything(w, r, o.requests()[n-1].Body)
	})
	return o
}

func TestCollectionsOnTheWire(t *testing.T) {
	t.Parallel()
	o := newSavingOrg(t)
	c, ctx := newClient(t, o), t.Context()
	note := salesforce.Row{Object: "Note__c", ID: "a02000000000001AAA", Fields: map[string]any{"Text__c": nil}}

	_, err := c.InsertAll(ctx, []salesforce.Row{payment("ch_1", "12.50")}, false)
	require.NoError(t, err)
	_, err = c.UpdateAll(ctx, []salesforce.Row{note}, true)
	require.NoError(t, err)
	_, err = c.UpsertAll(ctx, chargeKey, []salesforce.Row{payment("ch_1", "12.50")}, false)
	require.NoError(t, err)
	_, err = c.DeleteAll(ctx, []string{"a02000000000001AAA", "a02000000000002AAA"}, false)
	require.NoError(t, err)

	got := o.requests()
	one := `{"attributes":{"type":"Payment__c"},"Amount__c":12.50,"Stripe_Charge_Id__c":"ch_1"}`
	assert.Equal(t, "POST /services/data/v65.0/composite/sobjects", got[0].Method+" "+got[0].URI)
	assert.Equal(t, `{"allOrNone":false,"records":[`+one+`]}`, got[0].Body)
	assert.Equal(t, "PATCH /services/data/v65.0/composite/sobjects", got[1].Method+" "+got[1].URI)
	assert.Equal(t, `{"allOrNone":true,"records":[{"attributes":{"type":"Note__c"},"id":"a02000000000001AAA","Text__c":null}]}`, got[1].Body)
	assert.Equal(t, "PATCH /services/data/v65.0/composite/sobjects/Payment__c/Stripe_Charge_Id__c", got[2].Method+" "+got[2].URI)
	assert.Equal(t, `{"allOrNone":false,"records":[`+one+`]}`, got[2].Body)
	assert.Equal(t, "DELETE /services/data/v65.0/composite/sobjects?ids=a02000000000001AAA,a02000000000002AAA&allOrNone=false",
		got[3].Method+" "+got[3].URI)
	assert.Empty(t, got[3].Body)
}

func TestCollectionsAreCutToWhatSalesforceTakes(t *testing.T) {
	t.Parallel()
	mixed := func(n int) []salesforce.Row {
		rows := make([]salesforce.Row, n)
		for i := range rows {
			rows[i] = salesforce.Row{Object: fmt.Sprintf("Object%d__c", i), Fields: map[string]any{"A__c": "x"}}
		}
		return rows
	}
	cases := []struct {
		name string
		rows []salesforce.Row
		want []int
	}{
		{"none", nil, nil},
		{"one", rowsOf(1), []int{1}},
		{"full", rowsOf(200), []int{200}},
		{"one too many", rowsOf(201), []int{200, 1}},
		{"three calls", rowsOf(401), []int{200, 200, 1}},
		{"ten runs of objects", mixed(10), []int{10}},
		{"eleven runs of objects", mixed(11), []int{10, 1}},
		{"a run continues", append(append(mixed(9), rowsOf(100)...), mixed(1)...), []int{109, 1}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := newSavingOrg(t)
			results, err := newClient(t, o).InsertAll(t.Context(), c.rows, false)
			require.NoError(t, err)
			assert.Len(t, results, len(c.rows))
			var sizes []int
			for _, s := range o.requests() {
				sizes = append(sizes, strings.Count(s.Body, `"attributes"`))
			}
			assert.Equal(t, c.want, sizes)
		})
	}
}

func TestResultsStandAtTheirRow(t *testing.T) {
	t.Parallel()
	o := newOrg(t, says(200, `[
		{"id":"a01000000000001AAA","success":true,"errors":[],"created":true},
		{"id":null,"success":false,"errors":[
			{"statusCode":"REQUIRED_FIELD_MISSING","message":"Required fields are missing: [Name]","fields":["Name"]},
			{"statusCode":"STRING_TOO_LONG","message":"too long","fields":["Note__c"]}]},
		{"id":"a01000000000003AAA","success":true,"errors":[],"created":false},
		{"success":false,"errors":[{"statusCode":"UNABLE_TO_LOCK_ROW","message":"unable to obtain exclusive access to this record","fields":[]}]},
		{"success":false,"errors":[]}]`))
	results, err := newClient(t, o).UpsertAll(t.Context(), chargeKey, rowsOf(5), false)
	require.NoError(t, err)
	require.Len(t, results, 5)
	assert.Equal(t, "a01000000000001AAA", results[0].ID)
	assert.True(t, *results[0].Created)
	assert.False(t, *results[2].Created)
	require.Len(t, results[1].Errors, 2, "both texts are kept")
	assert.Equal(t, salesforce.ClassData, results[1].Class())
	assert.Equal(t, []string{"Name"}, results[1].Fault().Fields)
	assert.True(t, results[3].Fault().Lock())
	assert.Equal(t, salesforce.ClassRetryable, results[4].Class())
	assert.Nil(t, results[3].Created)
}

func TestResultsAreNeverShifted(t *testing.T) {
	t.Parallel()
	four := strings.TrimSuffix(strings.Repeat(`{"id":"a01000000000001AAA","success":true,"errors":[]},`, 4), ",")
	o := newOrg(t, says(200, "["+four+"]"))
	results, err := newClient(t, o).UpsertAll(t.Context(), chargeKey, rowsOf(5), false)
	assert.Equal(t, salesforce.ClassUnknownOutcome, asError(t, err).Class)
	require.Len(t, results, 5)
	for _, r := range results {
		assert.Equal(t, salesforce.ClassUnknownOutcome, r.Class())
	}
}

func TestACallThatFailsLeavesTheLaterOnesUnsent(t *testing.T) {
	t.Parallel()
	var o *org
	o = newOrg(t, func(w http.ResponseWriter, r *http.Request, n int) {
		if n == 2 {
			reply(w, 403, `[{"message":"TotalRequests Limit exceeded.","errorCode":"REQUEST_LIMIT_EXCEEDED"}]`)
			return
		}
		saveEverything(w, r, o.requests()[n-1].Body)
	})
	results, err := newClient(t, o).InsertAll(t.Context(), rowsOf(500), false)
	assert.Equal(t, salesforce.ClassLimit, asError(t, err).Class)
	require.Len(t, results, 500)
	assert.True(t, results[199].Success)
	assert.Equal(t, salesforce.ClassLimit, results[200].Class())
	assert.Equal(t, salesforce.ClassRetryable, results[400].Class())
	assert.Len(t, o.requests(), 2)
}

func TestUpsertRaceIsNoDuplicate(t *testing.T) {
	t.Parallel()
	body := `[{"success":false,"errors":[{"statusCode":"DUPLICATE_VALUE","message":` +
		`"duplicate value found: Stripe_Charge_Id__c duplicates value on record with id: a015f00000AbCdE","fields":[]}]}]`
	o := newOrg(t, says(200, body))
	c := newClient(t, o)
	results, err := c.UpsertAll(t.Context(), chargeKey, oneRow(), false)
	require.NoError(t, err)
	assert.Equal(t, salesforce.ClassRetryable, results[0].Class())
	results, err = c.InsertAll(t.Context(), oneRow(), false)
	require.NoError(t, err)
	assert.Equal(t, salesforce.ClassDuplicate, results[0].Class())
}

func TestRolledBackNeighboursAreCollateral(t *testing.T) {
	t.Parallel()
	o := newOrg(t, says(200, `[
		{"id":"a035f000009aaaaAAA","success":false,"errors":[{"statusCode":"ALL_OR_NONE_OPERATION_ROLLED_BACK","message":"Record rolled back","fields":[]}]},
		{"success":false,"errors":[{"statusCode":"REQUIRED_FIELD_MISSING","message":"Required fields are missing: [Name]","fields":["Name"]}]}]`))
	results, err := newClient(t, o).InsertAll(t.Context(), rowsOf(2), true)
	require.NoError(t, err)
	assert.False(t, results[0].Success, "an id beside success:false means nothing")
	assert.Equal(t, salesforce.ClassCollateral, results[0].Class())
	assert.Equal(t, salesforce.ClassData, results[1].Class())
}

func TestDeletedRowsCountAsDeleted(t *testing.T) {
	t.Parallel()
	o := newOrg(t, says(200, `[{"id":"a02000000000001AAA","success":true,"errors":[]},
		{"success":false,"errors":[{"statusCode":"ENTITY_IS_DELETED","message":"entity is deleted","fields":[]}]},
		{"success":false,"errors":[{"statusCode":"INSUFFICIENT_ACCESS_OR_READONLY","message":"no","fields":[]}]}]`))
	results, err := newClient(t, o).DeleteAll(t.Context(), []string{"a02000000000001AAA", "a02000000000002AAA", "a02000000000003AAA"}, false)
	require.NoError(t, err)
	assert.True(t, results[1].Success)
	assert.Equal(t, "a02000000000002AAA", results[1].ID)
	assert.Equal(t, salesforce.ClassConfiguration, results[2].Class())
}

func TestMistakesAreToldWithoutACall(t *testing.T) {
	t.Parallel()
	o := newOrg(t, says(200, "[]"))
	c, ctx := newClient(t, o), t.Context()
	for name, call := range map[string]func() error{
		"empty key": func() error {
			_, err := c.UpsertAll(ctx, chargeKey, []salesforce.Row{payment("", "1")}, false)
			return err
		},
		"missing key": func() error {
			_, err := c.UpsertAll(ctx, "Other__c", oneRow(), false)
			return err
		},
		"two objects": func() error {
			rows := append(oneRow(), salesforce.Row{Object: "X__c", Fields: map[string]any{chargeKey: "x"}})
			_, err := c.UpsertAll(ctx, chargeKey, rows, false)
			return err
		},
		"Id in an upsert": func() error {
			row := payment("x", "1")
			row.ID = "a02000000000001AAA"
			_, err := c.UpsertAll(ctx, chargeKey, []salesforce.Row{row}, false)
			return err
		},
		"update without Id": func() error { _, err := c.UpdateAll(ctx, oneRow(), false); return err },
		"delete of no Id":   func() error { _, err := c.DeleteAll(ctx, []string{"a,b"}, false); return err },
		"bad number": func() error {
			_, err := c.InsertAll(ctx, []salesforce.Row{payment("x", json.Number("1,5"))}, false)
			return err
		},
		"value that can't be sent": func() error {
			_, err := c.Insert(ctx, salesforce.Row{Object: "X__c", Fields: map[string]any{"A__c": make(chan int)}})
			return err
		},
	} {
		assert.Equal(t, salesforce.ClassData, asError(t, call()).Class, name)
	}
	assert.Empty(t, o.requests())
}
