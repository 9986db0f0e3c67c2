package mapping

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/mapping/path"
)

// compile is a mapping with the given routes.
func compile(t testing.TB, routes string) *File {
	t.Helper()
	f, err := Parse("shop.yaml", []byte("source: shop\nprovider: shopify\nroutes:\n"+routes))
	require.NoError(t, err)
	return f
}

// input is an event with a payload.
func input(t testing.TB, payload string) Input {
	t.Helper()
	event, err := path.DecodeJSON([]byte(payload))
	require.NoError(t, err)
	order := int64(1767225600000)
	return Input{EventID: "shop:evt_1", Type: "order.paid", Order: &order, Scope: path.Scope{
		Event: event,
		Outer: path.Delivery{Body: map[string]any{"account": "acme"}, Header: map[string][]string{"X-Shop": {"a", "b"}}},
	}}
}

func TestWhen(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		when, payload string
		want          bool
	}{
		{`{}`, `{}`, true},
		{`{type: order.*}`, `{}`, true},
		{`{type: [customer.*, "*.paid"]}`, `{}`, true},
		{`{type: customer.*}`, `{}`, false},
		{`{type: order.*, $.live: true}`, `{"live":true}`, true},
		{`{type: order.*, $.live: true}`, `{"live":false}`, false},
		{`{$.live: true}`, `{"live":"true"}`, false},
		{`{$.live: "true"}`, `{"live":"true"}`, true},
		{`{$.live: "true"}`, `{"live":true}`, false},
		{`{$.n: 1}`, `{"n":1.0}`, true},
		{`{$.n: 1}`, `{"n":10e-1}`, true},
		{`{$.n: 1}`, `{"n":"1"}`, false},
		{`{$.n: "1*"}`, `{"n":10}`, false},
		{`{$.n: 0}`, `{"n":-0.0}`, true},
		{`{$.n: 9007199254740993}`, `{"n":9007199254740992}`, false},
		{`{$.n: 1e400}`, `{"n":1e401}`, false},
		{`{$.n: 1e99999999999999999999}`, `{"n":1e99999999999999999999}`, true},
		{`{$.n: -1}`, `{"n":1}`, false},
		{`{$.x: null}`, `{"x":null}`, true},
		{`{$.x: null}`, `{}`, false},
		{`{$.x: "*"}`, `{"x":null}`, false},
		{`{$.x: "*"}`, `{}`, false},
		{`{$.x: "*"}`, `{"x":""}`, true},
		{`{$.x: [null, a]}`, `{"x":"a"}`, true},
		{`{$.x: NO}`, `{"x":"NO"}`, true},
		{`{$.x: a}`, `{"x":["a"]}`, false},
		{`{header.x-shop: "a, *"}`, `{}`, true},
		{`{$$.account: acme}`, `{}`, true},
	} {
		f := compile(t, "  - {name: r, ignore: true, when: "+c.when+"}\n")
		_, got := f.Route(input(t, c.payload))
		assert.Equal(t, c.want, got, "%s on %s", c.when, c.payload)
	}
}

func TestFirstRouteWins(t *testing.T) {
	t.Parallel()
	f := compile(t, "  - {name: paid, ignore: true, when: {type: order.paid}}\n  - {name: rest, ignore: true, when: {type: order.*}}\n")
	in := input(t, `{}`)
	r, ok := f.Route(in)
	require.True(t, ok)
	assert.Equal(t, "paid", r.Name)
	in.Type = "order.created"
	r, ok = f.Route(in)
	require.True(t, ok)
	assert.Equal(t, "rest", r.Name)
	in.Type = "customer.created"
	_, ok = f.Route(in)
	assert.False(t, ok)
}

