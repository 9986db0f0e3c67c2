package mapping

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// parseField loads a mapping with one field.
func parseField(t *testing.T, field string) *File {
	t.Helper()
	f, err := Parse("m.yaml", []byte(fmt.Sprintf(`
source: shop
provider: generic
secrets: ["${S}"]
event: {id: $.id, type: $.type}
routes:
  - records:
      - object: A__c
        key: {field: K__c, from: $.id}
        fields: {F__c: %s}
`, field)))
	require.NoError(t, err)
	return f
}

func TestTargetFieldSaysWhatCanBeSent(t *testing.T) {
	t.Parallel()
	for field, want := range map[string]TargetField{
		"$.a":                         {Open: true},
		"{from: $.a, max: 5}":         {Open: true, Max: 5},
		`{template: "{$.a}-{$.b}"}`:   {Open: true},
		"{value: Stripe}":             {Values: []any{"Stripe"}},
		"{value: Stripe, max: 3}":     {Values: []any{"Str"}, Max: 3},
		`{value: "007", as: number}`:  {As: "number"},
		`{value: "1.50", as: number}`: {As: "number", Values: []any{json.Number("1.50")}},
		`{value: "1.50", as: minor_units, currency: EUR}`:         {As: "minor_units"},
		`{value: 150, as: minor_units, currency: EUR}`:            {As: "minor_units", Values: []any{json.Number("1.50")}},
		`{value: 150, as: minor_units, currency: $.c}`:            {As: "minor_units"},
		"{from: $.a, map: {x: 1}, as: text, otherwise: null}":     {As: "text", Values: []any{"1", nil}},
		"{from: $.a, lower: true, map: {x: ABC}}":                 {Values: []any{"ABC"}},
		"{from: $.a, map: {x: yes it is}, as: boolean}":           {As: "boolean"},
		"{from: $.a, default: none}":                              {Open: true, Values: []any{"none"}},
		`{from: $.a, as: number, default: "final, not a number"}`: {Open: true, As: "number", Values: []any{"final, not a number"}},
	} {
		got := parseField(t, field).Routes[0].Targets()[0].Fields[0]
		assert.Equal(t, want.Open, got.Open, field)
		assert.Equal(t, want.As, got.As, field)
		assert.Equal(t, want.Max, got.Max, field)
		assert.Equal(t, want.Values, got.Values, field)
	}
}

func TestTargetSaysWhereValuesComeFrom(t *testing.T) {
	t.Parallel()
	target := parseField(t, `{template: "{$.a}-{$.b}"}`).Routes[0].Targets()[0]
	require.Len(t, target.KeyPaths, 1)
	assert.Equal(t, "$.id", target.KeyPaths[0].String())
	require.Len(t, target.Fields[0].Paths, 2)
	assert.Equal(t, "$.b", target.Fields[0].Paths[1].String())
	assert.Empty(t, parseField(t, "{value: x}").Routes[0].Targets()[0].Fields[0].Paths)
}

// A literal that can't become what the field sends fails every event that
// needs it; the loader says so before the first one.
func TestLiteralsThatCannotBeSentAreWarnedOf(t *testing.T) {
	t.Parallel()
	for field, want := range map[string]string{
		"{value: abc, as: integer}":                                            `m.yaml:10:32: routes[0].records[0].fields.F__c.value: F__c can't take it: isn't a number: "abc": write a value that as: integer takes`,
		"{from: $.a, map: {x: 1, y: no}, as: number}":                          `m.yaml:10:51: routes[0].records[0].fields.F__c.map.y: F__c can't take it: isn't a number: "no": write a value that as: number takes`,
		"{from: $.a, map: {x: 1}, otherwise: z, as: date}":                     `m.yaml:10:45: `,
		`{from: $.a, as: datetime, format: "02.01.2006 15:04"}`:                `m.yaml:10:58: routes[0].records[0].fields.F__c.format: values of this format have no zone`,
		`{from: $.a, as: datetime, format: "02.01.2006 15:04", timezone: UTC}`: "",
		`{from: $.a, as: datetime, format: "02.01.2006 15:04 Z07:00"}`:         "",
		`{from: $.a, as: date, format: "02.01.2006"}`:                          "",
		`{from: $.a, as: datetime, format: unix_s}`:                            "",
		"{from: $.a, map: {x: 2026-01-05}, as: date}":                          "",
		"{value: 7, as: text}":                                                 "",
	} {
		warnings := parseField(t, field).Warnings()
		if want == "" {
			assert.Empty(t, warnings, field)
			continue
		}
		if assert.NotEmpty(t, warnings, field) {
			assert.Contains(t, warnings[0].String(), want)
		}
	}
}
