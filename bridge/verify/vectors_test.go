package verify_test

import (
	"compress/gzip"
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/verify"
	"sfbridge/bridge/verify/special"
)

func loadVectors(t testing.TB) []verify.Vector {
	t.Helper()
	file, err := os.Open("testdata/vectors.json.gz")
	require.NoError(t, err)
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	require.NoError(t, err)
	var vectors []verify.Vector
	require.NoError(t, json.NewDecoder(unzipped).Decode(&vectors))
	return vectors
}

func newRun(t testing.TB) verify.VectorRun {
	t.Helper()
	table, err := verify.LoadTable()
	require.NoError(t, err)
	return verify.VectorRun{Table: table, Schemes: special.Schemes()}
}

func TestEveryRunnableVectorIsJudgedAsItMust(t *testing.T) {
	t.Parallel()
	run, ran := newRun(t), 0
	for _, vector := range loadVectors(t) {
		if vector.Skip {
			continue
		}
		ran++
		result, err := run.Judge(vector)
		require.NoError(t, err, vector.ID)
		assert.Equal(t, vector.Valid, result.Valid, "%s: %s", vector.ID, result.Reason)
	}
	assert.Equal(t, 638, ran, "vectors that were run")
}
