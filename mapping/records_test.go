package mapping

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/mapping/path"
)

// records maps a payload through one route.
func records(t testing.TB, route, payload string) ([]Record, []FieldError) {
	t.Helper()
	in := input(t, payload)
	r, ok := compile(t, route).Route(in)
	require.True(t, ok)
	return r.Records(in)
}

// one is a route with one record of the given fields.
func one(fields string) string {
	return `  - name: r
    records:
      - object: Payment__c
        key: {field: Ext__c, from: $.id}
        fields: ` + fields + "\n"
}

// sent is what goes out for the single record of a payload.
func sent(t testing.TB, fields, payload string) map[string]any {
	t.Helper()
	got, errs := records(t, one(fields), payload)
	require.Empty(t, errs)
	require.Len(t, got, 1)
	return got[0].Sent(true)
}

type values = map[string]any

// C02: null, missing and "" are three different things.
func TestNullMissingEmpty(t *testing.T) {
	t.Parallel()
	const fields = `{Phone: {from: $.phone, trim: true}, Score__c: {from: $.score, as: number}}`
	for payload, want := range map[string]values{
		`{"id":"1"}`:                           {"Ext__c": "1"},
		`{"id":"1","phone":null,"score":null}`: {"Ext__c": "1", "Phone": nil, "Score__c": nil},
		`{"id":"1","phone":"","score":""}`:     {"Ext__c": "1", "Phone": nil, "Score__c": nil},
		`{"id":"1","phone":"  "}`:              {"Ext__c": "1", "Phone": nil},
		`{"id":"1","score":0}`:                 {"Ext__c": "1", "Score__c": json.Number("0")},
	} {
		assert.Equal(t, want, sent(t, fields, payload), payload)
	}
}

// C13: a lookup names its parent; null clears the column, missing leaves it out.
func TestLookup(t *testing.T) {
	t.Parallel()
	const fields = `{Customer__r: {lookup: Customer__c, by: Ext__c, from: $.c}, Account: {lookup: Account, by: Number__c, from: $.a, trim: true}}`
	for payload, want := range map[string]values{
		`{"id":"1","c":"C-9"}`:         {"Ext__c": "1", "Customer__r": values{"Ext__c": "C-9"}},
		`{"id":"1","c":9,"a":" x "}`:   {"Ext__c": "1", "Customer__r": values{"Ext__c": "9"}, "Account": values{"Number__c": "x"}},
		`{"id":"1","c":null,"a":null}`: {"Ext__c": "1", "Customer__c": nil, "AccountId": nil},
		`{"id":"1","c":"","a":"  "}`:   {"Ext__c": "1", "Customer__c": nil, "AccountId": nil},
		`{"id":"1"}`:                   {"Ext__c": "1"},
	} {
		assert.Equal(t, want, sent(t, fields, payload), payload)
	}
	got, errs := records(t, one(fields), `{"id":"1","c":9,"a":"x"}`)
	require.Empty(t, errs)
	assert.Equal(t, []Ref{
		{Object: "Account", Field: "Number__c", Value: "x", Lookup: "Account"},
		{Object: "Customer__c", Field: "Ext__c", Value: "9", Lookup: "Customer__r"},
	}, got[0].Parents)
	assert.Equal(t, values{"Ext__c": "1", "P__r": values{"N__c": json.Number("9")}},
		sent(t, `{P__r: {lookup: P__c, by: N__c, from: $.c, as: integer}}`, `{"id":"1","c":"9"}`), "a number field as key")
	_, errs = records(t, one(fields), `{"id":"1","c":{"x":1}}`)
	require.Len(t, errs, 1)
	assert.Equal(t, "Customer__r", errs[0].Field)
}

func TestKeys(t *testing.T) {
	t.Parallel()
	route := func(key string) string {
		return "  - {name: r, records: [{object: A__c, key: {field: Ext__c, " + key + "}, fields: {B__c: {value: x}}}]}\n"
	}
	for _, c := range []struct{ key, payload, want, reason string }{
		{`from: $.id`, `{"id":820982911946154508}`, "820982911946154508", ""},
		{`from: $.id`, `{"id":"a b"}`, "a b", ""},
		{`from: $.id`, `{"id":true}`, "true", ""},
		{`from: $.id`, `{}`, "", "is missing"},
		{`from: $.id`, `{"id":null}`, "", "is null"},
		{`from: $.id`, `{"id":""}`, "", "is empty"},
		{`from: $.id`, `{"id":" a"}`, "", "has white space at an end"},
		{`from: $.id`, `{"id":["a"]}`, "", "is an array and has no text form"},
		{`first: [$.a, $.b]`, `{"a":null,"b":"x"}`, "x", ""},
		{`first: [$.a, $.b]`, `{"a":null}`, "", "is missing"},
		{`template: "{$.a}/{$.b}"`, `{"a":"x/y","b":"%"}`, "x%2Fy/%25", ""},
		{`template: "n-{$.a}"`, `{"a":"x%"}`, "n-x%", ""},
		{`template: "{$.a}/{$.b}"`, `{"a":"x"}`, "", "is missing"},
		{`from: header.X-Shop`, `{}`, "a, b", ""},
		{`from: $$.account`, `{}`, "acme", ""},
	} {
		got, errs := records(t, route(c.key), c.payload)
		if c.reason != "" {
			require.Len(t, errs, 1, c.payload)
			assert.Equal(t, c.reason, errs[0].Reason, c.payload)
			assert.Equal(t, "Ext__c", errs[0].Field)
			assert.Nil(t, got)
			continue
		}
		require.Empty(t, errs, c.payload)
		assert.Equal(t, Key{Field: "Ext__c", Value: c.want}, got[0].Key, c.payload)
	}
}

