package transform_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/mapping/path"
	"sfbridge/mapping/transform"
)

type spec = transform.Spec

var lit = transform.Lit

func num(s string) json.Number { return json.Number(s) }

func compile(t *testing.T, s spec) *transform.Transform {
	t.Helper()
	tr, err := transform.Compile(s)
	require.NoError(t, err)
	return tr
}

func decode(t *testing.T, s string) any {
	t.Helper()
	v, err := path.DecodeJSON([]byte(s))
	require.NoError(t, err)
	return v
}

// apply treats the member v of an event, which may be missing.
func apply(t *testing.T, s spec, event string) (any, bool, error) {
	t.Helper()
	e := decode(t, event)
	p, err := path.Parse("$.v")
	require.NoError(t, err)
	scope := path.Scope{Event: e}
	v, present := p.Get(scope)
	return compile(t, s).Apply(v, present, scope)
}

// one is a case of one rule: a value as JSON, and what a spec makes of it.
type one struct {
	in   string
	want any    // nil clears the field
	err  string // the reason, when refused
}

func check(t *testing.T, s spec, cases []one) {
	t.Helper()
	for _, c := range cases {
		name := c.in
		if len(name) > 40 {
			name = name[:40]
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, send, err := apply(t, s, `{"v":`+c.in+`}`)
			if c.err != "" {
				var fault *transform.Error
				require.ErrorAs(t, err, &fault)
				assert.Contains(t, fault.Reason, c.err)
				assert.False(t, send)
				assert.Nil(t, got)
				return
			}
			require.NoError(t, err)
			assert.True(t, send)
			assert.Equal(t, c.want, got)
		})
	}
}

func TestAsIs(t *testing.T) {
	t.Parallel()
	check(t, spec{}, []one{
		{in: `"x"`, want: "x"},
		{in: `"  "`, want: "  "},
		{in: `true`, want: true},
		{in: `820982911946154508`, want: num("820982911946154508")},
		{in: `1.10`, want: num("1.10")},
		{in: `1e3`, want: num("1e3")},
		{in: `0`, want: num("0")},
		{in: `null`},
		{in: `""`},
		{in: `{}`, err: "is an object"},
		{in: `[]`, err: "is an array"},
		{in: `["a"]`, err: "is an array"},
		{in: `"x\u0000y"`, err: "holds the character U+0000"},
		{in: `"\ud83d"`, err: "holds half a character"},
		{in: `"🥇"`, want: "🥇"},
	})
}

func TestText(t *testing.T) {
	t.Parallel()
	check(t, spec{As: transform.Text}, []one{
		{in: `"x"`, want: "x"},
		{in: `1e3`, want: "1e3"},
		{in: `-0`, want: "-0"},
		{in: `12345678901234567890.10`, want: "12345678901234567890.10"},
		{in: `true`, want: "true"},
		{in: `false`, want: "false"},
		{in: `null`},
		{in: `""`},
		{in: `{"a":1}`, err: "is an object"},
		{in: `[1]`, err: "is an array"},
	})
	t.Run("keep_empty", func(t *testing.T) {
		t.Parallel()
		check(t, spec{As: transform.Text, KeepEmpty: true, Trim: true}, []one{
			{in: `""`, want: ""},
			{in: `"  "`, want: ""},
			{in: `null`},
		})
	})
}

