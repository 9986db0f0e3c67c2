package cases_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/test/harness"
)

// known are the cases of each group. A number that is missing belongs to no
// case.
var known = map[string]string{
	"A": "01 02 03 05 06 08 09 11 13 14 15",
	"B": "01 02 03 05 06 08 09 11 12 14",
	"C": "01 02 04 06 09 10 12 13 16 18 19",
	"D": "02 03 04 06 07 09 11 12 14 16 17 18",
	"E": "01 03 05 06 08 09 10",
	"F": "01 03 04 06",
	"H": "01 03 05 07 08",
}

// README.md lists every case; each test it names exists, and no test that is
// named after a case is left out.
func TestEveryCaseHasATest(t *testing.T) {
	t.Parallel()
	var want []string
	for group, numbers := range known {
		for n := range strings.FieldsSeq(numbers) {
			want = append(want, group+n)
		}
	}
	listed := readList(t)
	assert.ElementsMatch(t, want, slices.Collect(maps.Keys(listed)))
	exist := testNames(t)
	for id, tests := range listed {
		assert.NotEmpty(t, tests, id)
		for _, name := range tests {
			assert.Contains(t, exist, name, "%s names a test that is not there", id)
		}
	}
	caseOf := regexp.MustCompile(`\.Test([A-H]\d\d)`)
	for name := range exist {
		if id := caseOf.FindStringSubmatch(name); id != nil {
			assert.Contains(t, listed[id[1]], name, "README.md leaves out a test of %s", id[1])
		}
	}
}

// readList reads the table of README.md: the full names of the tests by case.
func readList(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("README.md")
	require.NoError(t, err)
	list := map[string][]string{}
	for _, row := range regexp.MustCompile(`(?m)^\| ([A-H]\d\d) \| .+ \| (.+) \|$`).FindAllStringSubmatch(string(text), -1) {
		require.NotContains(t, list, row[1], "listed twice")
		for name := range strings.SplitSeq(row[2], ", ") {
			if !strings.Contains(name, ".") {
				name = "test/cases." + name
			}
			list[row[1]] = append(list[row[1]], name)
		}
	}
	return list
}

// testNames are the tests of the module: folder, a dot, name.
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	root, names := harness.Root(t), map[string]bool{}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".")) && file != root:
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(file, "_test.go"):
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel(root, filepath.Dir(file))
		for _, decl := range parsed.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") {
				names[path.Clean(filepath.ToSlash(folder))+"."+f.Name.Name] = true
			}
		}
		return err
	})
	require.NoError(t, err)
	return names
}
