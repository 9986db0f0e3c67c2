package store_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/store"
)

func TestNotes(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	n := store.OpenNotes(dir)
	text, err := n.Get("a")
	require.NoError(t, err)
	assert.Empty(t, text)
	assert.NoDirExists(t, dir, "looking makes nothing")
	require.NoError(t, n.Put("a", []byte("one")))
	require.NoError(t, n.Put("a", []byte("two")))
	text, err = store.OpenNotes(dir).Get("a")
	require.NoError(t, err)
	assert.Equal(t, "two", string(text))
	require.NoError(t, n.Put("a", nil))
	text, err = n.Get("a")
	require.NoError(t, err)
	assert.Empty(t, text)
	info, err := os.Stat(filepath.Join(dir, "notes.db"))
	require.NoError(t, err)
	assert.EqualValues(t, 0o600, info.Mode().Perm())
	blocked := filepath.Join(dir, "notes.db", "below")
	assert.Error(t, store.OpenNotes(blocked).Put("a", []byte("x")))
}
