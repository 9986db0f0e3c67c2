//go:build linux

package spool_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/spool"
)

// mapped is how much of a file this process has in its memory, in KiB.
func mapped(t *testing.T, file string) int {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/smaps")
	require.NoError(t, err)
	sum, inside := 0, false
	for line := range strings.Lines(string(maps)) {
		if strings.Contains(line, "-") && strings.Contains(line, " ") && !strings.Contains(line, ":  ") {
			inside = strings.HasSuffix(strings.TrimSpace(line), file)
		}
		var kib int
		if _, err := fmt.Sscanf(line, "Rss: %d kB", &kib); inside && err == nil {
			sum += kib
		}
	}
	return sum
}

// A long backlog that was read does not stay in the memory of the process, and
// is there when it is read again.
func TestABacklogThatWasReadIsNoMemory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f, err := spool.OpenFile(spool.FileConfig{Dir: dir})
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	const queues = 16
	var entries []spool.Entry
	for n := range 3200 {
		entries = append(entries, spool.Entry{Queue: fmt.Sprintf("B%02d", n%queues), Data: bytes.Repeat([]byte{byte(n)}, 8<<10)})
	}
	require.NoError(t, f.Append(t.Context(), entries))
	readAll := func() (all []spool.Waiting) {
		for n := range queues {
			list, err := f.Take(t.Context(), fmt.Sprintf("B%02d", n), len(entries))
			require.NoError(t, err)
			all = append(all, list...)
		}
		return all
	}
	before := readAll()
	require.Len(t, before, len(entries))
	file := dir + "/spool-01.db"
	assert.Less(t, mapped(t, file), 16<<10)
	_, err = f.State(t.Context())
	require.NoError(t, err)
	assert.Less(t, mapped(t, file), 4<<10)
	assert.Equal(t, before, readAll())
}
