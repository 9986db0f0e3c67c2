package preflight_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/event"
	"sfbridge/bridge/preflight"
	"sfbridge/mapping"
	"sfbridge/salesforce"
)

// fakeOrg describes what it holds.
type fakeOrg struct {
	objects map[string]*salesforce.Object
	rules   map[string][]salesforce.ValidationRule
	down    error // what describes fail with
	noSetup bool  // the user may not see rules
	asked   map[string]int
}

func (o *fakeOrg) Describe(_ context.Context, name string) (*salesforce.Object, error) {
	o.asked[name]++
	if o.down != nil {
		return nil, o.down
	}
	if found, ok := o.objects[name]; ok {
		return found, nil
	}
	return nil, &salesforce.Error{Status: http.StatusNotFound, Fault: salesforce.Fault{Class: salesforce.ClassConfiguration}}
}

func (o *fakeOrg) ValidationRules(_ context.Context, name string) ([]salesforce.ValidationRule, error) {
	if o.noSetup {
		return nil, &salesforce.Error{Status: http.StatusBadRequest, Fault: salesforce.Fault{Class: salesforce.ClassConfiguration}}
	}
	return o.rules[name], nil
}

// change alters the field of an object.
func (o *fakeOrg) change(object, field string, with func(*salesforce.Field)) {
	fields := o.objects[object].Fields
	with(&fields[slices.IndexFunc(fields, func(f salesforce.Field) bool { return f.Name == field })])
}

func field(name, kind string, change ...func(*salesforce.Field)) salesforce.Field {
	f := salesforce.Field{Name: name, Type: kind, Createable: true, Updateable: true, Nillable: true}
	switch kind {
	case "string", "textarea":
		f.Length = 255
	case "double":
		f.Precision, f.Scale = 18, 0
	}
	for _, c := range change {
		c(&f)
	}
	return f
}

func unique(f *salesforce.Field) {
	f.ExternalID, f.IDLookup, f.Unique, f.CaseSensitive = true, true, true, true
}

func list(values ...string) func(*salesforce.Field) {
	return func(f *salesforce.Field) {
		f.RestrictedPicklist = true
		for _, v := range values {
			f.PicklistValues = append(f.PicklistValues, salesforce.PicklistValue{Value: v, Active: true})
		}
	}
}

func object(name string, fields ...salesforce.Field) *salesforce.Object {
	return &salesforce.Object{Name: name, Createable: true, Updateable: true, Deletable: true, Queryable: true, Fields: fields}
}

func rule(token string) []salesforce.ValidationRule {
	return []salesforce.ValidationRule{{Name: "Rule", Active: true, Message: token + ": read again"}}
}

func newOrg() *fakeOrg {
	staging := object(event.Object)
	for _, name := range event.AllFields() {
		staging.Fields = append(staging.Fields, field(name, "string", unique))
	}
	guard := []salesforce.Field{field("Source_Order__c", "double"), field("Source_Event__c", "string"), field("Source_Prior__c", "string")}
	return &fakeOrg{
		asked: map[string]int{},
		objects: map[string]*salesforce.Object{
			event.Object: staging, event.QueueObject: object(event.QueueObject), event.ChunkObject: object(event.ChunkObject),
			"Pay__c": object("Pay__c", append(guard,
				field("Key__c", "string", unique),
				field("Text__c", "string"), field("Short__c", "string", func(f *salesforce.Field) { f.Length = 3 }),
				field("Number__c", "double"), field("Whole__c", "int"), field("Flag__c", "boolean"),
				field("Date__c", "date"), field("At__c", "datetime"), field("Time__c", "time"),
				field("State__c", "picklist", list("Open", "Done")), field("Tags__c", "multipicklist", list("a", "b")),
				field("Owner__c", "reference"), field("Formula__c", "double", func(f *salesforce.Field) { f.Calculated, f.Createable, f.Updateable = true, false, false }),
				field("Fixed__c", "string", func(f *salesforce.Field) { f.Updateable = false }),
				field("Buyer__c", "reference", func(f *salesforce.Field) {
					f.ReferenceTo, f.RelationshipName = []string{"Buyer__c"}, "Buyer__r"
				}),
			)...),
			"Buyer__c": object("Buyer__c", field("Key__c", "string", unique), field("Number__c", "double")),
		},
		rules: map[string][]salesforce.ValidationRule{event.Object: rule("REVISION"), "Pay__c": rule("MOVED")},
	}
}

// load is a mapping whose only record has these lines.
func load(t *testing.T, lines ...string) *mapping.File {
	t.Helper()
	if !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "key:") }) {
		lines = append(lines, "key: {field: Key__c, from: $.id}")
	}
	f, err := mapping.Parse("m.yaml", []byte(fmt.Sprintf(`
source: shop
provider: generic
secrets: ["${S}"]
event: {id: $.id, type: $.type}
routes:
  - name: pay
    records:
      - object: Pay__c
        %s
`, strings.Join(lines, "\n        "))))
	require.NoError(t, err)
	return f
}

