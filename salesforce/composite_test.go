package salesforce_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/salesforce"
)

func lockRow(name string) salesforce.Row {
	return salesforce.Row{Object: "Bridge_Queue__c", Fields: map[string]any{"Name__c": name, "Touched__c": "2026-11-30T00:00:00.000Z"}}
}

// sub makes one answer inside a composite.
func sub(ref string, status int, body string) string {
	return fmt.Sprintf(`{"body":%s,"httpHeaders":{},"httpStatusCode":%d,"referenceId":%q}`, body, status, ref)
}

func composite(subs ...string) string {
	return `{"compositeResponse":[` + strings.Join(subs, ",") + `]}`
}

func TestCompositeOnTheWire(t *testing.T) {
	t.Parallel()
	id := "a02000000000001AAA"
	o := newOrg(t, says(200, composite(
		sub("lock", 200, `{"id":"a0Q000000000001AAA","success":true,"errors":[],"created":false}`),
		sub("pay", 200, `[{"id":"a01000000000001AAA","success":true,"errors":[],"created":true}]`),
		sub("event", 204, `null`),
		sub("new", 201, `{"id":"a03000000000001AAA","success":true,"errors":[]}`),
		sub("child", 204, `null`),
		sub("gone", 204, `null`),
		sub("due", 200, pageOf("/services/data/v65.0/query/01g-2", "x")),
	)))
	subs, err := newClient(t, o).Composite(t.Context(), []salesforce.Subrequest{
		salesforce.UpsertRow("lock", "Name__c", lockRow("B00")),
		salesforce.UpsertRows("pay", chargeKey, oneRow(), true),
		salesforce.UpdateRow("event", salesforce.Row{Object: "Inbound_Event__c", ID: id, Fields: map[string]any{"Status__c": "Completed"}}),
		salesforce.InsertRow("new", salesforce.Row{Object: "Note__c", Fields: map[string]any{"Event__c": "@{event.id}"}}),
		salesforce.UpdateRow("child", salesforce.Row{Object: "Note__c", ID: "@{new.id}", Fields: map[string]any{"A__c": true}}),
		salesforce.DeleteRow("gone", "Note__c", id),
		salesforce.QueryRows("due", "SELECT Id FROM Inbound_Event__c WHERE Queue__c = 'B+'"),
	}, true)
	require.NoError(t, err)
	require.Len(t, subs, 7)
	assert.True(t, salesforce.Committed(subs))
	assert.Empty(t, salesforce.Culprits(subs))
	assert.False(t, *subs[0].Results[0].Created)
	assert.True(t, *subs[1].Results[0].Created)
	assert.Equal(t, id, subs[2].Results[0].ID)
	assert.True(t, *subs[3].Results[0].Created)
	assert.Equal(t, "x", subs[6].Records[0].ID())
	assert.Equal(t, "/services/data/v65.0/query/01g-2", subs[6].Next)
	assert.Equal(t, 99, subs[6].Total)

	assert.Equal(t, "POST /services/data/v65.0/composite", o.requests()[0].Method+" "+o.requests()[0].URI)
	var sent struct {
		AllOrNone bool `json:"allOrNone"`
		Collate   bool `json:"collateSubrequests"`
		Requests  []struct {
			Method, URL, ReferenceID string
			Headers                  map[string]string `json:"httpHeaders"`
			Body                     json.RawMessage
		} `json:"compositeRequest"`
	}
	require.NoError(t, json.Unmarshal([]byte(o.requests()[0].Body), &sent))
	assert.Contains(t, o.requests()[0].Body, `"collateSubrequests":false`)
	assert.True(t, sent.AllOrNone)
	base := "/services/data/v65.0/"
	for i, want := range []string{
		"PATCH " + base + "sobjects/Bridge_Queue__c/Name__c/B00",
		"PATCH " + base + "composite/sobjects/Payment__c/Stripe_Charge_Id__c",
		"PATCH " + base + "sobjects/Inbound_Event__c/" + id,
		"POST " + base + "sobjects/Note__c",
		"PATCH " + base + "sobjects/Note__c/@{new.id}",
		"DELETE " + base + "sobjects/Note__c/" + id,
		"GET " + base + "query?q=SELECT+Id+FROM+Inbound_Event__c+WHERE+Queue__c+%3D+%27B%2B%27",
	} {
		assert.Equal(t, want, sent.Requests[i].Method+" "+sent.Requests[i].URL)
	}
	assert.JSONEq(t, `{"Touched__c":"2026-11-30T00:00:00.000Z"}`, string(sent.Requests[0].Body))
	assert.Contains(t, string(sent.Requests[1].Body), `"allOrNone":true`)
	assert.Equal(t, "FALSE", sent.Requests[1].Headers["Sforce-Auto-Assign"])
	assert.Empty(t, sent.Requests[5].Body)
}

