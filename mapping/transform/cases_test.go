package transform_test

import (
	"strings"
	"testing"

	"sfbridge/mapping/transform"
)

func TestC01_large_integers(t *testing.T) {
	t.Parallel()
	for _, digits := range []string{"820982911946154508", "9007199254740993"} {
		check(t, spec{As: transform.Text}, []one{{in: digits, want: digits}})
		check(t, spec{As: transform.Integer}, []one{{in: digits, want: num(digits)}})
	}
}

func TestC02_null_missing_and_empty(t *testing.T) {
	t.Parallel()
	check(t, spec{}, []one{{in: `null`}, {in: `""`}, {in: `"  "`, want: "  "}})
	check(t, spec{Trim: true}, []one{{in: `"  "`}})
	check(t, spec{As: transform.Number}, []one{{in: `null`}, {in: `""`}, {in: `0`, want: num("0")}})
}

func TestC04_datetime_spellings(t *testing.T) {
	t.Parallel()
	check(t, spec{As: transform.Datetime}, []one{
		{in: `"2026-07-01T12:00:00+0000"`, want: "2026-07-01T12:00:00.000Z"},
		{in: `"2026-01-05T10:15:30.123456789+05:45"`, want: "2026-01-05T04:30:30.123Z"},
		{in: `"2024-06-15T14:30:00+05:00"`, want: "2024-06-15T09:30:00.000Z"},
		{in: `"2026-07-01 12:00:00"`, err: "has no zone"},
		{in: `"2026-02-30T00:00:00Z"`, err: "isn't a possible"},
		{in: `"0000-00-00 00:00:00"`, err: "isn't a possible"},
		{in: `"2017-14-31"`, err: "isn't a possible"},
	})
	check(t, spec{As: transform.Datetime, Timezone: "Europe/Berlin"}, []one{
		{in: `"2026-07-01 12:00:00"`, want: "2026-07-01T10:00:00.000Z"},
		{in: `"2026-03-29 02:30:00"`, err: "is skipped by the clocks"},
	})
}

func TestC09_booleans_and_numbers_as_text(t *testing.T) {
	t.Parallel()
	check(t, spec{As: transform.Number}, []one{{in: `"N0100"`, err: "isn't a number"}, {in: `"100"`, want: num("100")}})
	check(t, spec{As: transform.Boolean}, []one{
		{in: `"false"`, want: false}, {in: `"False"`, want: false}, {in: `"0"`, want: false}, {in: `0`, want: false},
		{in: `""`, want: false}, {in: `null`, want: false}, {in: `"maybe"`, err: "isn't true"}, {in: `"no"`, err: "isn't true"},
	})
	check(t, spec{As: transform.Boolean, Map: map[string]any{"no": false}, Otherwise: lit("true")}, []one{{in: `"no"`, want: false}})
}

func TestC10_long_text_and_four_byte_characters(t *testing.T) {
	t.Parallel()
	x, a := strings.Repeat("x", 254), strings.Repeat("A", 78)
	check(t, spec{Max: 255}, []one{{in: `"` + x + `🚀"`, want: x}, {in: `"` + x + `é"`, want: x + "é"}})
	check(t, spec{Max: 80}, []one{{in: `"` + a + "👩\u200d🚀🚀" + `"`, want: a + "👩"}})
	check(t, spec{Max: 81}, []one{{in: `"` + a + "👩\u200d🚀🚀" + `"`, want: a + "👩"}})
	check(t, spec{Max: 3}, []one{{in: `"été"`, want: "été"}})
	check(t, spec{}, []one{{in: `"` + x + `xx"`, want: x + "xx"}})
}

func TestC12_multi_select_picklists(t *testing.T) {
	t.Parallel()
	check(t, spec{As: transform.MultiPicklist}, []one{
		{in: `["red","blue"]`, want: "red;blue"}, {in: `[]`}, {in: `["red","red"]`, want: "red"},
		{in: `["a;b"]`, err: "has a member with ;"}, {in: `"red"`, want: "red"},
	})
	check(t, spec{}, []one{{in: `["red","blue"]`, err: "is an array"}})
	check(t, spec{As: transform.Text}, []one{{in: `["red","blue"]`, err: "is an array"}})
}

func TestC19_markup_stays_as_it_is(t *testing.T) {
	t.Parallel()
	const note = `<b>Tom & Jo</b> &amp; co`
	check(t, spec{}, []one{{in: `"` + note + `"`, want: note}, {in: `"\u003cb\u003eTom \u0026 Jo\u003c/b\u003e &amp; co"`, want: note}})
	check(t, spec{As: transform.JSON}, []one{{in: `{"n":"` + note + `"}`, want: `{"n":"` + note + `"}`}})
}

func TestA13_text_that_no_field_holds(t *testing.T) {
	t.Parallel()
	for _, as := range []transform.As{transform.AsIs, transform.Text, transform.Datetime, transform.Boolean} {
		check(t, spec{As: as}, []one{{in: `"x\u0000y"`, err: "holds the character U+0000"}, {in: `"\ud83d"`, err: "holds half a character"}})
	}
	check(t, spec{As: transform.MultiPicklist}, []one{{in: `["\u0000"]`, err: "holds the character U+0000"}})
	check(t, spec{Trim: true, Map: map[string]any{"x": "y"}, Otherwise: lit("z")}, []one{{in: `"\ud83d"`, err: "holds half a character"}})
}
