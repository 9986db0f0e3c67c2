package transform_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"sfbridge/mapping/path"
	"sfbridge/mapping/transform"
)

func TestMax(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		max      int
		in, want string
	}{
		{"shorter", 5, "abc", "abc"},
		{"exact", 3, "abc", "abc"},
		{"longer", 3, "abcd", "abc"},
		{"counts units, not bytes", 3, "été", "été"},
		{"an emoji is two", 3, "a🚀b", "a🚀"},
		{"never half a character", 2, "a🚀", "a"},
		{"never ends in a joiner", 3, "👩\u200d🚀", "👩"},
		{"never ends in a combining mark", 2, "ae\u0301x", "ae"},
		{"nor in several", 4, "ae\u0301\u0302x", "ae"},
		{"nor in a variation selector", 2, "☎\ufe0fx", "☎"},
		{"nor in an enclosing mark", 2, "1\u20e3x", "1"},
		{"marks stay in what fits", 3, "ae\u0301", "ae\u0301"},
		{"flags may lose a half", 2, "🇩🇪", "🇩"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, as := range []transform.As{transform.AsIs, transform.Text} {
				got, _, err := compile(t, spec{As: as, Max: c.max}).Apply(c.in, true, path.Scope{})
				require.NoError(t, err)
				assert.Equal(t, c.want, got)
			}
		})
	}
	check(t, spec{Max: 2}, []one{{in: `12345`, want: num("12345")}, {in: `true`, want: true}, {in: `null`}})
	check(t, spec{As: transform.Text, Max: 2}, []one{{in: `12345`, want: "12"}})
	check(t, spec{As: transform.JSON, Max: 3}, []one{{in: `[1,2]`, want: "[1,"}})
	check(t, spec{Max: 1}, []one{{in: `"🚀"`}})
	check(t, spec{As: transform.Text, KeepEmpty: true, Max: 1}, []one{{in: `"🚀"`, want: ""}})
}

func TestMax_never_breaks_text(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.SampledFrom([]rune("ae\u0301👩\u200d🚀\ufe0fé")))).Draw(t, "in")
		if strings.ContainsRune(in, 0) {
			t.Skip("NUL")
		}
		limit := rapid.IntRange(1, 20).Draw(t, "max")
		tr, err := transform.Compile(spec{As: transform.Text, KeepEmpty: true, Max: limit})
		if err != nil {
			t.Fatal(err)
		}
		out, _, err := tr.Apply(in, true, path.Scope{})
		if err != nil {
			t.Fatal(err)
		}
		got := out.(string)
		if !utf8.ValidString(got) || !strings.HasPrefix(in, got) || len(utf16.Encode([]rune(got))) > limit {
			t.Fatalf("%q cut to %d gave %q", in, limit, got)
		}
		if got != in {
			last, _ := utf8.DecodeLastRuneInString(got)
			if last == '\u200d' || unicode.Is(unicode.M, last) {
				t.Fatalf("%q ends in a joiner or mark", got)
			}
		} else if len(utf16.Encode([]rune(in))) > limit {
			t.Fatalf("%q wasn't cut to %d", in, limit)
		}
	})
}

func TestNumbers_keep_their_value(t *testing.T) {
	t.Parallel()
	number := transform.Spec{As: transform.Number}
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.StringMatching(`-?(0|[1-9][0-9]{0,11})(\.[0-9]{1,8})?([eE][+-]?[0-9]{1,2})?`).Draw(t, "number")
		tr, err := transform.Compile(number)
		if err != nil {
			t.Fatal(err)
		}
		fromNumber, _, errNumber := tr.Apply(num(in), true, path.Scope{})
		fromText, _, errText := tr.Apply(in, true, path.Scope{})
		if fromNumber != fromText || (errNumber == nil) != (errText == nil) {
			t.Fatalf("%s: %v as a number, %v as text", in, fromNumber, fromText)
		}
		if errNumber != nil {
			t.Skip("too long")
		}
		out := fromNumber.(interface{ String() string }).String()
		if strings.ContainsAny(out, "eE") || !path.IsNumber(out) || !sameNumber(in, out) {
			t.Fatalf("%s became %s", in, out)
		}
		again, _, err := tr.Apply(num(out), true, path.Scope{})
		if err != nil || again != fromNumber {
			t.Fatalf("%s, treated again, became %v", out, again)
		}
	})
}
