package spool_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"sfbridge/bridge/spool"
	"sfbridge/bridge/spool/spooltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// directory is a place of files.
type directory struct {
	dir string
	now func() time.Time
}

func (d directory) Open(t *testing.T) spool.Engine {
	t.Helper()
	f, err := spool.OpenFile(spool.FileConfig{Dir: d.dir, Now: d.now})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, f.Close()) })
	return f
}

func TestFile(t *testing.T) {
	t.Parallel()
	spooltest.Run(t, func(t *testing.T) spooltest.Place { return directory{dir: t.TempDir()} })
}

func TestFileOnAClockThatStandsOrGoesBack(t *testing.T) {
	t.Parallel()
	for name, now := range map[string]func() time.Time{
		"stands":       func() time.Time { return time.Unix(1767225600, 0) },
		"goes back":    backwards(),
		"is before 70": func() time.Time { return time.Unix(-1, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spooltest.Run(t, func(t *testing.T) spooltest.Place { return directory{dir: t.TempDir(), now: now} })
		})
	}
}

func backwards() func() time.Time {
	calls := make(chan int64, 1)
	calls <- 0
	return func() time.Time {
		n := <-calls
		calls <- n + 1
		return time.Unix(1767225600-n, 0)
	}
}

func put(t *testing.T, e spool.Engine, texts ...string) {
	t.Helper()
	for _, text := range texts {
		require.NoError(t, e.Append(t.Context(), []spool.Entry{{Queue: "B00", Data: []byte(text)}}))
	}
}

func held(t *testing.T, e spool.Engine) []string {
	t.Helper()
	list, err := e.Take(t.Context(), "B00", 1000)
	require.NoError(t, err)
	var texts []string
	for _, w := range list {
		texts = append(texts, string(w.Data))
	}
	return texts
}

func TestWhatADeadProcessLeftIsTakenOver(t *testing.T) {
	t.Parallel()
	clock := time.Unix(1767225600, 0)
	d := directory{dir: t.TempDir(), now: func() time.Time { return clock }}
	one, two := d.Open(t), d.Open(t)
	put(t, two, "1", "2")
	clock = clock.Add(time.Second)
	put(t, one, "3")
	require.NoError(t, two.Close())
	adopter, ok := one.(*spool.File)
	require.True(t, ok)
	require.NoError(t, adopter.Adopt(t.Context()))
	require.NoError(t, adopter.Adopt(t.Context()), "there is nothing left")
	put(t, one, "4")
	assert.Equal(t, []string{"1", "2", "3", "4"}, held(t, one), "in the order in which they were taken in")
	state, err := one.State(t.Context())
	require.NoError(t, err)
	assert.Equal(t, map[string]int{"B00": 4}, state.Depth)
}

func TestEntriesOfOneInstantAreAllTakenOver(t *testing.T) {
	t.Parallel()
	d := directory{dir: t.TempDir(), now: func() time.Time { return time.Unix(1767225600, 0) }}
	one, two := d.Open(t), d.Open(t)
	put(t, one, "a", "b")
	put(t, two, "c", "d", "e")
	require.NoError(t, two.Close())
	require.NoError(t, one.(*spool.File).Adopt(t.Context()))
	put(t, one, "f")
	assert.ElementsMatch(t, []string{"a", "b", "c", "d", "e", "f"}, held(t, one))
}

func TestALivingProcessKeepsItsFile(t *testing.T) {
	t.Parallel()
	d := directory{dir: t.TempDir()}
	one := d.Open(t)
	put(t, one, "1")
	two := d.Open(t)
	assert.Empty(t, held(t, two))
	assert.Equal(t, []string{"1"}, held(t, one))
}

func TestADamagedFileIsNotTakenForAnEmptyOne(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "spool-01.db"), make([]byte, 64<<10), 0o600))
	_, err := spool.OpenFile(spool.FileConfig{Dir: dir})
	assert.ErrorContains(t, err, "spool-01.db")
}
