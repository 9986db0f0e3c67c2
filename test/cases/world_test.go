package cases_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"sfbridge/test/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// do sends a request and returns the text of its answer.
func do(t *testing.T, req *http.Request) string {
	t.Helper()
	r, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	return string(text)
}
