package mapping

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares with a file, or writes it.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(want), got)
}

// Every mistake of testdata/problems/NAME.yaml is told at once, as in NAME.err:
// mistakes are found when the bridge starts, not at the first event.
func TestProblemsAreToldAtOnce(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/problems/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			t.Parallel()
			f, err := Load(file)
			require.Error(t, err)
			assert.Nil(t, f)
			var problems *Problems
			require.ErrorAs(t, err, &problems)
			text := strings.ReplaceAll(err.Error()+"\n", "testdata/problems/", "")
			golden(t, strings.TrimSuffix(file, ".yaml")+".err", text)
			assert.NotContains(t, text, "canary", "a secret never shows")
		})
	}
}

func TestMissingFile(t *testing.T) {
	t.Parallel()
	_, err := Load("testdata/nowhere.yaml")
	assert.EqualError(t, err, "testdata/nowhere.yaml:1:1: can't be read: no such file or directory: check the name and the rights")
}
