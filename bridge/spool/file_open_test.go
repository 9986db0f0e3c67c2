package spool

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What is taken over from another file goes in parts that fit into memory.
func TestPartsOfWhatIsTakenOver(t *testing.T) {
	t.Parallel()
	f, err := OpenFile(FileConfig{Dir: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, f.Close()) })
	for _, large := range []int{10, 0} {
		entries := make([]Entry, adoptCount+1)
		for i := range entries {
			entries[i] = Entry{Queue: "B00", Data: []byte("small")}
			if i < large {
				entries[i].Data = make([]byte, 1<<20)
			}
		}
		require.NoError(t, f.Append(t.Context(), entries))
		pairs, err := firstPairs(f.db)
		require.NoError(t, err)
		if large > 0 {
			assert.Len(t, pairs, groupBytes>>20)
		} else {
			assert.Len(t, pairs, adoptCount)
		}
		for list := []Waiting{{}}; len(list) > 0; {
			list, err = f.Take(t.Context(), "B00", adoptCount)
			require.NoError(t, err)
			ids := make([]string, len(list))
			for i, w := range list {
				ids[i] = w.ID
			}
			require.NoError(t, f.Done(t.Context(), "B00", ids))
		}
	}
}
