package mapping

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every clause of the format, listed in clauses.txt, is shown by a case that
// every engine must pass or by one for this engine, and a case names only
// clauses of that list.
func TestConformance_shows_every_clause(t *testing.T) {
	t.Parallel()
	list, err := os.ReadFile("testdata/conformance/clauses.txt")
	require.NoError(t, err)
	shown := map[string]int{}
	for line := range strings.Lines(string(list)) {
		clause, meaning, ok := strings.Cut(line, ": ")
		require.True(t, ok, line)
		assert.NotContains(t, shown, clause, "a clause stands in the list once")
		assert.NotEmpty(t, strings.TrimSpace(meaning), clause)
		shown[clause] = 0
	}
	files, err := filepath.Glob("testdata/conformance/*/case.json")
	require.NoError(t, err)
	for _, file := range files {
		for _, clause := range readCase(t, filepath.Dir(file)).Clauses {
			assert.Contains(t, shown, clause, file)
			shown[clause]++
		}
	}
	for clause, cases := range shown {
		assert.Positive(t, cases, "no case shows %q", clause)
	}
}

// Faults that other integrations are known to have had with values each have a
// case that begins with their number.
func TestConformance_shows_known_faults(t *testing.T) {
	t.Parallel()
	for _, number := range []string{"c01", "c02", "c04", "c06", "c09", "c10", "c12", "c13", "c18", "c19"} {
		files, err := filepath.Glob("testdata/conformance/" + number + "_*/want.json")
		require.NoError(t, err)
		assert.NotEmpty(t, files, number)
	}
}
