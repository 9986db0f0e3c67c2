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