func TestEach(t *testing.T) {
	t.Parallel()
	route := func(each, key string) string {
		return "  - {name: r, records: [{object: L__c, each: \"" + each + "\", key: {field: Ext__c, template: \"" + key + "\"}, fields: {Q__c: \"@.q\", O__c: $.id}}]}\n"
	}
	keys := func(rs []Record) []string {
		out := []string{}
		for _, r := range rs {
			out = append(out, r.Key.Value)
		}
		return out
	}
	for _, c := range []struct {
		each, payload string
		want          []string
		reason        string
	}{
		{"$.lines[*]", `{"id":1,"lines":[{"id":"a"},{"id":"b"}]}`, []string{"1/a", "1/b"}, ""},
		{"$.lines[*]", `{"id":1}`, []string{}, ""},
		{"$.lines[*]", `{"id":1,"lines":null}`, []string{}, ""},
		{"$.lines[*]", `{"id":1,"lines":[]}`, []string{}, ""},
		{"$.lines[*]", `{"id":1,"lines":{"id":"a"}}`, nil, "is an object, not an array"},
		{"$.lines[*]", `{"id":1,"lines":"a"}`, nil, "is text, not an array"},
		{"$.lines[*]", `{"id":1,"lines":[{"id":"a"},null]}`, nil, "has an element that is null"},
		{"$.o[*].l[*]", `{"id":1,"o":[{"l":[{"id":"a"}]},{},{"l":[{"id":"b"},{"id":"c"}]}]}`, []string{"1/a", "1/b", "1/c"}, ""},
		{"$.o[*].l[*]", `{"id":1,"o":[{"l":[null]}]}`, nil, "has an element that is null"},
		{"$.lines[*]", `{"id":1,"lines":["a"]}`, nil, "is missing"},
	} {
		got, errs := records(t, route(c.each, "{$.id}/{@.id}"), c.payload)
		if c.reason != "" {
			require.Len(t, errs, 1, c.payload)
			assert.Equal(t, c.reason, errs[0].Reason, c.payload)
			assert.Nil(t, got)
			continue
		}
		require.Empty(t, errs)
		assert.Equal(t, c.want, keys(got), c.payload)
	}
	got, errs := records(t, route("$.lines[*]", "{@}"), `{"id":1,"lines":["a","b"]}`)
	require.Empty(t, errs)
	assert.Equal(t, []string{"a", "b"}, keys(got), "an element may be a scalar")
}

const guarded = `  - name: r
    records:
      - object: Line__c
        each: "$.lines[*]"
        key: {field: Ext__c, from: "@.id"}
        order: true
        fields: {Q__c: "@.q"}
      - object: Log__c
        key: {field: Ext__c, from: $.id}
        fields: {N__c: $.n}
      - object: Payment__c
        key: {field: Ext__c, from: $.id}
        order: {field: Seq__c, event: Evt__c}
        coalesce: true
        state: {field: Status__c, allow: {Open: [Closed]}}
        fields:
          Status__c: {from: $.s, map: {o: Open, c: Closed}}
          New__c: {value: 1, on: create}
          Old__c: {value: "1", on: update}
      - object: Other__c
        action: delete
        key: {field: Ext__c, from: $.id}
        order: true
`