const (
	rolledBackRow = `{"success":false,"errors":[{"statusCode":"ALL_OR_NONE_OPERATION_ROLLED_BACK","message":"Record rolled back","fields":[]}]}`
	halted        = `[{"errorCode":"PROCESSING_HALTED","message":"The transaction was rolled back since another operation in the same transaction failed."}]`
	goodRow       = `{"id":"a01000000000001AAA","success":true,"errors":[]}`
)

func TestAFailedTransactionNamesItsCulprits(t *testing.T) {
	t.Parallel()
	moved := `{"success":false,"errors":[{"statusCode":"FIELD_CUSTOM_VALIDATION_EXCEPTION","message":"MOVED: read again","fields":["Source_Prior__c"]}]}`
	cases := []struct {
		name string
		body string
		want []salesforce.Culprit
	}{
		{"a row of a collection", composite(sub("lock", 400, halted), sub("rows", 400, "["+rolledBackRow+","+moved+"]")),
			[]salesforce.Culprit{{Sub: 1, Row: 1}}},
		{"rolled-back rows that look good", composite(
			sub("lock", 400, `[{"errorCode":"UNABLE_TO_LOCK_ROW","message":"unable to obtain exclusive access to this record"}]`),
			sub("rows", 400, "["+goodRow+","+goodRow+"]")),
			[]salesforce.Culprit{{Sub: 0, Row: -1}}},
		{"a collection refused as a whole", composite(sub("lock", 400, halted),
			sub("rows", 400, `[{"errorCode":"INVALID_FIELD","message":"No such column 'Foo__c' on sobject of type Payment__c"}]`)),
			[]salesforce.Culprit{{Sub: 1, Row: -1}}},
		{"a collection refused with as many errors as rows", composite(sub("lock", 400, halted),
			sub("rows", 400, `[{"errorCode":"JSON_PARSER_ERROR","message":"a"},{"errorCode":"JSON_PARSER_ERROR","message":"b"}]`)),
			[]salesforce.Culprit{{Sub: 1, Row: -1}, {Sub: 1, Row: -1}}},
		{"nobody", composite(sub("lock", 400, halted), sub("rows", 400, halted)), nil},
		{"nobody, rows as good", composite(sub("lock", 400, halted), sub("rows", 400, "["+goodRow+","+goodRow+"]")), nil},
		{"good statuses, bad row", composite(sub("lock", 204, "null"), sub("rows", 200, "["+moved+","+goodRow+"]")),
			[]salesforce.Culprit{{Sub: 1, Row: 0}}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := newOrg(t, says(200, c.body))
			subs, err := newClient(t, o).Composite(t.Context(), []salesforce.Subrequest{
				salesforce.UpsertRow("lock", "Name__c", lockRow("B00")),
				salesforce.UpsertRows("rows", chargeKey, rowsOf(2), false),
			}, true)
			require.NoError(t, err)
			assert.False(t, salesforce.Committed(subs))
			got := salesforce.Culprits(subs)
			for i := range got {
				got[i].Fault = salesforce.Fault{}
			}
			assert.Equal(t, c.want, got)
		})
	}
}

func TestCulpritsCarryTheirFault(t *testing.T) {
	t.Parallel()
	o := newOrg(t, says(200, composite(sub("row", 400,
		`[{"errorCode":"FIELD_CUSTOM_VALIDATION_EXCEPTION","message":"REVISION: read again","fields":[]}]`))))
	subs, err := newClient(t, o).Composite(t.Context(), []salesforce.Subrequest{
		salesforce.UpdateRow("row", salesforce.Row{Object: "Inbound_Event__c", ID: "a02000000000001AAA"})}, true)
	require.NoError(t, err)
	got := salesforce.Culprits(subs)
	require.Len(t, got, 1)
	assert.Equal(t, salesforce.TokenRevision, got[0].Fault.Token())
	assert.Equal(t, salesforce.ClassStale, got[0].Fault.Class)
	assert.Equal(t, salesforce.ClassStale, subs[0].Fault().Class)
}

