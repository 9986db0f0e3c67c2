package apexcheck_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/export"
	"sfbridge/bridge/scaffold"
	"sfbridge/mapping"
	"sfbridge/test/harness"
)

// examples are the mappings under config/examples.
func examples(t *testing.T) []*mapping.File {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(harness.Root(t), "config", "examples", "*.yaml"))
	require.NoError(t, err)
	var files []*mapping.File
	for _, name := range names {
		if filepath.Base(name) == "bridge.yaml" {
			continue
		}
		f, err := mapping.Load(name)
		require.NoError(t, err)
		files = append(files, f)
	}
	require.NotEmpty(t, files)
	return files
}

func TestWhatIsScaffoldedIsMetadata(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plan, err := scaffold.NewPlan(scaffold.Config{Mappings: examples(t), Dir: dir})
	require.NoError(t, err)
	require.NoError(t, plan.Write(false))
	out, err := check(t, dir)
	require.NoError(t, err, out)
	assert.Empty(t, out)
}

func TestWhatIsExportedIsMetadata(t *testing.T) {
	t.Parallel()
	dir, written := t.TempDir(), 0
	for _, f := range examples(t) {
		r, err := export.New(export.Config{Mapping: f})
		if err != nil {
			continue // an example that Apex can't run
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, r.File), r.XML, 0o600))
		written++
	}
	require.Positive(t, written)
	out, err := check(t, dir)
	require.NoError(t, err, out)
	assert.Empty(t, out)
}
