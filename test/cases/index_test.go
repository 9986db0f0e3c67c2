package cases_test

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"sfbridge/test/harness"
)

// known are the cases of each group. A number that is missing belongs to no
// case.
var known = map[string]string{
	"A": "01 02 03 05 06 08 09 11 13 14 15",
	"B": "01 02 03 05 06 08 09 11 12 14",
	"C": "01 02 04 06 09 10 12 13 16 18 19",
	"D": "02 03 04 06 07 09 11 12 14 16 17 18",
	"E": "01 03 05 06 08 09 10",
	"F": "01 03 04 06 07 08 10",
	"G": "01 03 04 06 07 08 09 10",
	"H": "01 03 05 07 08",
}

// README.md lists every case; each test it names exists, and no test that is
// named after a case is left out.
func TestEveryCaseHasATest(t *testing.T) {
	t.Parallel()
	var want []string
	for group, numbers := range known {
		for n := range strings.FieldsSeq(numbers) {
			want = append(want, group+n)
		}
	}
	listed := harness.ListedTests(t, "README.md", `[A-H]\d\d`, "test/cases")
	assert.ElementsMatch(t, want, slices.Collect(maps.Keys(listed)))
	exist := harness.TestNames(t)
	for id, tests := range listed {
		assert.NotEmpty(t, tests, id)
		for _, name := range tests {
			assert.True(t, exist[name], "%s names a test that is not there: %s", id, name)
		}
	}
	caseOf := regexp.MustCompile(`\.Test([A-H]\d\d)`)
	for name := range exist {
		if id := caseOf.FindStringSubmatch(name); id != nil {
			assert.Contains(t, listed[id[1]], name, "README.md leaves out a test of %s", id[1])
		}
	}
}
