package harness

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// ListedTests reads the table of a file: by the first cell of each row, which
// must match the pattern, the tests in the last one. A test that is named without
// its folder is of the folder given.
func ListedTests(t testing.TB, file, pattern, folder string) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	list := map[string][]string{}
	for _, row := range regexp.MustCompile(`(?m)^\| (`+pattern+`) \| (?:.+ \| )?(.+) \|$`).FindAllStringSubmatch(string(text), -1) {
		require.NotContains(t, list, row[1], "listed twice")
		for name := range strings.SplitSeq(row[2], ", ") {
			if !strings.Contains(name, ".") {
				name = folder + "." + name
			}
			list[row[1]] = append(list[row[1]], name)
		}
	}
	return list
}

// TestNames are the tests of the module: folder, a dot, name. Those in Apex are
// named apex, class and method.
func TestNames(t testing.TB) map[string]bool {
	t.Helper()
	root, names := Root(t), map[string]bool{}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".")) && file != root:
			return filepath.SkipDir
		case strings.HasSuffix(file, "Test.cls"):
			return apexTests(file, names)
		case !d.IsDir() && strings.HasSuffix(file, "_test.go"):
			return goTests(root, file, names)
		}
		return nil
	})
	require.NoError(t, err)
	return names
}

func goTests(root, file string, names map[string]bool) error {
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
}

func apexTests(file string, names map[string]bool) error {
	text, err := os.ReadFile(file)
	isTest := regexp.MustCompile(`(?i)@IsTest\s+static void (\w+)\(`)
	for _, m := range isTest.FindAllStringSubmatch(string(text), -1) {
		names["apex."+strings.TrimSuffix(filepath.Base(file), ".cls")+"."+m[1]] = true
	}
	return err
}