func TestNumber(t *testing.T) {
	t.Parallel()
	forty := strings.Repeat("9", 40)
	check(t, spec{As: transform.Number}, []one{
		{in: `5`, want: num("5")},
		{in: `12.50`, want: num("12.50")},
		{in: `1e3`, want: num("1000")},
		{in: `1E+3`, want: num("1000")},
		{in: `1.50e1`, want: num("15.0")},
		{in: `1.5e-3`, want: num("0.0015")},
		{in: `100e-2`, want: num("1.00")},
		{in: `0.5e1`, want: num("5")},
		{in: `0.001e2`, want: num("0.1")},
		{in: `-0`, want: num("0")},
		{in: `-0.00`, want: num("0.00")},
		{in: `-0.01`, want: num("-0.01")},
		{in: `0e5`, want: num("0")},
		{in: `0e99999999999999999999`, want: num("0")},
		{in: `"12"`, want: num("12")},
		{in: `"-1.0"`, want: num("-1.0")},
		{in: `"1e2"`, want: num("100")},
		{in: `820982911946154508`, want: num("820982911946154508")},
		{in: forty, want: num(forty)},
		{in: `1e39`, want: num("1" + strings.Repeat("0", 39))},
		{in: `null`},
		{in: `""`},
		{in: `"+1"`, err: "isn't a number"},
		{in: `" 1"`, err: "isn't a number"},
		{in: `" "`, err: "isn't a number"},
		{in: `"1,000"`, err: "isn't a number"},
		{in: `"1_000"`, err: "isn't a number"},
		{in: `"01"`, err: "isn't a number"},
		{in: `"1."`, err: "isn't a number"},
		{in: `".5"`, err: "isn't a number"},
		{in: `"0x10"`, err: "isn't a number"},
		{in: `"NaN"`, err: "isn't a number"},
		{in: `"N0100"`, err: "isn't a number"},
		{in: `"٣"`, err: "isn't a number"},
		{in: `true`, err: "isn't a number"},
		{in: `[1]`, err: "isn't a number"},
		{in: `{}`, err: "isn't a number"},
		{in: forty + "9", err: "has more than 40 digits"},
		{in: `1e40`, err: "has more than 40 digits"},
		{in: `1e-40`, err: "has more than 40 digits"},
		{in: `1e999999999999999999999`, err: "has more than 40 digits"},
		{in: `1e-999999999999999999999`, err: "has more than 40 digits"},
	})
}

func TestInteger(t *testing.T) {
	t.Parallel()
	check(t, spec{As: transform.Integer}, []one{
		{in: `7`, want: num("7")},
		{in: `1.0`, want: num("1")},
		{in: `1e3`, want: num("1000")},
		{in: `10e-1`, want: num("1")},
		{in: `-0.0`, want: num("0")},
		{in: `"1.00"`, want: num("1")},
		{in: `9007199254740993`, want: num("9007199254740993")},
		{in: `""`},
		{in: `1.5`, err: "has a fraction"},
		{in: `1e-1`, err: "has a fraction"},
		{in: `"1.50"`, err: "has a fraction"},
		{in: `"x"`, err: "isn't a number"},
	})
}

func TestBoolean(t *testing.T) {
	t.Parallel()
	check(t, spec{As: transform.Boolean}, []one{
		{in: `true`, want: true},
		{in: `false`, want: false},
		{in: `"TRUE"`, want: true},
		{in: `"False"`, want: false},
		{in: `1`, want: true},
		{in: `0`, want: false},
		{in: `"1"`, want: true},
		{in: `"0"`, want: false},
		{in: `null`, want: false},
		{in: `""`, want: false},
		{in: `"maybe"`, err: "isn't true, false, 1 or 0"},
		{in: `"no"`, err: "isn't true, false, 1 or 0"},
		{in: `"falſe"`, err: "isn't true, false, 1 or 0"},
		{in: `" true"`, err: "isn't true, false, 1 or 0"},
		{in: `2`, err: "isn't true, false, 1 or 0"},
		{in: `[]`, err: "isn't true, false, 1 or 0"},
	})
}

func TestMultiPicklist(t *testing.T) {
	t.Parallel()
	check(t, spec{As: transform.MultiPicklist}, []one{
		{in: `["b","a",7,true,1.0]`, want: "b;a;7;true;1.0"},
		{in: `["a","A"]`, want: "a;A"},
		{in: `["a",""]`, want: "a"},
		{in: `[""]`},
		{in: `5`, want: "5"},
		{in: `"a;b"`, err: "has a member with ;"},
		{in: `["a",null]`, err: "has a member that is null"},
		{in: `["a",["b"]]`, err: "has a member that is an array"},
		{in: `{"a":1}`, err: "is an object"},
	})
	t.Run("members are prepared one by one", func(t *testing.T) {
		t.Parallel()
		check(t, spec{As: transform.MultiPicklist, Trim: true, Upper: true,
			Map: map[string]any{"R": "Red", "B": "Blue"}, Otherwise: lit(nil)}, []one{
			{in: `[" r","b ","R","x"]`, want: "Red;Blue"},
			{in: `["x"]`},
			{in: `"b"`, want: "Blue"},
		})
	})
}

