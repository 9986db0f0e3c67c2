package verify_test

import (
	"compress/gzip"
	"encoding/json"
	"os"
	"strings"
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

func TestVectorFiles(t *testing.T) {
	t.Parallel()
	run := newRun(t)
	report, err := run.Run(strings.NewReader(`[
		{"id":"a","scheme":"gitlab-token","secret":"s","headers":{"X-Gitlab-Token":"s"},"body":"","valid":true},
		{"id":"b","scheme":"gitlab-token","secret":"s","headers":{"X-Gitlab-Token":["s","t"]},"body":"","valid":true},
		{"id":"c","scheme":"gitlab-token","secret":"","headers":{},"body":"","valid":true,"skip":true},
		{"id":"d","scheme":"unheard","secret":"s","headers":{},"body":"","valid":false},
		{"id":"e","scheme":"gitlab-token","secrets":["x","s"],"secret":"","headers":{"x-gitlab-token":"s"},"body_base64":"AA==","valid":false}
	]`))
	require.NoError(t, err)
	var out strings.Builder
	require.NoError(t, report.Write(&out))
	assert.Equal(t, `{"id":"b","want":true,"got":false,"reason":"repeated_header"}
{"id":"d","want":false,"got":false,"reason":"scheme \"unheard\" is unknown"}
{"id":"e","want":false,"got":true,"reason":"ok"}
1 passed, 3 failed
`, out.String())
	assert.Equal(t, 1, report.Skipped)
	for _, broken := range []string{``, `{}`, `[{"id":1}]`, `[{"id":"a"}`, `[`, `[{"headers":{"a":1}}]`} {
		_, err := run.Run(strings.NewReader(broken))
		assert.Error(t, err, broken)
	}
}