func findings(t *testing.T, org *fakeOrg, files ...*mapping.File) []string {
	t.Helper()
	found, err := preflight.Check(t.Context(), org, files)
	require.NoError(t, err)
	lines := []string{}
	for _, f := range found {
		f.Mapping = ""
		kind := "problem "
		if f.Warning {
			kind = "warning "
		}
		lines = append(lines, kind+f.String())
	}
	return lines
}

func TestNothingToFind(t *testing.T) {
	t.Parallel()
	org := newOrg()
	f := load(t, "order: true", "state: {field: State__c, allow: {Open: [Done]}}",
		"fields: {Text__c: {from: $.a, max: 255}, Number__c: {from: $.n, as: number}, Whole__c: {from: $.w, as: integer}, "+
			"Flag__c: {from: $.f, as: boolean}, Date__c: {from: $.d, as: date}, At__c: {from: $.t, as: datetime}, Tags__c: {from: $.l, as: multipicklist}, "+
			"State__c: {from: $.s, map: {o: Open, d: Done}}, Owner__c: $.owner, Fixed__c: {from: $.x, max: 255, on: create}, "+
			"Buyer__r: {lookup: Buyer__c, by: Key__c, from: $.buyer}}")
	assert.Empty(t, findings(t, org, f, f))
	assert.Equal(t, 1, org.asked["Pay__c"], "an object is asked for once")
}

// Two records of one row share the work of filling it.
func TestRequiredFieldsMayComeFromAnotherRecordOfTheSameRow(t *testing.T) {
	t.Parallel()
	org := newOrg()
	org.change("Pay__c", "Flag__c", func(f *salesforce.Field) { f.Nillable = false })
	f, err := mapping.Parse("m.yaml", []byte(`
source: shop
provider: generic
secrets: ["${S}"]
event: {id: $.id, type: $.type}
routes:
  - records:
      - {object: Pay__c, key: {field: Key__c, from: $.id}, fields: {Number__c: {from: $.n, as: number}}}
      - {object: Pay__c, key: {field: Key__c, from: $.id}, fields: {Flag__c: {from: $.f, as: boolean}}}
`))
	require.NoError(t, err)
	assert.Empty(t, findings(t, org, f))
}

// Where effects go is held to the same as records.
func TestEffects(t *testing.T) {
	t.Parallel()
	const routes = `
source: shop
provider: generic
secrets: ["${S}"]
event: {id: $.id, type: $.type}
routes:
  - name: pay
    records: [{object: Pay__c, key: {field: Key__c, from: $.id}, fields: {State__c: {value: Done}}}]
    effects:
      - {name: post, when: {object: Pay__c, field: State__c, to: [Done]}, post: {url: "${URL}", body: {a: $.id}}}
      - name: record
        when: {object: Pay__c, field: State__c, to: [Done]}
        salesforce: {object: Buyer__c, key: {field: Number__c, from: $.buyer}, fields: {Number__c2: $.id}}
      - name: event
        when: {object: Pay__c, field: State__c, to: [Done]}
        platform_event: {object: Paid__e, fields: {Text__c: {from: $.n, as: number}}}
`
	f, err := mapping.Parse("m.yaml", []byte(routes))
	require.NoError(t, err)
	org := newOrg()
	org.objects["Paid__e"] = &salesforce.Object{Name: "Paid__e", Createable: true, Fields: []salesforce.Field{
		field("Text__c", "string", func(f *salesforce.Field) { f.Updateable = false }),
		field("Must__c", "string", func(f *salesforce.Field) { f.Nillable, f.Updateable = false, false }),
	}}
	want := []string{
		"problem Outbound_Effect__c: the object doesn't exist",
		"problem Buyer__c.Number__c: the key is no external ID",
		"problem Buyer__c.Number__c: the key is a number",
		"problem Buyer__c.Number__c2: the field doesn't exist",
		"problem Paid__e.Text__c: as: number doesn't fit a text field",
		"problem Paid__e.Must__c: the field is required",
	}
	got := findings(t, org, f)
	require.Len(t, got, len(want), strings.Join(got, "\n"))
	for i := range want {
		assert.Contains(t, got[i], want[i])
	}

	org.objects[event.EffectObject] = object(event.EffectObject)
	org.objects[event.EffectObject].Createable = false
	org.objects["Paid__e"].Createable = false
	got = findings(t, org, f)
	assert.Contains(t, got, "problem Outbound_Effect__c: the integration user may not create and edit effects: assign the permission set Bridge_Integration to the integration user")
	assert.Contains(t, got, "problem Paid__e: the integration user may not publish the event: give it create by a permission set")
}

func TestFindingsNameTheirMapping(t *testing.T) {
	t.Parallel()
	found, err := preflight.Check(t.Context(), newOrg(), []*mapping.File{load(t, "fields: {X__c: {value: x}}")})
	require.NoError(t, err)
	require.Len(t, found, 1)
	assert.Equal(t, "m.yaml route pay", found[0].Mapping)
	assert.True(t, strings.HasSuffix(found[0].String(), "(m.yaml route pay)"))
}

func TestACallThatFailsIsAnError(t *testing.T) {
	t.Parallel()
	org := newOrg()
	org.down = errors.New("no route to host")
	_, err := preflight.Check(t.Context(), org, nil)
	assert.ErrorContains(t, err, "describing Inbound_Event__c: no route to host")
}