func TestJSON(t *testing.T) {
	t.Parallel()
	check(t, spec{As: transform.JSON}, []one{
		{in: `{"b":[1.0, {"x":null}],"a":"<é>"}`, want: `{"a":"<é>","b":[1.0,{"x":null}]}`},
		{in: `[]`, want: `[]`},
		{in: `"x"`, want: `"x"`},
		{in: `820982911946154508`, want: `820982911946154508`},
		{in: `"a\u0000\ud83d"`, want: `"a\u0000\ud83d"`},
		{in: `null`},
		{in: `""`},
	})
}

func TestTrimLowerUpper(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spec  spec
		cases []one
	}{
		"trim": {spec{Trim: true}, []one{
			{in: `" \t\u00a0\u3000x y \u0001\n"`, want: "x y"}, {in: `"   "`}, {in: `1`, want: num("1")}, {in: `true`, want: true}, {in: `null`}}},
		"lower": {spec{Lower: true}, []one{
			{in: `"ÀB"`, want: "àb"}, {in: `"ΟΔΟΣ"`, want: "οδος"}, {in: `"I"`, want: "i"}, {in: `5`, want: num("5")}}},
		"upper": {spec{Upper: true}, []one{
			{in: `"straße"`, want: "STRASSE"}, {in: `"i"`, want: "I"}, {in: `"àb"`, want: "ÀB"}}},
		"trim before map": {spec{Trim: true, Lower: true, Map: map[string]any{"a": "b"}}, []one{{in: `" A "`, want: "b"}, {in: `"  "`}}},
		"not inside json": {spec{Trim: true, As: transform.JSON}, []one{{in: `{"a":" x "}`, want: `{"a":" x "}`}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, c.spec, c.cases)
		})
	}
}

func TestMap(t *testing.T) {
	t.Parallel()
	table := map[string]any{"NO": "Norway", "007": num("7"), "1.10": "x", "true": false, "gone": nil, "empty": ""}
	t.Run("without otherwise", func(t *testing.T) {
		t.Parallel()
		check(t, spec{Map: table}, []one{
			{in: `"NO"`, want: "Norway"},
			{in: `"007"`, want: num("7")},
			{in: `1.10`, want: "x"},
			{in: `true`, want: false},
			{in: `"gone"`},
			{in: `"empty"`},
			{in: `null`},
			{in: `""`},
			{in: `"no"`, err: "isn't in map"},
			{in: `7`, err: "isn't in map"},
			{in: `1.1`, err: "isn't in map"},
			{in: `{}`, err: "is an object"},
			{in: `["NO"]`, err: "is an array"},
		})
	})
	t.Run("with otherwise", func(t *testing.T) {
		t.Parallel()
		check(t, spec{Map: table, Otherwise: lit("Other")}, []one{
			{in: `"no"`, want: "Other"},
			{in: `null`},
			{in: `""`},
			{in: `{}`, err: "is an object"},
		})
		check(t, spec{Map: table, Otherwise: lit(nil)}, []one{{in: `"x"`}})
	})
	t.Run("as comes after", func(t *testing.T) {
		t.Parallel()
		check(t, spec{Map: map[string]any{"a": "1", "b": "x", "c": nil}, As: transform.Boolean}, []one{
			{in: `"a"`, want: true},
			{in: `"b"`, err: "isn't true, false"},
			{in: `"c"`, want: false},
		})
	})
}

