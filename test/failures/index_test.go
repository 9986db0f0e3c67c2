package failures_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"sfbridge/test/harness"
)

// Each failure is listed with tests that exist.
func TestEveryFailureHasATest(t *testing.T) {
	t.Parallel()
	listed := harness.ListedTests(t, "README.md", `[a-z][a-z ]+`, "test/failures")
	delete(listed, "failure") // the head of the table
	assert.ElementsMatch(t, []string{
		"same event at the same time", "same event after a restart", "stop after the commit and before its answer",
		"an effect fails before its send", "an effect fails after its send", "an effect fails for good",
		"later state before earlier event", "provider lookup down", "queue redelivery", "replay after restore from archive",
		"clock skew", "reused id with other content", "mapping changed in the middle", "poisonous event",
	}, slices.Collect(maps.Keys(listed)))
	exist := harness.TestNames(t)
	for failure, tests := range listed {
		for _, name := range tests {
			assert.True(t, exist[name], "%q names a test that is not there: %s", failure, name)
		}
	}
}
