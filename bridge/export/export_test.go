package export_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"sfbridge/bridge/export"
	"sfbridge/internal/metadata"
	"sfbridge/mapping"
)

func parse(t *testing.T, text string) *mapping.File {
	t.Helper()
	f, err := mapping.Parse("test.yaml", []byte(text))
	require.NoError(t, err)
	return f
}

// values reads a record back as an org does.
func values(t *testing.T, data []byte) map[string]string {
	t.Helper()
	var record struct {
		XMLName xml.Name `xml:"http://soap.sforce.com/2006/04/metadata CustomMetadata"`
		Label   string   `xml:"label"`
		Values  []struct {
			Field string `xml:"field"`
			Value struct {
				Type string `xml:"http://www.w3.org/2001/XMLSchema-instance type,attr"`
				Text string `xml:",chardata"`
			} `xml:"value"`
		} `xml:"values"`
	}
	require.NoError(t, xml.Unmarshal(data, &record))
	out := map[string]string{"label": record.Label}
	for _, v := range record.Values {
		assert.Equal(t, "xsd:string", v.Value.Type)
		out[v.Field] = v.Value.Text
	}
	return out
}

func TestTheRecordHoldsTheCanonicalForm(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("../../mapping/testdata/conformance/*/mapping.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, names)
	for _, name := range names {
		f, err := mapping.Load(name)
		require.NoError(t, err)
		r, err := export.New(export.Config{Mapping: f})
		require.NoError(t, err, name)
		got := values(t, r.XML)
		assert.Equal(t, map[string]string{
			"label": f.Source, export.FieldSource: f.Source, export.FieldVersion: f.Version(), export.FieldDefinition: string(f.Canonical()),
		}, got, name)
		sum := sha256.Sum256([]byte(got[export.FieldDefinition]))
		assert.Equal(t, r.Version, hex.EncodeToString(sum[:])[:12], name)
	}
}

const shop = `
source: shop
provider: stripe
secrets: ["${SHOP_SECRET}"]
processor: org
routes:
  - name: order
    records: [{object: Order__c, key: {field: Ext__c, from: $.id}, fields: {A__c: {value: "a < b & c > \"d\" \r ä 💶"}}}]
`

func TestSameMappingSameBytes(t *testing.T) {
	t.Parallel()
	one, err := export.New(export.Config{Mapping: parse(t, shop)})
	require.NoError(t, err)
	two, err := export.New(export.Config{Mapping: parse(t, strings.ReplaceAll("# a comment\n"+shop, "provider: stripe", "provider:   'stripe'"))})
	require.NoError(t, err)
	assert.Equal(t, string(one.XML), string(two.XML))
	assert.Equal(t, "Inbound_Mapping.shop.md-meta.xml", one.File)
	assert.Contains(t, string(one.XML), "${SHOP_SECRET}", "a reference stays one")
	assert.True(t, json.Valid([]byte(values(t, one.XML)[export.FieldDefinition])))
}

func TestRefusesByNameWhatApexCantRun(t *testing.T) {
	t.Parallel()
	head := "source: shop\nprovider: stripe\nroutes:\n  - name: r\n    records:\n      - {object: OBJECT, key: {field: Ext__c, from: $.id}, fields: {A__c: {value: \"VALUE\"}}}\n"
	with := func(object, value string) string {
		return strings.NewReplacer("OBJECT", object, "VALUE", value).Replace(head)
	}
	for says, c := range map[string]export.Config{
		"routes[0] (r): authority":            {Mapping: parse(t, with("A__c", "")+"authority: {get: \"https://example.com/{$.id}\", into: $.o}\n")},
		"provider stripe sends forms":         {Mapping: parse(t, with("A__c", "")), Sends: "forms"},
		"routes[0] (r).records[0].object: Us": {Mapping: parse(t, with("User", ""))},
		"is a platform event":                 {Mapping: parse(t, with("Note__e", ""))},
		"is a big object":                     {Mapping: parse(t, with("Log__b", ""))},
		"U+FFFF":                              {Mapping: parse(t, with("A__c", `\uFFFF`))},
		"keeps 131072":                        {Mapping: parse(t, with("A__c", strings.Repeat("💶", 65536)))},
	} {
		_, err := export.New(c)
		var refused *export.Refused
		require.ErrorAs(t, err, &refused, says)
		assert.Len(t, refused.Problems, 1, says)
		assert.ErrorContains(t, err, "test.yaml: ")
		assert.ErrorContains(t, err, says)
	}
}

func TestEverySourceHasANameOfItsOwn(t *testing.T) {
	t.Parallel()
	valid := regexp.MustCompile(`^[A-Za-z](_?[A-Za-z0-9])*$`)
	record := func(t rapid.TB, source string) string {
		f, err := mapping.Parse("test.yaml", []byte(strings.Replace(shop, "source: shop", "source: "+source, 1)))
		require.NoError(t, err)
		r, err := export.New(export.Config{Mapping: f})
		require.NoError(t, err)
		return r.Name
	}
	rapid.Check(t, func(t *rapid.T) {
		sources := rapid.StringMatching(`s[ab-]{0,39}`)
		one, two := sources.Draw(t, "one"), sources.Draw(t, "two")
		name := record(t, one)
		assert.Regexp(t, valid, name)
		assert.LessOrEqual(t, len(name), 40)
		assert.Equal(t, one == two, name == record(t, two), "%s, %s", one, two)
	})
}

// The custom metadata type of the Apex package has room for what is written.
func TestTheTypeHasTheFields(t *testing.T) {
	t.Parallel()
	const folder = "../../apex/force-app/main/default/objects/" + export.Object + "__mdt/fields/"
	names, err := filepath.Glob(folder + "*.field-meta.xml")
	require.NoError(t, err)
	require.Len(t, names, 3)
	for field, length := range map[string]string{export.FieldSource: "40", export.FieldVersion: "12", export.FieldDefinition: "131072"} {
		data, err := os.ReadFile(folder + field + ".field-meta.xml")
		require.NoError(t, err)
		d, err := metadata.Parse(data)
		require.NoError(t, err)
		assert.Equal(t, length, d.Text("length"), field)
	}
}