func TestRecordsOfARoute(t *testing.T) {
	t.Parallel()
	got, errs := records(t, guarded, `{"id":"p","lines":[{"id":"l","q":2}],"s":"o","n":null}`)
	require.Empty(t, errs)
	require.Len(t, got, 4)
	for i, want := range []struct {
		object         string
		each, guard    bool
		create, exists values
	}{
		{"Line__c", true, false,
			values{"Ext__c": "l", "Q__c": json.Number("2"), "Source_Order__c": json.Number("1767225600000"), "Source_Event__c": "shop:evt_1"},
			values{"Ext__c": "l", "Q__c": json.Number("2"), "Source_Order__c": json.Number("1767225600000"), "Source_Event__c": "shop:evt_1"}},
		{"Log__c", false, false, values{"Ext__c": "p", "N__c": nil}, values{"Ext__c": "p", "N__c": nil}},
		{"Payment__c", false, true,
			values{"Ext__c": "p", "Status__c": "Open", "New__c": json.Number("1"), "Seq__c": json.Number("1767225600000"), "Evt__c": "shop:evt_1"},
			values{"Ext__c": "p", "Status__c": "Open", "Old__c": "1", "Seq__c": json.Number("1767225600000"), "Evt__c": "shop:evt_1"}},
		{"Other__c", false, false,
			values{"Source_Order__c": json.Number("1767225600000"), "Source_Event__c": "shop:evt_1"},
			values{"Source_Order__c": json.Number("1767225600000"), "Source_Event__c": "shop:evt_1"}},
	} {
		r := got[i]
		assert.Equal(t, want.object, r.Object)
		assert.Equal(t, want.each, r.Each, r.Object)
		assert.Equal(t, want.guard, r.Guard, r.Object)
		assert.Equal(t, i, r.Spec)
		assert.Equal(t, want.create, r.Sent(true), r.Object)
		assert.Equal(t, want.exists, r.Sent(false), r.Object)
	}
	assert.True(t, got[2].Coalesce)
	require.NotNil(t, got[2].State)
	require.NotNil(t, got[2].State.Value)
	assert.Equal(t, "Open", *got[2].State.Value)
	assert.Equal(t, 1, got[2].State.Machine.Rank("Closed"))
	assert.Equal(t, &OrderFields{Field: "Source_Order__c", Event: "Source_Event__c", Prior: "Source_Prior__c"}, got[3].Order)
}

func TestStateWithoutValue(t *testing.T) {
	t.Parallel()
	for _, payload := range []string{`{"id":"p"}`, `{"id":"p","s":null}`, `{"id":"p","s":""}`} {
		got, errs := records(t, guarded, payload)
		require.Empty(t, errs)
		require.NotNil(t, got[1].State)
		assert.Nil(t, got[1].State.Value, payload)
	}
}

func TestEventWithoutOrder(t *testing.T) {
	t.Parallel()
	in := input(t, `{"id":"p","s":"o"}`)
	in.Order = nil
	r, _ := compile(t, guarded).Route(in)
	got, errs := r.Records(in)
	require.Empty(t, errs)
	assert.Equal(t, values{"Ext__c": "p", "Status__c": "Open", "New__c": json.Number("1"), "Evt__c": "shop:evt_1"}, got[1].Sent(true))
}

// An event is written whole or not at all, and every wrong field is named.
func TestFieldErrors(t *testing.T) {
	t.Parallel()
	got, errs := records(t, `  - name: r
    records:
      - object: Payment__c
        key: {field: Ext__c, from: $.id}
        fields:
          Z__c: {from: $.z, as: integer}
          A__c: {from: $.a, as: date}
          M__c: $.m
          R__c: {first: [$.r, $.q], required: true}
          Fine__c: $.f
      - {object: Line__c, each: "$.lines[*]", key: {field: Ext__c, from: "@.id"}, fields: {Q__c: "@.q"}}
`, `{"z":"1.5","a":"2026-02-30","m":{"x":1},"f":1,"lines":[{"id":"a"},{"id":""}]}`)
	assert.Nil(t, got)
	var fields, paths []string
	for _, e := range errs {
		fields = append(fields, e.Object+"."+e.Field)
		paths = append(paths, e.Path)
		assert.NotEmpty(t, e.Reason)
		assert.Contains(t, e.Error(), e.Field)
	}
	assert.Equal(t, []string{"Payment__c.Ext__c", "Payment__c.A__c", "Payment__c.M__c", "Payment__c.R__c", "Payment__c.Z__c", "Line__c.Ext__c"}, fields)
	assert.Equal(t, []string{"$.id", "$.a", "$.m", "$.r, $.q", "$.z", "@.id"}, paths)
	assert.Equal(t, `"2026-02-30"`, errs[1].Value)
}

// Mapping never changes the event and gives the same whenever it is asked.
func TestPure(t *testing.T) {
	t.Parallel()
	const payload = `{"id":"p","lines":[{"id":"l","q":{"b":1,"a":[2]}}],"s":"o"}`
	route := `  - {name: r, records: [{object: A__c, key: {field: E__c, from: $.id}, fields: {J__c: {from: $.lines, as: json}, S__c: $.s}}]}` + "\n"
	f := compile(t, route)
	in := input(t, payload)
	before, err := path.AppendJSON(nil, in.Scope.Event)
	require.NoError(t, err)
	r, _ := f.Route(in)
	first, errs := r.Records(in)
	require.Empty(t, errs)
	for range 20 {
		again, _ := r.Records(in)
		assert.Equal(t, first, again)
	}
	after, err := path.AppendJSON(nil, in.Scope.Event)
	require.NoError(t, err)
	assert.Equal(t, before, after)
}
