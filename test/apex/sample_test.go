package apexgates_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/export"
	"sfbridge/mapping"
	"sfbridge/test/harness"
)

// The example mapping of Stripe stands beside the sample objects as custom
// metadata, as bridge export writes it.
func TestTheSampleMappingIsCurrent(t *testing.T) {
	t.Parallel()
	root := harness.Root(t)
	file, err := mapping.Load(filepath.Join(root, "config/examples/stripe.yaml"))
	require.NoError(t, err)
	record, err := export.New(export.Config{Mapping: file})
	require.NoError(t, err)
	path := filepath.Join(root, "apex/samples/main/default/customMetadata", record.File)
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, record.XML, 0o600))
	}
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.True(t, string(record.XML) == string(got), "the sample is old; write it anew: go test ./test/apex -run Sample -update")
}