func TestMissingNullEmpty(t *testing.T) {
	t.Parallel()
	type want struct {
		value any
		send  bool
		err   string
	}
	sent := func(v any) want { return want{value: v, send: true} }
	left := want{}
	refused := func(reason string) want { return want{err: reason} }
	for _, c := range []struct {
		name                 string
		spec                 spec
		missing, null, empty want
	}{
		{"plain", spec{}, left, sent(nil), sent(nil)},
		{"number", spec{As: transform.Number}, left, sent(nil), sent(nil)},
		{"boolean", spec{As: transform.Boolean}, left, sent(false), sent(false)},
		{"default", spec{Default: lit("d")}, sent("d"), sent(nil), sent(nil)},
		{"default null", spec{Default: lit(nil)}, sent(nil), sent(nil), sent(nil)},
		{"default_null", spec{Default: lit("d"), DefaultNull: true}, sent("d"), sent("d"), sent(nil)},
		{"default is final", spec{Default: lit(" D "), Trim: true, Lower: true, As: transform.Number,
			Map: map[string]any{"x": "y"}}, sent(" D "), sent(nil), sent(nil)},
		{"but for max", spec{Default: lit("abcdef"), Max: 3}, sent("abc"), sent(nil), sent(nil)},
		{"default before boolean", spec{Default: lit(true), DefaultNull: true, As: transform.Boolean}, sent(true), sent(true), sent(false)},
		{"required", spec{Required: true}, refused("required and missing"), refused("required and empty"), refused("required and empty")},
		{"required with default", spec{Required: true, Default: lit(num("0"))}, sent(num("0")), refused("required and empty"), refused("required and empty")},
		{"required with default_null", spec{Required: true, Default: lit("d"), DefaultNull: true}, sent("d"), sent("d"), refused("required and empty")},
		{"required boolean", spec{Required: true, As: transform.Boolean}, refused("required and missing"), sent(false), sent(false)},
		{"required keeps no empty", spec{Required: true, As: transform.Text, KeepEmpty: true}, refused("required and missing"), refused("required and empty"), refused("required and empty")},
		{"keep_empty", spec{As: transform.Text, KeepEmpty: true}, left, sent(nil), sent("")},
		{"otherwise isn't for these", spec{Map: map[string]any{"x": "y"}, Otherwise: lit("o")}, left, sent(nil), sent(nil)},
		{"multipicklist", spec{As: transform.MultiPicklist}, left, sent(nil), sent(nil)},
		{"minor_units", spec{As: transform.MinorUnits, Currency: "$.currency"}, left, sent(nil), sent(nil)},
		{"datetime", spec{As: transform.Datetime}, left, sent(nil), sent(nil)},
	} {
		for kind, want := range map[string]want{`{}`: c.missing, `{"v":null}`: c.null, `{"v":""}`: c.empty} {
			t.Run(c.name+" "+kind, func(t *testing.T) {
				t.Parallel()
				got, send, err := apply(t, c.spec, kind)
				if want.err != "" {
					require.ErrorContains(t, err, want.err)
				} else {
					require.NoError(t, err)
				}
				assert.Equal(t, want.value, got)
				assert.Equal(t, want.send, send)
			})
		}
	}
}

func TestRequired_looks_at_the_result(t *testing.T) {
	t.Parallel()
	check(t, spec{Required: true, Trim: true}, []one{{in: `"  "`, err: "required and empty"}, {in: `0`, want: num("0")}, {in: `false`, want: false}})
	check(t, spec{Required: true, As: transform.MultiPicklist}, []one{{in: `[]`, err: "required and empty"}})
	check(t, spec{Required: true, Map: map[string]any{"a": nil}}, []one{{in: `"a"`, err: "required and empty"}})
	check(t, spec{Required: true, Max: 1}, []one{{in: `"🚀"`, err: "required and empty"}})
}

func TestErrorsShowTheValueShortened(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`"N0100"`:                               `"N0100"`,
		`"a\nb\u001b[31m"`:                      `"a\nb\u001b[31m"`,
		`"` + strings.Repeat("é", 200) + `"`:    `"` + strings.Repeat("é", 60) + `…"`,
		`[` + strings.Repeat("123,", 50) + `4]`: `[` + strings.Repeat("123,", 14) + "123…",
		`{"a":"b"}`:                             `{"a":"b"}`,
		`true`:                                  `true`,
	} {
		_, _, err := apply(t, spec{As: transform.Number}, `{"v":`+in+`}`)
		var fault *transform.Error
		require.ErrorAs(t, err, &fault)
		assert.Equal(t, want, fault.Value)
		assert.Equal(t, "isn't a number: "+want, err.Error())
	}
	for in, want := range map[string]string{
		`\ud83d`:                                  `"\ud83d"`,
		strings.Repeat("a", 59) + `\ud83dxxxx`:    `"` + strings.Repeat("a", 59) + `…`,
		strings.Repeat(`\ud83d`, 61):              `"` + strings.Repeat(`\ud83d`, 9) + `\ud83…`,
		`\ud83d` + strings.Repeat(`é`, 50) + `xx`: `"\ud83d` + strings.Repeat("é", 50) + `xx"`,
	} {
		_, _, err := apply(t, spec{}, `{"v":"`+in+`"}`)
		assert.EqualError(t, err, "holds half a character (an unpaired surrogate): "+want)
	}
}
