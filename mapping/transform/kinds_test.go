package transform_test

import (
	"strings"
	"testing"

	"sfbridge/mapping/transform"
)

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
