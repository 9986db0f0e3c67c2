package report_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/test/fault/report"
)

func TestTheTableReplacesTheOldOne(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "reliability.md")
	require.NoError(t, os.WriteFile(file, []byte("before\n"+report.Begin+"\nold\n"+report.End+"\nafter\n"), 0o600))
	var table report.Table
	table.Add(report.Row{Name: "b", Events: 10, Accepted: 10, Calls: 5, RSS: 70, Recovery: time.Second})
	table.Add(report.Row{Name: "a", Breaks: "all", Events: 30, Accepted: 30, Killed: 2, Calls: 5, RSS: 60, Recovery: 2 * time.Second})
	require.NoError(t, table.Write(file))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, `before
<!-- table: written by make fault -->

| scenario | what is broken | events | accepted | duplicates | resent | killed | lost | doubled | review | calls/event | logins | MiB | rest s |
|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|
| a | all | 30 | 30 | 0 | 0 | 2 | 0 | 0 | 0 | 0.167 | 0 | 60 | 2.0 |
| b |  | 10 | 10 | 0 | 0 | 0 | 0 | 0 | 0 | 0.500 | 0 | 70 | 1.0 |
| **all** |  | 40 | 40 | 0 | 0 | 2 | 0 | 0 | 0 | 0.250 | 0 | 70 | 2.0 |

<!-- end of table -->
after
`, string(text))
}

func TestAFileWithoutMarks(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "other.md")
	require.NoError(t, os.WriteFile(file, []byte("text"), 0o600))
	var table report.Table
	assert.ErrorContains(t, table.Write(file), "marks")
}
