package mapping

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestGlobMatch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{"charge.*", "charge.succeeded", true},
		{"charge.*", "charge.dispute.created", true},
		{"charge.*", "charge", false},
		{"charge.*", "x.charge.created", false},
		{"*", "", true},
		{"?", "", false},
		{"?", "é", true},
		{"?", "🚀", true},
		{"a?c", "abc", true},
		{"a?c", "a.c", true},
		{"*.created", "customer.created", true},
		{"*.*.created", "customer.created", false},
		{`a\*b`, "a*b", true},
		{`a\*b`, "axb", false},
		{`a\\b`, `a\b`, true},
		{`\?`, "?", true},
		{"", "", true},
		{"", "x", false},
		{"a*b*c", "a-b-b-c", true},
		{"a*b*c", "a-c-b", false},
		{"charge[1]", "charge[1]", true},
		{"Charge", "charge", false},
	} {
		g, err := parseGlob(c.pattern)
		require.NoError(t, err)
		assert.Equal(t, c.want, g.Match(c.text), "%s on %q", c.pattern, c.text)
	}
	_, err := parseGlob(`a\`)
	assert.Error(t, err)
}

func patterns() *rapid.Generator[string] {
	return rapid.StringMatching(`[ab*?]{0,7}`)
}

// A glob means the same as the regular expression it stands for.
func TestGlobEqualsRegexp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		pattern := patterns().Draw(t, "pattern")
		text := rapid.StringMatching(`[ab]{0,7}`).Draw(t, "text")
		g, err := parseGlob(pattern)
		require.NoError(t, err)
		re := regexp.MustCompile("^" + strings.NewReplacer("*", ".*", "?", ".").Replace(pattern) + "$")
		assert.Equal(t, re.MatchString(text), g.Match(text))
	})
}

// covers never promises too much, meets never misses a common text.
func TestGlobRelations(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, err := parseGlob(patterns().Draw(t, "a"))
		require.NoError(t, err)
		b, err := parseGlob(patterns().Draw(t, "b"))
		require.NoError(t, err)
		text := rapid.StringMatching(`[ab]{0,7}`).Draw(t, "text")
		if a.covers(b) && b.Match(text) {
			assert.True(t, a.Match(text), "%s covers %s", a, b)
		}
		if a.Match(text) && b.Match(text) {
			assert.True(t, a.meets(b), "%s and %s both fit %q", a, b, text)
		}
		again, err := parseGlob(a.String())
		require.NoError(t, err)
		assert.Equal(t, a.String(), again.String())
	})
}
