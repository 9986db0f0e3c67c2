package failpoint_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/internal/failpoint"
)

// declared are the points of points.go: value by name.
func declared(t *testing.T) map[string]failpoint.Point {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "points.go", nil, 0)
	require.NoError(t, err)
	points := map[string]failpoint.Point{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		literal, ok := spec.Values[0].(*ast.BasicLit)
		require.True(t, ok, spec.Names[0].Name)
		value, err := strconv.Unquote(literal.Value)
		require.NoError(t, err)
		points[spec.Names[0].Name] = failpoint.Point(value)
		return true
	})
	return points
}

// Each point stands in the list that the fault suite goes through.
func TestStepsAreComplete(t *testing.T) {
	t.Parallel()
	var all []failpoint.Point
	for name, p := range declared(t) {
		if name != "Dial" { // it fails, and kills nobody
			all = append(all, p)
		}
	}
	assert.ElementsMatch(t, all, failpoint.Steps())
}

// Each point stands at one place of the product.
func TestPointsAreUsedOnce(t *testing.T) {
	t.Parallel()
	used := map[string]int{}
	name := regexp.MustCompile(`failpoint\.(?:Hit|Err)\(failpoint\.(\w+)\)`)
	for _, folder := range []string{"../../bridge", "../../cmd", "../../salesforce"} {
		require.NoError(t, filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") {
				return err
			}
			text, err := os.ReadFile(path)
			for _, found := range name.FindAllStringSubmatch(string(text), -1) {
				used[found[1]]++
			}
			return err
		}))
	}
	for point := range declared(t) {
		assert.Equal(t, 1, used[point], point)
	}
}
