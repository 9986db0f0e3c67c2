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

// Each field alone, and what is said of it.
func TestFields(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"Txt__c: {value: x}":                                      "problem Pay__c.Txt__c: the field doesn't exist or the integration user can't see it: check the spelling and field-level security",
		"Text: {value: x}":                                        "problem Pay__c.Text: the field doesn't exist or the integration user can't see it: check the spelling and field-level security; did you mean Text__c?",
		"Formula__c: {value: 1}":                                  "problem Pay__c.Formula__c: the field is a formula",
		"Fixed__c: {value: x}":                                    "problem Pay__c.Fixed__c: the field can't be changed when a record exists: give edit access, or limit it with on: create",
		"Text__c: {from: $.a, as: number}":                        "problem Pay__c.Text__c: as: number doesn't fit a text field: write as: text",
		"Text__c: {from: $.a, as: boolean}":                       "problem Pay__c.Text__c: as: boolean doesn't fit a text field",
		"Text__c: {value: 7}":                                     "problem Pay__c.Text__c: the mapping gives the number 7, and the field is a text: quote it",
		"Text__c: {value: true}":                                  "problem Pay__c.Text__c: the mapping gives true, and the field is a text",
		"Text__c: {from: $.a, max: 256}":                          "problem Pay__c.Text__c: max: 256 is more than the 255 characters of the field: write max: 255",
		"Text__c: {from: $.a}":                                    "warning Pay__c: text that is longer than the field sends its event to review: Text__c (255): add max:",
		"Short__c: {value: long}":                                 `problem Pay__c.Short__c: the mapping gives "long" of 4 characters, and the field takes 3`,
		"Short__c: {value: long, max: 3}":                         "",
		"Number__c: {from: $.a, as: text}":                        "problem Pay__c.Number__c: as: text doesn't fit a number field: write as: number",
		"Number__c: {from: $.a, as: datetime}":                    "problem Pay__c.Number__c: as: datetime doesn't fit a number field",
		"Number__c: $.amount":                                     "warning Pay__c.Number__c: values are sent as they come, and a number field refuses the whole call for one that doesn't fit: write as: number",
		"Number__c: {value: 12.50}":                               "",
		"Number__c: {value: twelve}":                              `problem Pay__c.Number__c: the mapping gives the text "twelve", and the field is a number`,
		"Number__c: {from: $.id, as: integer}":                    "problem Pay__c.Number__c: an id goes into a number: the org keeps 15 digits of it, and a 64-bit id has up to 19: use a Text field",
		"Number__c: {from: $.a.order_id, as: number}":             "problem Pay__c.Number__c: an id goes into a number",
		"Number__c: {from: $.orderId, as: integer}":               "problem Pay__c.Number__c: an id goes into a number",
		"Number__c: {from: $.paid, as: integer}":                  "",
		"Number__c: {from: $.a, as: minor_units, currency: EUR}":  "",
		"Whole__c: {from: $.a, as: number}":                       "warning Pay__c.Whole__c: the field keeps whole numbers",
		"Whole__c: {from: $.a, as: date}":                         "problem Pay__c.Whole__c: as: date doesn't fit a whole number field: write as: integer",
		"Flag__c: {from: $.a, as: text}":                          "problem Pay__c.Flag__c: as: text doesn't fit a checkbox field: write as: boolean",
		"Flag__c: {value: true}":                                  "",
		"Date__c: {from: $.a, as: datetime}":                      "problem Pay__c.Date__c: as: datetime doesn't fit a date field: write as: date",
		"At__c: {from: $.a, as: date}":                            "problem Pay__c.At__c: as: date doesn't fit a date/time field: write as: datetime",
		"At__c: $.a":                                              "warning Pay__c.At__c: values are sent as they come",
		"Time__c: $.a":                                            "",
		"State__c: {value: Open}":                                 "",
		"State__c: {value: Opened}":                               `problem Pay__c.State__c: the list has no active value "Opened": add it to the list, or give one of "Open", "Done"`,
		"State__c: {value: open}":                                 `warning Pay__c.State__c: the list has no active value "open": write it as the list does: "Open"`,
		"State__c: {from: $.a, map: {o: Open, g: Gone}}":          `problem Pay__c.State__c: the list has no active value "Gone"`,
		"State__c: {from: $.a, map: {o: Open}, otherwise: Other}": `problem Pay__c.State__c: the list has no active value "Other"`,
		"State__c: {from: $.a, map: {o: Open}, default: Any}":     `problem Pay__c.State__c: the list has no active value "Any"`,
		"State__c: $.a":                                           "warning Pay__c.State__c: the list is restricted, and a value of the provider that it doesn't have ends in review: add map:",
		"Tags__c: {value: a;c}":                                   `problem Pay__c.Tags__c: the list has no active value "c"`,
		"Tags__c: {from: $.a, as: json}":                          "problem Pay__c.Tags__c: as: json doesn't fit a multi-select picklist field: write as: multipicklist",
		"Owner__c: {from: $.a, as: integer}":                      "problem Pay__c.Owner__c: as: integer doesn't fit a record id field",
	} {
		got := findings(t, newOrg(), load(t, "fields: {"+given+"}"))
		if want == "" {
			assert.Empty(t, got, given)
			continue
		}
		if assert.Len(t, got, 1, given) {
			assert.Contains(t, got[0], want, given)
		}
	}
}

