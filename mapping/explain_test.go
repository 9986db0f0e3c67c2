package mapping

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/mapping/path"
)

const explained = `
source: shop
provider: generic
secrets: ["${S}"]
event: {id: $.id, type: $.type}
routes:
  - records:
      - object: A__c
        key: {field: K__c, from: $.id}
        order: true
        fields:
          Amount__c: {from: $.cents, as: minor_units, currency: EUR}
          Note__c: {from: $.note, on: create}
          Origin__c: {value: Shop}
          Wrong__c: {from: $.id, as: integer}
      - object: Line__c
        each: $.lines[*]
        key: {field: K__c, template: "{$.id}/{@.n}"}
        fields: {Sku__c: "@.sku"}
`

func TestExplain(t *testing.T) {
	t.Parallel()
	f, err := Parse("m.yaml", []byte(explained))
	require.NoError(t, err)
	event, err := path.DecodeJSON([]byte(`{"id":"o1","cents":1250,"lines":[{"n":1,"sku":"x"},{"sku":null}]}`))
	require.NoError(t, err)
	order := int64(7)
	got := f.Routes[0].Explain(Input{EventID: "shop:o1", Order: &order, Scope: path.Scope{Event: event}})

	key := func(source string, raw, result any) Line {
		return Line{Field: "K__c", Source: source, Raw: raw, Present: true, Result: result, Sent: true}
	}
	assert.Equal(t, []Explained{
		{"A__c", Upsert, Key{"K__c", "o1"}, []Line{
			key("$.id", "o1", "o1"),
			{Field: "Amount__c", Source: "$.cents", Raw: json.Number("1250"), Present: true, Result: json.Number("12.50"), Sent: true},
			{Field: "Note__c", On: OnCreate, Source: "$.note"},
			{Field: "Origin__c", Raw: "Shop", Present: true, Result: "Shop", Sent: true},
			{Field: "Wrong__c", Source: "$.id", Raw: "o1", Present: true, Reason: "isn't a number"},
			{Field: "Source_Order__c", Source: SourceOrder, Raw: json.Number("7"), Present: true, Result: json.Number("7"), Sent: true},
			{Field: "Source_Event__c", Source: SourceEventID, Raw: "shop:o1", Present: true, Result: "shop:o1", Sent: true},
		}},
		{"Line__c", Upsert, Key{"K__c", "o1/1"}, []Line{
			key("{$.id}/{@.n}", "o1/1", "o1/1"),
			{Field: "Sku__c", Source: "@.sku", Raw: "x", Present: true, Result: "x", Sent: true},
		}},
		{"Line__c", Upsert, Key{"K__c", ""}, []Line{
			{Field: "K__c", Source: "{$.id}/{@.n}", Reason: "is missing"},
			{Field: "Sku__c", Source: "@.sku", Present: true, Sent: true},
		}},
	}, got)

	event, err = path.DecodeJSON([]byte(`{"id":"o1","lines":7}`))
	require.NoError(t, err)
	got = f.Routes[0].Explain(Input{EventID: "shop:o1", Scope: path.Scope{Event: event}})
	require.Len(t, got, 2)
	assert.False(t, got[0].Lines[5].Sent, "an event without an order sends none")
	assert.Equal(t, []Line{{Field: "K__c", Source: "$.lines[*]", Reason: "is a number, not an array"}}, got[1].Lines)
}

func dryOf(t *testing.T, mapping, payload string) *DryResult {
	t.Helper()
	f, err := Parse("m.yaml", []byte(mapping))
	require.NoError(t, err)
	event, err := path.DecodeJSON([]byte(payload))
	require.NoError(t, err)
	return &f.DryRun([]DryEvent{{Input: Input{EventID: "shop:o1", Type: "t", Scope: path.Scope{Event: event}}}}).Events[0]
}

func TestDiff(t *testing.T) {
	t.Parallel()
	const head = "source: shop\nprovider: generic\nsecrets: [\"${S}\"]\nevent: {id: $.id, type: $.type}\nroutes:\n  - name: "
	const payload = `{"id":"o1","a":"1","b":"2"}`
	old := dryOf(t, head+"r\n    records: [{object: A__c, key: {field: K__c, from: $.id}, fields: {Same__c: $.a, Old__c: $.a, Other__c: $.a}}]", payload)
	assert.Empty(t, Diff(old, old))
	assert.Empty(t, Diff(nil, nil))

	changed := dryOf(t, head+"s\n    records:\n      - {object: A__c, key: {field: K__c, from: $.id}, action: update, fields: {Same__c: $.a, New__c: $.none, Other__c: $.b}}\n"+
		"      - {object: B__c, key: {field: K__c, from: $.id}, fields: {X__c: $.a}}\n      - {object: B__c, key: {field: K__c, from: $.id}, fields: {Y__c: $.a}}", payload)
	assert.Equal(t, []Difference{
		{Field: "route", Change: Changed, Old: "r", New: "s"},
		{Record: "A__c o1", Field: "K__c", Change: Removed, Old: "o1"},
		{Record: "A__c o1", Field: "Old__c", Change: Removed, Old: "1"},
		{Record: "A__c o1", Field: "Other__c", Change: Changed, Old: "1", New: "2"},
		{Record: "A__c o1", Field: "action", Change: Changed, Old: Upsert, New: Update},
		{Record: "B__c o1", Change: Added, New: map[string]any{"K__c": "o1", "X__c": "1"}},
		{Record: "B__c o1 (2)", Change: Added, New: map[string]any{"K__c": "o1", "Y__c": "1"}},
	}, Diff(old, changed))

	failed := dryOf(t, head+"r\n    records: [{object: A__c, key: {field: K__c, from: $.id}, fields: {N__c: {from: $.id, as: number}, M__c: {from: $.id, as: number}}}]", payload)
	got := Diff(old, failed)
	assert.Contains(t, got, Difference{Field: "error in N__c", Change: Added, New: `isn't a number: "o1"`})
	assert.Contains(t, got, Difference{Field: "outcome", Change: Changed, Old: "apply", New: "review"})
	assert.Equal(t, Removed, got[len(got)-1].Change)

	assert.Equal(t, Added, Diff(nil, old)[0].Change)
	assert.Equal(t, Removed, Diff(old, nil)[0].Change)
}
