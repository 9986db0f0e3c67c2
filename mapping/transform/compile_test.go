package transform_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/mapping/path"
	"sfbridge/mapping/transform"
)

func TestCompile_says_what_to_write(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		spec spec
		want string
	}{
		{"unknown as", spec{As: "fancy"}, `as: "fancy" isn't known: write one of text, number, integer, boolean, datetime, date, minor_units, multipicklist, json`},
		{"as by another name", spec{As: "Bool"}, `as: "Bool" isn't known: write boolean`},
		{"lower and upper", spec{Lower: true, Upper: true}, "upper: stands beside lower: keep one of them"},
		{"lower json", spec{Lower: true, As: transform.JSON}, "as: json text isn't changed by lower or upper: leave them out"},
		{"keep_empty", spec{KeepEmpty: true}, "keep_empty: works with as: text only: add as: text or leave it out"},
		{"otherwise alone", spec{Otherwise: lit("x")}, "otherwise: stands without map: add map, or write default for missing values"},
		{"empty map", spec{Map: map[string]any{}}, "map: is empty: write at least one pair, or leave it out"},
		{"list in map", spec{Map: map[string]any{"a": []any{}}}, "map: a gives a list or an object: write text, a number, true, false or null"},
		{"odd number in map", spec{Map: map[string]any{"a": num("0x10")}}, "map: a gives 0x10, which JSON can't write: write a plain number or quote it"},
		{"empty key in map", spec{Map: map[string]any{"": "x"}}, `map: has the key "", which no value reaches: leave it out: "" clears the field`},
		{"list in otherwise", spec{Map: map[string]any{"a": "b"}, Otherwise: lit(map[string]any{})}, "otherwise: is a list or an object: write text, a number, true, false or null"},
		{"format alone", spec{Format: "unix_s"}, "format: works with as: datetime and as: date only: add one of them or leave it out"},
		{"timezone alone", spec{Timezone: "UTC", As: transform.Text}, "timezone: works with as: datetime and as: date only: add one of them or leave it out"},
		{"unknown zone", spec{As: transform.Date, Timezone: "Berlin"}, `timezone: "Berlin" isn't known: write an IANA name such as Europe/Berlin or UTC`},
		{"the machine's zone", spec{As: transform.Date, Timezone: "Local"}, `timezone: "Local" isn't known: write an IANA name such as Europe/Berlin or UTC`},
		{"unknown format", spec{As: transform.Date, Format: "YYYY-MM-DD"}, `format: "YYYY" isn't known in a layout; known are 2006 01 02 15 04 05 .000 Z07:00 Jan: write rfc3339, unix_s, unix_ms or a layout such as 2006-01-02 15:04:05`},
		{"currency missing", spec{As: transform.MinorUnits}, "currency: is missing, and as: minor_units needs it: write its path, such as $.currency, or a code such as EUR"},
		{"currency alone", spec{Currency: "$.c"}, "currency: works with as: minor_units only: add it or leave currency out"},
		{"unknown currency", spec{As: transform.MinorUnits, Currency: "ZZZ"}, "currency: ZZZ isn't a currency of ISO 4217: write the path of the code, such as $.currency, or give its digits under currencies"},
		{"bad path", spec{As: transform.MinorUnits, Currency: "$.a-b"}, "write $['a-b']"},
		{"max below zero", spec{Max: -1}, "max: must be at least 1: write the field's length"},
		{"max of a number", spec{Max: 5, As: transform.Number}, "max: can't cut as: number: leave it out; it cuts text"},
		{"max of a list", spec{Max: 5, As: transform.MultiPicklist}, "max: can't cut as: multipicklist: leave it out; it cuts text"},
		{"default_null alone", spec{DefaultNull: true}, "default_null: stands without default: add default"},
		{"list as default", spec{Default: lit([]any{})}, "default: is a list or an object: write text, a number, true, false or null"},
		{"required and empty default", spec{Required: true, Default: lit(nil)}, "default: is empty although the field is required: write a value, or leave default or required out"},
		{"several", spec{Lower: true, Upper: true, DefaultNull: true}, "upper: stands beside lower: keep one of them\ndefault_null: stands without default: add default"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tr, err := transform.Compile(c.spec)
			var problems transform.Problems
			require.ErrorAs(t, err, &problems)
			assert.Contains(t, err.Error(), c.want)
			assert.Nil(t, tr)
		})
	}
}

