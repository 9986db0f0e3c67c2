package harness

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Patience is how long the harness waits for anything. It is no measure: a
// test that reaches it has failed.
const Patience = 90 * time.Second

// Patient is a context that ends when the harness's patience does.
func Patient(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Patience)
	t.Cleanup(cancel)
	return ctx
}

// process is one run of the binary.
type process struct {
	name string
	cmd  *exec.Cmd
	out  *Log // standard output
	err  *Log // standard error
	done chan struct{}
	exit error // valid once done is closed
}

// program says what to run.
type program struct {
	name string // in messages
	file string // empty: the product's binary
	args []string
	env  []string
}

// run starts a program. It ends with the test at the latest.
func run(t testing.TB, what program) *process {
	t.Helper()
	name := what.name
	if what.file == "" {
		what.file = Build(t)
	}
	p := &process{name: name, out: newLog(), err: newLog(), done: make(chan struct{})}
	p.cmd = exec.Command(what.file, what.args...)
	p.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "TMPDIR=" + os.TempDir()}, what.env...)
	p.cmd.Stdout, p.cmd.Stderr = p.out, p.err
	require.NoError(t, p.cmd.Start(), "starting %s", name)
	go func() {
		p.exit = p.cmd.Wait()
		p.out.end()
		p.err.end()
		close(p.done)
	}()
	t.Cleanup(func() {
		_ = p.stop() // the test has asserted what it cares about
		if t.Failed() {
			t.Logf("%s wrote:\n%s", name, tail(p.err.Lines(0)))
		}
		assert.NotContains(t, p.err.String(), "WARNING: DATA RACE", "in %s", name)
	})
	return p
}

// tail keeps the end of a long log.
func tail(lines []string) string {
	const most = 40
	if len(lines) > most {
		lines = append([]string{"…"}, lines[len(lines)-most:]...)
	}
	return strings.Join(lines, "\n")
}

// running tells whether the process has not ended.
func (p *process) running() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// signal sends a signal; to a process that has ended it does nothing.
func (p *process) signal(s os.Signal) error {
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

// stop asks the process to end and waits for it; one that doesn't is killed,
// which is an error. It returns how the process ended.
func (p *process) stop() error {
	if err := p.signal(syscall.SIGTERM); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	select {
	case <-p.done:
		return p.exit
	case <-ctx.Done():
		return errors.Join(errors.New(p.name+" did not stop"), p.kill())
	}
}

// kill ends the process at once, as a crash or the system would, and waits.
func (p *process) kill() error {
	if err := p.signal(syscall.SIGKILL); err != nil {
		return err
	}
	<-p.done
	return nil
}
