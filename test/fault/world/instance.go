package world

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sfbridge/internal/failpoint"
	"sfbridge/test/harness"
)

// Instance is one process of the service, over all its lives.
type Instance struct {
	bridge *harness.Bridge
	points string // folder of what is armed

	starts, kills int
	lines, rss    int // of the lives that are over
}

// Arm sets a failpoint; see package failpoint for what may happen there.
func (i *Instance) Arm(t testing.TB, p failpoint.Point, what string) {
	t.Helper()
	file := filepath.Join(i.points, string(p))
	require.NoError(t, os.WriteFile(file+".new", []byte(what), 0o600))
	require.NoError(t, os.Rename(file+".new", file)) // never half written
}

// Disarm takes a failpoint away and tells whether it has killed.
func (i *Instance) Disarm(t testing.TB, p failpoint.Point) (killed bool) {
	t.Helper()
	file := filepath.Join(i.points, string(p))
	if err := os.Remove(file); err != nil {
		require.ErrorIs(t, err, os.ErrNotExist)
	}
	return os.Remove(file+".hit") == nil
}

// Clock sets how far the process's clock is off.
func (i *Instance) Clock(t testing.TB, off time.Duration) {
	t.Helper()
	i.Arm(t, "clock", off.String())
}

// Exited is closed when the present life is over.
func (i *Instance) Exited() <-chan struct{} { return i.bridge.Exited() }

// File is the settings file, for commands.
func (i *Instance) File() string { return i.bridge.File() }

// Environment is that of the process, for commands.
func (i *Instance) Environment() []string { return i.bridge.Config.Environment() }

// Kill is kill -9 and a new start.
func (i *Instance) Kill(t testing.TB) {
	t.Helper()
	i.note()
	i.bridge.Kill(t)
	i.Revive(t)
}

// Revive starts a process that was killed.
func (i *Instance) Revive(t testing.TB) {
	t.Helper()
	i.kills++
	i.lines += i.bridge.Log().Mark()
	i.starts++
	i.bridge.Launch(t)
}

// Restart stops in order and starts again.
func (i *Instance) Restart(t testing.TB) {
	t.Helper()
	i.note()
	i.bridge.Stop(t)
	i.lines += i.bridge.Log().Mark()
	i.starts++
	i.bridge.Start(t)
}

// Terminate asks the process to stop, and does not wait.
func (i *Instance) Terminate(t testing.TB) { t.Helper(); i.bridge.Signal(t, syscall.SIGTERM) }

// Freeze stops the process where it is; Thaw lets it go on.
func (i *Instance) Freeze(t testing.TB) { t.Helper(); i.bridge.Signal(t, syscall.SIGSTOP) }

// Thaw lets a frozen process go on.
func (i *Instance) Thaw(t testing.TB) { t.Helper(); i.bridge.Signal(t, syscall.SIGCONT) }

// FillDisk lets no file of the process be written any more: each write fails, as
// on a full disk.
func (i *Instance) FillDisk(t testing.TB) { t.Helper(); i.limitFiles(t, "0") }

// FreeDisk takes that back.
func (i *Instance) FreeDisk(t testing.TB) { t.Helper(); i.limitFiles(t, "unlimited") }

func (i *Instance) limitFiles(t testing.TB, size string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "prlimit", "--pid", strconv.Itoa(i.bridge.PID()), "--fsize="+size+":unlimited")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// note keeps the largest memory of the present life.
func (i *Instance) note() { i.rss = max(i.rss, resident(i.bridge.PID())) }

// resident is the largest resident memory that a process has had, in MiB; 0 when
// it has ended.
func resident(pid int) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(value), " kB")) // the kernel's own form
			return kib >> 10
		}
	}
	return 0
}

// Logged tells whether a line of the present life's log holds a text.
func (i *Instance) Logged(text string) bool {
	return slices.ContainsFunc(i.bridge.Log().Lines(0), func(line string) bool { return strings.Contains(line, text) })
}

// FailedCalls counts the calls to Salesforce of the present life that failed.
func (i *Instance) FailedCalls(t testing.TB) int {
	t.Helper()
	n := 0
	for line := range strings.Lines(i.bridge.Metrics(t)) {
		labels, value, found := strings.Cut(line, "} ")
		if !found || !strings.HasPrefix(labels, "bridge_salesforce_calls_total{") || strings.Contains(labels, `class="ok"`) {
			continue
		}
		count, err := strconv.Atoi(strings.TrimSpace(value))
		require.NoError(t, err)
		n += count
	}
	return n
}

// metric reads a gauge without labels.
func (i *Instance) metric(t testing.TB, name string) int {
	t.Helper()
	for line := range strings.Lines(i.bridge.Metrics(t)) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			n, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			require.NoError(t, err)
			return int(n)
		}
	}
	require.Fail(t, "no metric "+name)
	return 0
}