// Each change of the org, and what is said of it.
func TestOrgs(t *testing.T) {
	t.Parallel()
	const fields = "fields: {Number__c: {from: $.n, as: number}}"
	lookup := "fields: {Buyer__r: {lookup: Buyer__c, by: Key__c, from: $.buyer}}"
	for _, c := range []struct {
		name   string
		change func(*fakeOrg)
		lines  []string
		want   []string
	}{
		{"no object", func(o *fakeOrg) { delete(o.objects, "Pay__c") }, []string{fields},
			[]string{"problem Pay__c: the object doesn't exist or the integration user has no access to it"}},
		{"no staging", func(o *fakeOrg) { delete(o.objects, event.Object) }, []string{fields},
			[]string{"problem Inbound_Event__c: the object doesn't exist"}},
		{"staging ids fold case", func(o *fakeOrg) {
			o.change(event.Object, event.FieldID, func(f *salesforce.Field) { f.CaseSensitive = false })
		}, []string{fields},
			[]string{"problem Inbound_Event__c.Event_Id__c: the field is not unique and case sensitive"}},
		{"staging is read only", func(o *fakeOrg) { o.objects[event.Object].Createable = false }, []string{fields},
			[]string{"problem Inbound_Event__c: the integration user may not create and edit events"}},
		{"staging is not guarded", func(o *fakeOrg) { o.rules[event.Object] = nil }, []string{fields},
			[]string{"problem Inbound_Event__c.Refuse_Old_Revision: no validation rule with REVISION in its message"}},
		{"may not create", func(o *fakeOrg) { o.objects["Pay__c"].Createable = false }, []string{fields},
			[]string{"problem Pay__c: the integration user may not create and edit records"}},
		{"may not create, need not", func(o *fakeOrg) { o.objects["Pay__c"].Createable = false }, []string{"action: update", fields}, nil},
		{"may not edit", func(o *fakeOrg) { o.objects["Pay__c"].Updateable = false }, []string{"action: update", fields},
			[]string{"problem Pay__c: the integration user may not edit records"}},
		{"may not delete", func(o *fakeOrg) { o.objects["Pay__c"].Deletable = false }, []string{"action: delete"},
			[]string{"problem Pay__c: the integration user may not edit and delete records"}},
		{"key is no external id", func(o *fakeOrg) {
			o.change("Pay__c", "Key__c", func(f *salesforce.Field) { f.ExternalID, f.IDLookup, f.Unique = false, false, false })
		}, []string{fields}, []string{"problem Pay__c.Key__c: the key is no external ID: tick External ID and Unique"}},
		{"key is not unique", func(o *fakeOrg) { o.change("Pay__c", "Key__c", func(f *salesforce.Field) { f.Unique = false }) }, []string{fields},
			[]string{"problem Pay__c.Key__c: the key is not unique"}},
		{"key folds case", func(o *fakeOrg) { o.change("Pay__c", "Key__c", func(f *salesforce.Field) { f.CaseSensitive = false }) }, []string{fields},
			[]string{"warning Pay__c.Key__c: the key folds letter case"}},
		{"key is a number", func(o *fakeOrg) {
			o.change("Pay__c", "Key__c", func(f *salesforce.Field) { f.Type, f.Precision = "double", 18 })
		}, []string{fields}, []string{"problem Pay__c.Key__c: the key is a number: the org keeps 15 digits"}},
		{"key is a small number", func(o *fakeOrg) {
			o.change("Pay__c", "Key__c", func(f *salesforce.Field) { f.Type, f.Precision = "double", 10 })
		}, []string{"key: {field: Key__c, from: $.number}", fields}, []string{"warning Pay__c.Key__c: the key is a number: ids with leading zeros"}},
		{"key can't be set", func(o *fakeOrg) { o.change("Pay__c", "Key__c", func(f *salesforce.Field) { f.Createable = false }) }, []string{fields},
			[]string{"problem Pay__c.Key__c: the key can't be set when a record is created"}},
		{"required field", func(o *fakeOrg) { o.change("Pay__c", "Text__c", func(f *salesforce.Field) { f.Nillable = false }) }, []string{fields},
			[]string{"problem Pay__c.Text__c: the field is required and a new record doesn't get it: map it"}},
		{"required field on update", func(o *fakeOrg) { o.change("Pay__c", "Text__c", func(f *salesforce.Field) { f.Nillable = false }) },
			[]string{"fields: {Text__c: {from: $.a, max: 9, on: update}}"}, []string{"problem Pay__c.Text__c: the field is required"}},
		{"required field has a default", func(o *fakeOrg) {
			o.change("Pay__c", "Text__c", func(f *salesforce.Field) { f.Nillable, f.DefaultedOnCreate = false, true })
		}, []string{fields}, nil},
		{"required lookup", func(o *fakeOrg) { o.change("Pay__c", "Buyer__c", func(f *salesforce.Field) { f.Nillable = false }) }, []string{lookup}, nil},
		{"states", nil, []string{"state: {field: State__c, allow: {Open: [Done, Lost]}}", "fields: {State__c: {value: Open}}"},
			[]string{`problem Pay__c.State__c: the list has no active value "Lost"`}},
		{"inactive value", func(o *fakeOrg) {
			o.change("Pay__c", "State__c", func(f *salesforce.Field) { f.PicklistValues[1].Active = false })
		},
			[]string{"fields: {State__c: {value: Done}}"}, []string{`problem Pay__c.State__c: the list has no active value "Done"`}},
		{"open list", func(o *fakeOrg) {
			o.change("Pay__c", "State__c", func(f *salesforce.Field) { f.RestrictedPicklist = false })
		},
			[]string{"fields: {State__c: {value: Lost}}"}, []string{`warning Pay__c.State__c: the list has no active value "Lost"; it is not restricted`}},
		{"no guard fields", nil, []string{"order: {field: N__c, event: E__c, prior: P__c}", fields}, []string{
			"problem Pay__c.N__c: the field doesn't exist", "problem Pay__c.E__c: the field doesn't exist", "problem Pay__c.P__c: the field doesn't exist"}},
		{"guard fields of wrong types", nil, []string{"order: {field: Text__c, event: Short__c, prior: Flag__c}", fields}, []string{
			"problem Pay__c.Text__c: the order value is a number, and the field is of type string",
			"problem Pay__c.Short__c: the field keeps an event id", "problem Pay__c.Flag__c: the field keeps an event id"}},
		{"small order field", func(o *fakeOrg) {
			o.change("Pay__c", "Source_Order__c", func(f *salesforce.Field) { f.Precision = 12 })
		},
			[]string{"order: true", fields}, []string{"problem Pay__c.Source_Order__c: the field is too small for an order value"}},
		{"guard field is read only", func(o *fakeOrg) {
			o.change("Pay__c", "Source_Prior__c", func(f *salesforce.Field) { f.Updateable = false })
		},
			[]string{"order: true", fields}, []string{"problem Pay__c.Source_Prior__c: the field can't be changed"}},
		{"no guard rule", func(o *fakeOrg) { o.rules["Pay__c"] = rule("OTHER") }, []string{"order: true", fields},
			[]string{"problem Pay__c.Refuse_Moved: no validation rule with MOVED in its message: a decision made on an old read would be written: deploy the rule Refuse_Moved"}},
		{"guard rule is not active", func(o *fakeOrg) { o.rules["Pay__c"][0].Active = false }, []string{"order: true", fields},
			[]string{"problem Pay__c.Refuse_Moved: the validation rule is not active"}},
		{"no guard rule, no prior", func(o *fakeOrg) { delete(o.rules, "Pay__c") }, []string{"order: {field: Source_Order__c}", fields}, nil},
		{"rules can't be seen", func(o *fakeOrg) { o.noSetup = true }, []string{"order: true", fields}, []string{
			"warning Inbound_Event__c.Refuse_Old_Revision: the integration user may not see validation rules",
			"warning Pay__c.Refuse_Moved: the integration user may not see validation rules, so whether this one guards the object can't be told: look under Setup, Object Manager, Pay__c, Validation Rules: it must be active with MOVED in its message"}},
		{"no lookup", func(o *fakeOrg) { o.change("Pay__c", "Buyer__c", func(f *salesforce.Field) { f.Type = "string" }) }, []string{lookup},
			[]string{"problem Pay__c.Buyer__c: the field is no lookup"}},
		{"lookup to another object", func(o *fakeOrg) {
			o.change("Pay__c", "Buyer__c", func(f *salesforce.Field) { f.ReferenceTo = []string{"Account"} })
		}, []string{lookup}, []string{"problem Pay__c.Buyer__c: the lookup doesn't point to Buyer__c: name the object it points to: Account"}},
		{"lookup under another name", func(o *fakeOrg) {
			o.change("Pay__c", "Buyer__c", func(f *salesforce.Field) { f.RelationshipName = "Client__r" })
		}, []string{lookup}, []string{"problem Pay__c.Buyer__c: the relationship is not called Buyer__r: write Client__r"}},
		{"lookup to many", func(o *fakeOrg) {
			o.change("Pay__c", "Buyer__c", func(f *salesforce.Field) { f.ReferenceTo = []string{"Buyer__c", "Account"} })
		}, []string{lookup}, []string{"warning Pay__c.Buyer__c: the lookup may point to several objects"}},
		{"no parent", func(o *fakeOrg) { delete(o.objects, "Buyer__c") }, []string{lookup}, []string{"problem Buyer__c: the object doesn't exist"}},
		{"parent has no such key", nil, []string{"fields: {Buyer__r: {lookup: Buyer__c, by: Id__c, from: $.buyer}}"},
			[]string{"problem Buyer__c.Id__c: the field doesn't exist"}},
		{"parent's key is no external id", nil, []string{"fields: {Buyer__r: {lookup: Buyer__c, by: Number__c, from: $.buyer}}"}, []string{
			"problem Buyer__c.Number__c: the lookup's key is no external ID", "problem Buyer__c.Number__c: the lookup's key is a number"}},
		{"lookup sends a number", nil, []string{"fields: {Buyer__r: {lookup: Buyer__c, by: Key__c, from: $.buyer, as: integer}}"},
			[]string{"problem Pay__c.Buyer__c: the lookup sends a number, and Buyer__c.Key__c is text"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			org := newOrg()
			if c.change != nil {
				c.change(org)
			}
			got := findings(t, org, load(t, c.lines...))
			require.Len(t, got, len(c.want), strings.Join(got, "\n"))
			for i, want := range c.want {
				assert.Contains(t, got[i], want)
			}
		})
	}
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