func TestSchema(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"new.json": `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","required":["id"],
			"properties":{"id":{"type":"string","minLength":3},"items":{"type":"array","uniqueItems":true,"items":{"$ref":"item.json"}}}}`,
		"item.json":   `{"type":"object","properties":{"a b":{"type":"integer"}}}`,
		"old.json":    `{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"n":{"multipleOf":0.01}}}`,
		"closed.json": `{"properties":{"id":true,"never":false},"additionalProperties":false}`,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	f, err := Parse(filepath.Join(dir, "shop.yaml"), []byte(`source: shop
provider: shopify
routes:
  - {name: new, when: {type: order.paid}, schema: new.json, records: [{object: A__c, key: {field: E__c, from: $.id}, fields: {A__c: $.a}}]}
  - {name: old, when: {type: old}, schema: old.json, records: [{object: A__c, key: {field: E__c, from: $.id}, fields: {A__c: $.a}}]}
  - {name: closed, when: {type: closed}, schema: closed.json, records: [{object: A__c, key: {field: E__c, from: $.id}, fields: {A__c: $.a}}]}
`))
	require.NoError(t, err)
	for _, c := range []struct {
		kind, payload string
		want          []string
	}{
		{"order.paid", `{"id":"abc","items":[{"a b":1}]}`, nil},
		{"order.paid", `{"id":"canary-1"}`, nil},
		{"order.paid", `{"id":7,"items":[{"a b":"canary"},{"a b":1.5}]}`, []string{`$.id: fails type`, `$.items[0]["a b"]: fails type`, `$.items[1]["a b"]: fails type`}},
		{"order.paid", `[]`, []string{`$: fails type`}},
		{"order.paid", `{"items":[1e999999999]}`, []string{`$.items[0]: the number is out of range`}},
		{"order.paid", `{"items":[]}`, []string{`$.id: is missing`}},
		{"old", `{"n":0.07}`, nil},
		{"closed", `{"id":1,"never":2,"x y":3}`, []string{`$.never: is not allowed`, `$["x y"]: is not allowed`}},
		{"old", `{"n":0.075}`, []string{`$.n: fails multipleOf`}},
	} {
		in := input(t, c.payload)
		in.Type = c.kind
		r, ok := f.Route(in)
		require.True(t, ok)
		assert.Equal(t, c.want, r.CheckSchema(in.Scope.Event), c.payload)
	}
	assert.NotContains(t, string(f.Canonical()), dir, "the compiled form doesn't depend on where the file lies")
}

func TestGuardsOrderTheEventsObject(t *testing.T) {
	t.Parallel()
	for key, warned := range map[string]bool{
		"from: $.id":               false,
		`template: "{$.id}"`:       false,
		`template: "shop-{$.id}"`:  false, // fixed text around it names the same object
		"from: $.order":            true,
		`template: "o-{$.order}"`:  true,
		`template: "{$.id}/{$.n}"`: true,
		"first: [$.id, $.order]":   true,
	} {
		f, err := Parse("shop.yaml", []byte("source: shop\nprovider: shopify\nroutes:\n  - name: a\n    when: {type: a}\n    records:\n"+
			"      - {object: A__c, order: true, key: {field: E__c, "+key+"}, fields: {S__c: $.s}}\n"))
		require.NoError(t, err, key)
		assert.Equal(t, warned, len(f.GuardFindings("$.id")) > 0, key)
	}
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	f, err := Parse("shop.yaml", []byte(`source: shop
provider: shopify
event: {object: $.id}
routes:
  - name: crossing
    when: {type: order.*}
    records:
      - object: A__c
        key: {field: E__c, from: $.order}
        order: {field: O__c, event: V__c}
        state: {field: S__c, allow: {Open: [Closed]}}
        fields: {S__c: {from: $.s, map: {o: Open, x: Lost}}, N__c: {from: $.n, on: create}}
  - name: paid
    when: {type: "*.paid"}
    records:
      - {object: a__C, key: {field: E__c, from: $.id}, fields: {S__c: $.s}}
      - {object: A__c, key: {field: E__c, from: $.other}, fields: {s__c: $.s}}
`))
	require.NoError(t, err)
	var got []string
	for _, w := range f.Warnings() {
		got = append(got, w.String())
	}
	golden(t, "testdata/warnings.txt", strings.Join(got, "\n")+"\n")
}
