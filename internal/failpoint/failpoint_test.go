package failpoint_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/internal/failpoint"
)

// In the product nothing can be armed, whatever stands in the environment.
func TestTheProductHasNoFailpoints(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("BRIDGE_FAILPOINTS", dir)
	arm(t, dir, string(failpoint.StageSending), "kill")
	arm(t, dir, string(failpoint.Dial), "fail")
	arm(t, dir, "clock", "8760h")
	failpoint.Hit(failpoint.StageSending)
	assert.NoError(t, failpoint.Err(failpoint.Dial))
	assert.Less(t, time.Until(failpoint.Now()), 24*time.Hour)
}

// Each point has a name of its own, or arming one would strike at another.
func TestPointsDiffer(t *testing.T) {
	t.Parallel()
	seen := map[failpoint.Point]bool{failpoint.Dial: true, failpoint.Call("query"): true}
	for _, p := range failpoint.Steps() {
		assert.False(t, seen[p], p)
		seen[p] = true
	}
}

func arm(t *testing.T, dir, point, what string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(dir, point), []byte(what), 0o600))
}
