package soql_test

import (
	"context"
	"testing"
	"testing/fstest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"sfbridge/salesforce/simorg/schema"
	"sfbridge/salesforce/simorg/soql"
)

// world is a schema of shops, orders and notes with rows in memory.
type world struct {
	schema *schema.Schema
	rows   map[*schema.Object][]schema.Row
	// What the queries did.
	scans, lookups, read int
}

func testSchema(t testing.TB) *schema.Schema {
	t.Helper()
	head := func(name string) string {
		return `<CustomObject><label>` + name + `</label><pluralLabel>` + name + `</pluralLabel><nameField><label>N</label><type>Text</type></nameField></CustomObject>`
	}
	m := fstest.MapFS{}
	for object, fields := range map[string]map[string]string{
		"Shop__c": {
			"Code__c": `<type>Text</type><length>40</length><externalId>true</externalId><unique>true</unique>`,
			"Town__c": `<type>Text</type><length>40</length>`,
			"Head__c": `<type>Lookup</type><referenceTo>Shop__c</referenceTo><relationshipName>Branches</relationshipName>`,
		},
		"Order__c": {
			"Key__c":   `<type>Text</type><length>255</length><externalId>true</externalId><unique>true</unique><caseSensitive>true</caseSensitive>`,
			"Queue__c": `<type>Text</type><length>16</length><externalId>true</externalId>`,
			"Sum__c":   `<type>Number</type><precision>18</precision><scale>2</scale>`,
			"Open__c":  `<type>Checkbox</type>`,
			"Due__c":   `<type>Date</type>`,
			"At__c":    `<type>DateTime</type>`,
			"State__c": `<type>Picklist</type><valueSet><valueSetDefinition><value><fullName>New</fullName></value><value><fullName>Paid</fullName></value></valueSetDefinition></valueSet>`,
			"Tags__c":  `<type>MultiselectPicklist</type><valueSet><valueSetDefinition><value><fullName>A</fullName></value></valueSetDefinition></valueSet>`,
			"Text__c":  `<type>LongTextArea</type><length>1000</length>`,
			"Shop__c":  `<type>Lookup</type><referenceTo>Shop__c</referenceTo><relationshipName>Orders</relationshipName>`,
		},
	} {
		m["objects/"+object+"/"+object+".object-meta.xml"] = &fstest.MapFile{Data: []byte(head(object))}
		for name, body := range fields {
			m["objects/"+object+"/fields/"+name+".field-meta.xml"] = &fstest.MapFile{
				Data: []byte(`<CustomField><fullName>` + name + `</fullName><label>x</label>` + body + `</CustomField>`)}
		}
	}
	s, err := schema.Load(schema.Source{Name: "test", FS: m})
	require.NoError(t, err)
	return s
}

func newWorld(t testing.TB) *world {
	return &world{schema: testSchema(t), rows: map[*schema.Object][]schema.Row{}}
}

type set = map[string]any

// insert adds a row and returns its id.
func (w *world) insert(object string, values set) string {
	o := w.schema.Object(object)
	row := o.NewRow()
	row[schema.SlotID] = schema.NewID(o.KeyPrefix, uint64(len(w.rows[o])+1))
	for name, v := range values {
		row[o.Field(name).Slot] = v
	}
	w.rows[o] = append(w.rows[o], row)
	return row.ID()
}

func (w *world) Scan(obj *schema.Object, visit func(schema.Row) bool) {
	w.scans++
	for _, row := range w.rows[obj] {
		w.read++
		if !visit(row) {
			return
		}
	}
}

func (w *world) Lookup(f *schema.Field, values []any, visit func(schema.Row) bool) {
	w.lookups++
	for _, v := range values {
		for _, row := range w.rows[f.Object] {
			stored := row[f.Slot]
			if s, ok := stored.(string); ok {
				stored = f.Fold(s)
			}
			if stored != nil && stored == v {
				w.read++
				if !visit(row) {
					return
				}
			}
		}
	}
}

func (w *world) Get(obj *schema.Object, id string) (schema.Row, bool) {
	for _, row := range w.rows[obj] {
		if row.ID() == id {
			return row, true
		}
	}
	return nil, false
}

var now = time.Date(2026, 11, 30, 15, 4, 5, 0, time.UTC)

func dec(s string) decimal.Decimal { return decimal.RequireFromString(s) }

func at(s string) time.Time {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		panic(err)
	}
	return t.UTC()
}

func (w *world) compile(text string) (*soql.Query, error) {
	return soql.Compile(text, w.schema, soql.Options{Now: now})
}

func (w *world) run(t testing.TB, text string) *soql.Result {
	t.Helper()
	q, err := w.compile(text)
	require.NoError(t, err, text)
	r, err := q.Run(context.Background(), w)
	require.NoError(t, err, text)
	return r
}

// names returns the Name of each record found.
func (w *world) names(t testing.TB, text string) []string {
	t.Helper()
	names := []string{}
	for _, r := range w.run(t, text).Records {
		name, _ := r.Row[2].(string)
		names = append(names, name)
	}
	return names
}
