package preflight_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

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
