package harness

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// built is what this test process has built, each program at most once.
var built struct {
	mu    sync.Mutex
	dir   string
	files map[string]string
}

// product is the import path of the product's command.
const product = "sfbridge/cmd/bridge"

// Main runs the tests of a package and removes the programs they built. It is
// the whole TestMain of a package that uses the harness.
func Main(m *testing.M) {
	code := m.Run()
	if built.dir != "" {
		_ = os.RemoveAll(built.dir) // a leftover in the temporary folder at worst
	}
	os.Exit(code)
}

// Build returns the path of the product's binary.
func Build(t testing.TB) string {
	t.Helper()
	return BuildProgram(t, product)
}

// BuildTagged returns the path of the product's binary with build tags.
func BuildTagged(t testing.TB, tags string) string {
	t.Helper()
	return buildOnce(t, product, tags)
}

// BuildProgram builds a command by its import path and returns the path of its
// binary.
func BuildProgram(t testing.TB, path string) string {
	t.Helper()
	return buildOnce(t, path, "")
}

// buildOnce builds a command. With -short the test is skipped: what runs processes takes its time.
func buildOnce(t testing.TB, path, tags string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("runs the built product, which -short leaves out")
	}
	built.mu.Lock()
	defer built.mu.Unlock()
	key := path + " " + tags
	if file, ok := built.files[key]; ok {
		return file
	}
	file, err := build(path, tags)
	require.NoError(t, err)
	if built.files == nil {
		built.files = map[string]string{}
	}
	built.files[key] = file
	return file
}

func build(path, tags string) (string, error) {
	if built.dir == "" {
		dir, err := os.MkdirTemp("", "bridge-test-")
		if err != nil {
			return "", err
		}
		built.dir = dir
	}
	file := filepath.Join(built.dir, filepath.Base(path)+tags)
	args := []string{"build", "-tags", tags, "-o", file}
	if raceDetector {
		args = append(args, "-race")
	}
	out, err := exec.Command("go", append(args, path)...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("building %s: %w\n%s", path, err, out)
	}
	return file, nil
}

// Root is the folder of the module.
func Root(t testing.TB) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}").Output()
	require.NoError(t, err)
	return strings.TrimSpace(string(out))
}
