package preflight_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/event"
	"sfbridge/salesforce"
)

// orgCase is a change of the org, the lines of a mapping and what is said of
// them.
type orgCase struct {
	name   string
	change func(*fakeOrg)
	lines  []string
	want   []string
}

const (
	number = "fields: {Number__c: {from: $.n, as: number}}"
	lookup = "fields: {Buyer__r: {lookup: Buyer__c, by: Key__c, from: $.buyer}}"
)

func accessCases() []orgCase {
	return []orgCase{
		{"no object", func(o *fakeOrg) { delete(o.objects, "Pay__c") }, []string{number},
			[]string{"problem Pay__c: the object doesn't exist or the integration user has no access to it"}},
		{"no staging", func(o *fakeOrg) { delete(o.objects, event.Object) }, []string{number},
			[]string{"problem Inbound_Event__c: the object doesn't exist"}},
		{"staging ids fold case", func(o *fakeOrg) {
			o.change(event.Object, event.FieldID, func(f *salesforce.Field) { f.CaseSensitive = false })
		}, []string{number},
			[]string{"problem Inbound_Event__c.Event_Id__c: the field is not unique and case sensitive"}},
		{"staging is read only", func(o *fakeOrg) { o.objects[event.Object].Createable = false }, []string{number},
			[]string{"problem Inbound_Event__c: the integration user may not create and edit events"}},
		{"staging is not guarded", func(o *fakeOrg) { o.rules[event.Object] = nil }, []string{number},
			[]string{"problem Inbound_Event__c.Refuse_Old_Revision: no validation rule with REVISION in its message"}},
		{"may not create", func(o *fakeOrg) { o.objects["Pay__c"].Createable = false }, []string{number},
			[]string{"problem Pay__c: the integration user may not create and edit records"}},
		{"may not create, need not", func(o *fakeOrg) { o.objects["Pay__c"].Createable = false }, []string{"action: update", number}, nil},
		{"may not edit", func(o *fakeOrg) { o.objects["Pay__c"].Updateable = false }, []string{"action: update", number},
			[]string{"problem Pay__c: the integration user may not edit records"}},
		{"may not delete", func(o *fakeOrg) { o.objects["Pay__c"].Deletable = false }, []string{"action: delete"},
			[]string{"problem Pay__c: the integration user may not edit and delete records"}},
	}
}

func keyCases() []orgCase {
	return []orgCase{
		{"key is no external id", func(o *fakeOrg) {
			o.change("Pay__c", "Key__c", func(f *salesforce.Field) { f.ExternalID, f.IDLookup, f.Unique = false, false, false })
		}, []string{number}, []string{"problem Pay__c.Key__c: the key is no external ID: tick External ID and Unique"}},
		{"key is not unique", func(o *fakeOrg) { o.change("Pay__c", "Key__c", func(f *salesforce.Field) { f.Unique = false }) }, []string{number},
			[]string{"problem Pay__c.Key__c: the key is not unique"}},
		{"key folds case", func(o *fakeOrg) { o.change("Pay__c", "Key__c", func(f *salesforce.Field) { f.CaseSensitive = false }) }, []string{number},
			[]string{"warning Pay__c.Key__c: the key folds letter case"}},
		{"key is a number", func(o *fakeOrg) {
			o.change("Pay__c", "Key__c", func(f *salesforce.Field) { f.Type, f.Precision = "double", 18 })
		}, []string{number}, []string{"problem Pay__c.Key__c: the key is a number: the org keeps 15 digits"}},
		{"key is a small number", func(o *fakeOrg) {
			o.change("Pay__c", "Key__c", func(f *salesforce.Field) { f.Type, f.Precision = "double", 10 })
		}, []string{"key: {field: Key__c, from: $.number}", number}, []string{"warning Pay__c.Key__c: the key is a number: ids with leading zeros"}},
		{"key can't be set", func(o *fakeOrg) { o.change("Pay__c", "Key__c", func(f *salesforce.Field) { f.Createable = false }) }, []string{number},
			[]string{"problem Pay__c.Key__c: the key can't be set when a record is created"}},
	}
}

func valueCases() []orgCase {
	return []orgCase{
		{"required field", func(o *fakeOrg) { o.change("Pay__c", "Text__c", func(f *salesforce.Field) { f.Nillable = false }) }, []string{number},
			[]string{"problem Pay__c.Text__c: the field is required and a new record doesn't get it: map it"}},
		{"required field on update", func(o *fakeOrg) { o.change("Pay__c", "Text__c", func(f *salesforce.Field) { f.Nillable = false }) },
			[]string{"fields: {Text__c: {from: $.a, max: 9, on: update}}"}, []string{"problem Pay__c.Text__c: the field is required"}},
		{"required field has a default", func(o *fakeOrg) {
			o.change("Pay__c", "Text__c", func(f *salesforce.Field) { f.Nillable, f.DefaultedOnCreate = false, true })
		}, []string{number}, nil},
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
	}
}

func guardCases() []orgCase {
	return []orgCase{
		{"no guard fields", nil, []string{"order: {field: N__c, event: E__c, prior: P__c}", number}, []string{
			"problem Pay__c.N__c: the field doesn't exist", "problem Pay__c.E__c: the field doesn't exist", "problem Pay__c.P__c: the field doesn't exist"}},
		{"guard fields of wrong types", nil, []string{"order: {field: Text__c, event: Short__c, prior: Flag__c}", number}, []string{
			"problem Pay__c.Text__c: the order value is a number, and the field is of type string",
			"problem Pay__c.Short__c: the field keeps an event id", "problem Pay__c.Flag__c: the field keeps an event id"}},
		{"small order field", func(o *fakeOrg) {
			o.change("Pay__c", "Source_Order__c", func(f *salesforce.Field) { f.Precision = 12 })
		},
			[]string{"order: true", number}, []string{"problem Pay__c.Source_Order__c: the field is too small for an order value"}},
		{"guard field is read only", func(o *fakeOrg) {
			o.change("Pay__c", "Source_Prior__c", func(f *salesforce.Field) { f.Updateable = false })
		},
			[]string{"order: true", number}, []string{"problem Pay__c.Source_Prior__c: the field can't be changed"}},
		{"no guard rule", func(o *fakeOrg) { o.rules["Pay__c"] = rule("OTHER") }, []string{"order: true", number},
			[]string{"problem Pay__c.Refuse_Moved: no validation rule with MOVED in its message: a decision made on an old read would be written: deploy the rule Refuse_Moved"}},
		{"guard rule is not active", func(o *fakeOrg) { o.rules["Pay__c"][0].Active = false }, []string{"order: true", number},
			[]string{"problem Pay__c.Refuse_Moved: the validation rule is not active"}},
		{"no guard rule, no prior", func(o *fakeOrg) { delete(o.rules, "Pay__c") }, []string{"order: {field: Source_Order__c}", number}, nil},
		{"rules can't be seen", func(o *fakeOrg) { o.noSetup = true }, []string{"order: true", number}, []string{
			"warning Inbound_Event__c.Refuse_Old_Revision: the integration user may not see validation rules",
			"warning Pay__c.Refuse_Moved: the integration user may not see validation rules, so whether this one guards the object can't be told: look under Setup, Object Manager, Pay__c, Validation Rules: it must be active with MOVED in its message"}},
	}
}

func lookupCases() []orgCase {
	return []orgCase{
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
	}
}

// Each change of the org, and what is said of it.
func TestOrgs(t *testing.T) {
	t.Parallel()
	for _, c := range slices.Concat(accessCases(), keyCases(), valueCases(), guardCases(), lookupCases()) {
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
