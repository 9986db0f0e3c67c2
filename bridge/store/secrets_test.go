package store_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/store"
)

func TestSecrets(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	s := store.OpenSecrets(dir)
	at := time.Unix(1767225600, 0).UTC()
	_, found, err := s.Get("asana")
	require.NoError(t, err)
	assert.False(t, found)
	_, found, err = s.Show("asana")
	require.NoError(t, err)
	assert.False(t, found)
	_, err = os.Stat(dir)
	assert.ErrorIs(t, err, os.ErrNotExist, "looking makes nothing")

	require.NoError(t, s.Keep("asana", "first", at))
	require.NoError(t, s.Keep("asana", "first", at.Add(time.Hour)), "the same one again")
	assert.ErrorIs(t, s.Keep("asana", "second", at), store.ErrKept)
	require.NoError(t, s.Keep("notion", "other", at))
	secret, found, err := store.OpenSecrets(dir).Get("asana")
	require.NoError(t, err)
	assert.True(t, found)
	assert.Equal(t, store.Secret{Value: "first", At: at}, secret)

	value, found, err := s.Show("asana")
	require.NoError(t, err)
	assert.Equal(t, "first", value)
	assert.True(t, found)
	_, found, err = s.Show("asana")
	require.NoError(t, err)
	assert.False(t, found, "shown once")

	require.NoError(t, s.Forget("asana"))
	require.NoError(t, s.Keep("asana", "second", at))
	info, err := os.Stat(filepath.Join(dir, "secrets.db"))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

// TestOneOfManyHandshakesWins, from whatever process it comes.
func TestOneOfManyHandshakesWins(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var won sync.Map
	var all sync.WaitGroup
	for _, secret := range []string{"a", "b", "c", "d"} {
		all.Go(func() {
			if store.OpenSecrets(dir).Keep("asana", secret, time.Unix(1, 0)) == nil {
				won.Store(secret, true)
			}
		})
	}
	all.Wait()
	kept, found, err := store.OpenSecrets(dir).Get("asana")
	require.NoError(t, err)
	require.True(t, found)
	won.Range(func(secret, _ any) bool { return assert.Equal(t, kept.Value, secret) })
}