func TestCompile_layouts(t *testing.T) {
	t.Parallel()
	for _, layout := range []string{"2006-01-02", "02.01.2006 15:04", "20060102T150405.000Z07:00", "Jan 02 2006", "2006/01/02, 15:04:05 Z07:00", "2006年01月02日"} {
		_, err := transform.Compile(spec{As: transform.Datetime, Format: layout})
		assert.NoError(t, err, layout)
	}
	for layout, want := range map[string]string{
		"unix":                     `"unix" isn't known`,
		"RFC3339":                  `"RFC3339" isn't known`,
		"2006-1-2":                 `"1" isn't known`,
		"2006-01-02T15:04:05Z":     `"Z" isn't known`,
		"2006-01-02 3:04 PM":       `"3" isn't known`,
		"2006-01-02 15:04:05 MST":  `"MST" isn't known`,
		"Mon 2006-01-02":           `"Mon" isn't known`,
		"January 02 2006":          `"uary" isn't known`,
		"2006-01-02 15:04:05.0000": `"0" isn't known`,
		"2006-01-02 2006":          "names 2006 twice",
		"2006-01-Jan-02":           "names the month twice",
		"2006-01":                  "has no whole date",
		"15:04":                    "has no whole date",
		"2006-01-02 04":            "without the larger one before it",
		"2006-01-02 15:05":         "without the larger one before it",
		"2006-01-02 15:04.000":     "without the larger one before it",
		"2006-01-02 Z07:00":        "has a zone without a time",
		"yyyy-mm-ddThh:mm:ss":      `"yyyy" isn't known`,
	} {
		_, err := transform.Compile(spec{As: transform.Datetime, Format: layout})
		assert.ErrorContains(t, err, want, layout)
	}
}

func TestSource(t *testing.T) {
	t.Parallel()
	p := func(text string) path.Path {
		got, err := path.Parse(text)
		require.NoError(t, err)
		return got
	}
	tmpl := func(text string) path.Template {
		got, err := path.ParseTemplate(text, path.Field)
		require.NoError(t, err)
		return got
	}
	event := decode(t, `{"a":"x","n":null,"e":"","f":false,"o":{}}`)
	for _, c := range []struct {
		name    string
		source  transform.Source
		want    any
		present bool
		err     string
		text    string
	}{
		{"path", transform.From(p("$.a")), "x", true, "", "$.a"},
		{"missing", transform.From(p("$.z")), nil, false, "", "$.z"},
		{"null", transform.From(p("$.n")), nil, true, "", "$.n"},
		{"first with a value", transform.First([]path.Path{p("$.z"), p("$.n"), p("$.a"), p("$.f")}), "x", true, "", "$.z, $.n, $.a, $.f"},
		{"false is a value", transform.First([]path.Path{p("$.f"), p("$.a")}), false, true, "", "$.f, $.a"},
		{"empty is a value", transform.First([]path.Path{p("$.e"), p("$.a")}), "", true, "", "$.e, $.a"},
		{"first of nulls", transform.First([]path.Path{p("$.z"), p("$.n")}), nil, true, "", "$.z, $.n"},
		{"first of none", transform.First([]path.Path{p("$.z"), p("$.y")}), nil, false, "", "$.z, $.y"},
		{"template", transform.FromTemplate(tmpl("a {$.a}")), "a x", true, "", "a {$.a}"},
		{"template without a part", transform.FromTemplate(tmpl("a {$.n}")), nil, false, "", "a {$.n}"},
		{"template of an object", transform.FromTemplate(tmpl("a {$.o}")), nil, false, "$.o: is an object and has no text form", "a {$.o}"},
		{"fixed", transform.Fixed("Stripe"), "Stripe", true, "", ""},
		{"fixed null", transform.Fixed(nil), nil, true, "", ""},
		{"none", transform.Source{}, nil, false, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, present, err := c.source.Resolve(path.Scope{Event: event})
			if c.err != "" {
				var fault *transform.Error
				require.ErrorAs(t, err, &fault)
				require.EqualError(t, err, c.err)
			} else {
				require.NoError(t, err)
			}
			assert.Equal(t, c.want, got)
			assert.Equal(t, c.present, present)
			assert.Equal(t, c.text, c.source.String())
		})
	}
	assert.Len(t, transform.FromTemplate(tmpl("{$.a}{$.b}")).Paths(), 2)
	assert.Len(t, transform.First([]path.Path{p("$.a"), p("$.b")}).Paths(), 2)
	assert.Empty(t, transform.Fixed(1).Paths())
}
