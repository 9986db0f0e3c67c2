package mapping

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const tableHead = `# What a mapping does, rule by rule

This page is made from ` + "`mapping/testdata/conformance/clauses.txt`" + ` and the cases beside it; a test keeps it
current (` + "`go test ./mapping -run TestTableOfRules -update`" + ` writes it anew). Each case is a folder with a mapping,
an event and the records or field errors that every engine must make of it: look there for an example.

| rule | meaning | cases |
|---|---|---|
`

// The table of rules in the documentation is made from the cases.
func TestTableOfRules(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/conformance/*/case.json")
	require.NoError(t, err)
	shown := map[string][]string{}
	for _, file := range files {
		dir := filepath.Dir(file)
		name := filepath.Base(dir)
		for _, clause := range readCase(t, dir).Clauses {
			shown[clause] = append(shown[clause], fmt.Sprintf("[%s](../mapping/testdata/conformance/%s)", strings.ReplaceAll(name, "_", " "), name))
		}
	}
	list, err := os.ReadFile("testdata/conformance/clauses.txt")
	require.NoError(t, err)
	var page strings.Builder
	page.WriteString(tableHead)
	for line := range strings.Lines(string(list)) {
		clause, meaning, _ := strings.Cut(strings.TrimSpace(line), ": ")
		fmt.Fprintf(&page, "| %s | %s | %s |\n", clause, strings.ReplaceAll(meaning, "|", `\|`), strings.Join(shown[clause], ", "))
	}
	golden(t, "../docs/mapping-rules.md", page.String())
}
