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

// binary is what this test process has built, at most once.
var binary struct {
	once sync.Once
	file string
	err  error
}

// Main runs the tests of a package and removes the binary they built. It is
// the whole TestMain of a package that uses the harness.
func Main(m *testing.M) {
	code := m.Run()
	if binary.file != "" {
		_ = os.RemoveAll(filepath.Dir(binary.file)) // a leftover in the temporary folder at worst
	}
	os.Exit(code)
}

// Build returns the path of the product's binary.
func Build(t testing.TB) string {
	t.Helper()
	binary.once.Do(func() { binary.file, binary.err = build() })
	require.NoError(t, binary.err)
	return binary.file
}

func build() (string, error) {
	dir, err := os.MkdirTemp("", "bridge-test-")
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "bridge")
	args := []string{"build", "-o", file}
	if raceDetector {
		args = append(args, "-race")
	}
	out, err := exec.Command("go", append(args, "sfbridge/cmd/bridge")...).CombinedOutput()
	if err != nil {
		return file, fmt.Errorf("building the bridge: %w\n%s", err, out)
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
