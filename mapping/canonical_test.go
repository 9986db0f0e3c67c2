package mapping

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

const spelledShort = `source: shop
provider: shopify
secrets: ["${A}"]
routes:
  - name: a
    when: {type: order.*, $.live: true}
    records:
      - object: Payment__c
        key: {field: Ext__c, from: $.id}
        order: true
        state: {field: S__c, allow: {Open: [Closed]}}
        fields:
          S__c: $.s
          N__c: {from: $.n, max: 5}
`

// The same said in another way.
const spelledLong = `# a comment
provider: "shopify"
routes:
- records:
  - fields: {"N__c": {max: 5, from: $.n, trim: false}, S__c: {first: [$.s]}}
    state: {allow: {Open: [Closed]}, field: S__c}
    order: {prior: Source_Prior__c, event: Source_Event__c, field: Source_Order__c}
    coalesce: false
    action: upsert
    key: {from: $.id, field: Ext__c}
    object: Payment__c
  when: {$.live: true, type: ["order.**"]}
  ignore: false
  name: a
secrets: ["${A}"]
unmatched: review
processor: bridge
limits: {rate: 0}
source: shop
`

func TestCanonical(t *testing.T) {
	t.Parallel()
	short, err := Parse("a.yaml", []byte(spelledShort))
	require.NoError(t, err)
	long, err := Parse("b.yaml", []byte(spelledLong))
	require.NoError(t, err)
	golden(t, "testdata/canonical.json", string(short.Canonical())+"\n")
	assert.Equal(t, string(short.Canonical()), string(long.Canonical()))
	assert.Equal(t, short.Version(), long.Version())
	assert.Regexp(t, "^[0-9a-f]{12}$", short.Version())
	assert.True(t, json.Valid(short.Canonical()))
	assert.Contains(t, string(short.Canonical()), "${A}", "a reference stays a reference")
}

func TestCanonicalIsStable(t *testing.T) {
	t.Parallel()
	first, err := Parse("a.yaml", []byte(spelledShort))
	require.NoError(t, err)
	for range 50 {
		again, err := Parse("a.yaml", []byte(spelledShort))
		require.NoError(t, err)
		require.Equal(t, string(first.Canonical()), string(again.Canonical()))
	}
}

// The order of fields and keys in the file means nothing.
func TestOrderOfKeysMeansNothing(t *testing.T) {
	t.Parallel()
	fields := []string{"A__c: $.a", "B__c: {from: $.b, as: integer}", "C__r: {lookup: C__c, by: E__c, from: $.c}", "D__c: {from: $.d, required: true}"}
	keys := []string{"object: Payment__c", "key: {field: Ext__c, from: $.id}", "order: true", "FIELDS"}
	in := input(t, `{"id":"1","a":1,"b":"x","c":"y"}`)
	var want *File
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.Permutation(keys).Draw(t, "keys"), ", ")
		text = strings.Replace(text, "FIELDS", "fields: {"+strings.Join(rapid.Permutation(fields).Draw(t, "fields"), ", ")+"}", 1)
		f, err := Parse("a.yaml", []byte("source: shop\nprovider: shopify\nroutes: [{name: a, records: [{"+text+"}]}]\n"))
		require.NoError(t, err)
		if want == nil {
			want = f
		}
		require.Equal(t, want.Version(), f.Version())
		_, wantErrs := want.Routes[0].Records(in)
		_, errs := f.Routes[0].Records(in)
		require.Equal(t, wantErrs, errs)
		require.Len(t, errs, 2)
	})
}

func TestContextPaths(t *testing.T) {
	t.Parallel()
	f, err := Parse("a.yaml", []byte(`source: shop
provider: shopify
event: {type: header.X-Topic, id: "{header.X-A}:{$.id}"}
routes:
  - name: a
    when: {header.x-live: "1"}
    records:
      - object: Payment__c
        key: {field: Ext__c, template: "{$$.account}/{$.id}"}
        fields: {A__c: header.X-Shop, B__c: {first: [header.x-shop, $$.b]}, C__c: {template: "{header.X-T}"}}
`))
	require.NoError(t, err)
	var keys []string
	for _, p := range f.ContextPaths() {
		keys = append(keys, p.ContextKey())
	}
	assert.Equal(t, []string{"$$.account", "$$.b", "header.x-a", "header.x-live", "header.x-shop", "header.x-t", "header.x-topic"}, keys)
}

// FuzzParse: whatever the text, the loader answers with a file or with
// problems, and a file that it took compiles to the same form again.
func FuzzParse(f *testing.F) {
	for _, glob := range []string{"testdata/problems/*.yaml", "../config/examples/*.yaml", "testdata/conformance/*/mapping.yaml"} {
		files, err := filepath.Glob(glob)
		require.NoError(f, err)
		for _, file := range files {
			data, err := os.ReadFile(file)
			require.NoError(f, err)
			f.Add(data)
		}
	}
	f.Add([]byte(spelledShort))
	f.Add([]byte(guarded))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Parse("f.yaml", data)
		if err != nil {
			var problems *Problems
			require.ErrorAs(t, err, &problems)
			require.NotEmpty(t, problems.List)
			return
		}
		again, err := Parse("f.yaml", data)
		require.NoError(t, err)
		require.Equal(t, file.Canonical(), again.Canonical())
		in := input(t, `{"id":"1","data":{"object":{"id":"x"}}}`)
		if r, ok := file.Route(in); ok {
			r.Records(in)
		}
	})
}