func TestCompositeAnswersThatTellNothing(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"fewer answers":       composite(sub("a", 204, "null")),
		"more answers":        composite(sub("a", 204, "null"), sub("b", 200, "["+goodRow+"]"), sub("b", 200, "["+goodRow+"]")),
		"other references":    composite(sub("a", 204, "null"), sub("c", 200, "["+goodRow+"]")),
		"fewer rows":          composite(sub("a", 204, "null"), sub("b", 200, "[]")),
		"rows are an object":  composite(sub("a", 204, "null"), sub("b", 200, goodRow)),
		"row is a list":       composite(sub("a", 200, "["+goodRow+"]"), sub("b", 200, "["+goodRow+"]")),
		"row without success": composite(sub("a", 204, "null"), sub("b", 200, `[{"id":"x"}]`)),
		"another shape":       `{"graphs":[]}`,
		"a page":              "<html></html>",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOrg(t, says(200, body))
			_, err := newClient(t, o).Composite(t.Context(), []salesforce.Subrequest{
				salesforce.DeleteRow("a", "X__c", "a02000000000001AAA"), salesforce.InsertRows("b", oneRow(), true)}, true)
			assert.Equal(t, salesforce.ClassUnknownOutcome, asError(t, err).Class)
		})
	}
}

func TestAnswersAreMatchedByReference(t *testing.T) {
	t.Parallel()
	o := newOrg(t, says(200, composite(sub("b", 200, "["+goodRow+"]"), sub("a", 404, `[{"errorCode":"ENTITY_IS_DELETED","message":"m"}]`))))
	subs, err := newClient(t, o).Composite(t.Context(), []salesforce.Subrequest{
		salesforce.DeleteRow("a", "X__c", "a02000000000001AAA"), salesforce.InsertRows("b", oneRow(), true)}, false)
	require.NoError(t, err)
	assert.Equal(t, "ENTITY_IS_DELETED", subs[0].Fault().Code)
	assert.True(t, subs[1].OK())
}

func TestACompositeOfQueriesOnlyIsARead(t *testing.T) {
	t.Parallel()
	o := newOrg(t, says(503, "busy"))
	_, err := newClient(t, o).Composite(t.Context(), []salesforce.Subrequest{salesforce.QueryRows("q", selectID)}, false)
	assert.Equal(t, salesforce.ClassRetryable, asError(t, err).Class)
}

func TestCompositeMistakesAreToldWithoutACall(t *testing.T) {
	t.Parallel()
	o := newOrg(t, says(200, "{}"))
	c := newClient(t, o)
	row := salesforce.InsertRow("a", payment("x", "1"))
	many := func(n int, make func(ref string) salesforce.Subrequest) []salesforce.Subrequest {
		subs := []salesforce.Subrequest{}
		for i := range n {
			subs = append(subs, make(fmt.Sprintf("r%d", i)))
		}
		return subs
	}
	for name, subs := range map[string][]salesforce.Subrequest{
		"26 rows":               many(26, func(r string) salesforce.Subrequest { return salesforce.InsertRow(r, payment("x", "1")) }),
		"6 collections":         many(6, func(r string) salesforce.Subrequest { return salesforce.InsertRows(r, oneRow(), true) }),
		"6 queries and rows":    many(6, func(r string) salesforce.Subrequest { return salesforce.QueryRows(r, selectID) }),
		"201 rows":              {salesforce.InsertRows("a", rowsOf(201), true)},
		"no rows":               {salesforce.InsertRows("a", nil, true)},
		"no rows to upsert":     {salesforce.UpsertRows("a", chargeKey, nil, true)},
		"reference twice":       {row, row},
		"no reference":          {salesforce.InsertRow("", payment("x", "1"))},
		"reference with a dot":  {salesforce.InsertRow("a.b", payment("x", "1"))},
		"empty key":             {salesforce.UpsertRow("a", chargeKey, payment("", "1"))},
		"key that is a path":    {salesforce.UpsertRow("a", chargeKey, payment("..", "1"))},
		"no Id":                 {salesforce.UpdateRow("a", payment("x", "1"))},
		"Id with a path":        {salesforce.DeleteRow("a", "X__c", "../a02000000000001AAA")},
		"number that isn't one": {salesforce.InsertRow("a", payment("x", "NaN"))},
	} {
		_, err := c.Composite(t.Context(), subs, true)
		assert.Equal(t, salesforce.ClassData, asError(t, err).Class, name)
	}
	subs, err := c.Composite(t.Context(), nil, true)
	require.NoError(t, err)
	assert.Empty(t, subs)
	assert.Empty(t, o.requests())
}
