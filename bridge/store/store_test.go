package store_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"sfbridge/bridge/store"
)

// victimDir makes the test binary a process that is killed at work.
const victimDir = "STORE_TEST_VICTIM_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(victimDir); dir != "" {
		victim(dir)
	}
	os.Exit(m.Run())
}

// victim begins work on two rows, finishes one, says so, and hangs.
func victim(dir string) {
	s, err := store.Open(store.Config{Dir: dir})
	if err == nil {
		err = s.Journal().Begin([]string{"finished", "interrupted"})
	}
	if err == nil {
		err = s.Journal().Done([]string{"finished"})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("at work")
	select {}
}

func open(t require.TestingT, dir string) *store.Store {
	s, err := store.Open(store.Config{Dir: dir})
	require.NoError(t, err)
	return s
}

// crash closes the file as the kernel does for a dead process: what is noted
// stays noted.
func crash(t require.TestingT, s *store.Store) { require.NoError(t, s.Close()) }

func TestKilledProcessLeavesSuspects(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), victimDir+"="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "at work\n", line)
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait() // it was killed

	s := open(t, dir)
	defer crash(t, s)
	assert.Equal(t, map[string]int{"interrupted": 1}, s.Journal().Suspects())
}

func TestCrashesAreCountedUntilTheRowPasses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for crashes := range 5 {
		s := open(t, dir)
		assert.Equal(t, crashes, s.Journal().Crashes("poison"))
		require.NoError(t, s.Journal().Begin([]string{"poison"}))
		crash(t, s)
	}
	s := open(t, dir)
	assert.Equal(t, 5, s.Journal().Crashes("poison"))
	require.NoError(t, s.Journal().Done([]string{"poison"}))
	assert.Zero(t, s.Journal().Crashes("poison"))
	crash(t, s)
	s = open(t, dir)
	defer crash(t, s)
	assert.Empty(t, s.Journal().Suspects())
}

func TestSuspectThatWaitsIsNotBlamed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	require.NoError(t, s.Journal().Begin([]string{"poison", "neighbour"}))
	crash(t, s)
	s = open(t, dir)
	require.NoError(t, s.Journal().Begin([]string{"poison"})) // alone
	crash(t, s)
	s = open(t, dir)
	defer crash(t, s)
	assert.Equal(t, map[string]int{"poison": 2, "neighbour": 1}, s.Journal().Suspects())
}

func TestProcessesShareADirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	one, two := open(t, dir), open(t, dir)
	require.NoError(t, one.Journal().Begin([]string{"a", "b"}))
	require.NoError(t, two.Journal().Begin([]string{"b", "c"}))
	crash(t, two)

	three := open(t, dir)
	assert.Equal(t, map[string]int{"b": 1, "c": 1}, three.Journal().Suspects(), "only what the dead process left")
	crash(t, one)
	crash(t, three)

	four := open(t, dir)
	assert.Equal(t, map[string]int{"a": 1, "b": 2, "c": 1}, four.Journal().Suspects(), "both files are taken over")
	crash(t, four)
	five := open(t, dir)
	defer crash(t, five)
	assert.Equal(t, map[string]int{"a": 1, "b": 2, "c": 1}, five.Journal().Suspects(), "and taken over once")
}

func TestTooManyProcesses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for range 64 {
		s := open(t, dir)
		t.Cleanup(func() { crash(t, s) })
	}
	_, err := store.Open(store.Config{Dir: dir})
	assert.ErrorIs(t, err, store.ErrCrowded)
}

func TestDamagedJournalIsSetAside(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "journal-01.db")
	damage := make([]byte, 16384)
	copy(damage, "not a database")
	require.NoError(t, os.WriteFile(file, damage, 0o600))
	s := open(t, dir)
	defer crash(t, s)
	assert.Empty(t, s.Journal().Suspects())
	assert.FileExists(t, file+".damaged")
}

func TestOpenErrors(t *testing.T) {
	t.Parallel()
	_, err := store.Open(store.Config{})
	assert.ErrorContains(t, err, "store.dir")
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err = store.Open(store.Config{Dir: file})
	assert.ErrorContains(t, err, "store directory")
}

// Whatever a process begins and finishes, and whenever it dies, the next start
// suspects exactly what was in work then or had not passed since.
func TestJournalAgainstAModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "journal")
		require.NoError(t, err)
		defer os.RemoveAll(dir)
		s := open(t, dir)
		working, suspects := map[string]bool{}, map[string]int{}
		ids := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c", "d"}), 0, 4, rapid.ID)
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			switch rapid.IntRange(0, 2).Draw(t, "step") {
			case 0:
				rows := ids.Draw(t, "begin")
				require.NoError(t, s.Journal().Begin(rows))
				for _, id := range rows {
					working[id] = true
				}
			case 1:
				rows := ids.Draw(t, "done")
				require.NoError(t, s.Journal().Done(rows))
				for _, id := range rows {
					delete(working, id)
					delete(suspects, id)
				}
			case 2:
				crash(t, s)
				for id := range working {
					suspects[id]++
				}
				clear(working)
				s = open(t, dir)
			}
			require.Equal(t, suspects, s.Journal().Suspects())
		}
		crash(t, s)
	})
}
