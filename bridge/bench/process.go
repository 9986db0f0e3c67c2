package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"sfbridge/bridge/app"
	"sfbridge/config"
)

// Program is a bridge to be run.
type Program struct {
	Settings string            // file
	Env      map[string]string // what its references are filled from
	Roles    []string          // empty: all
}

// Process is a running bridge.
type Process interface {
	URL() string
	// Usage is what it has used since its start.
	Usage(ctx context.Context) (Usage, error)
	Stop() error
}

// Launch runs a bridge that serves when it returns.
type Launch func(context.Context, Program) (Process, error)

// Command runs the bridge as a process of its own, from the product's
// executable: its memory and its start are then the service's alone.
func Command(executable string) Launch {
	return func(ctx context.Context, p Program) (Process, error) {
		args := []string{"serve", "--config", p.Settings}
		if len(p.Roles) > 0 {
			args = append(args, "--only", strings.Join(p.Roles, ","))
		}
		c, err := begin(ctx, executable, args, p.Env)
		if err != nil {
			return nil, err
		}
		return c, c.listen(ctx)
	}
}

// begin starts a program that logs to its error output.
func begin(ctx context.Context, executable string, args []string, env map[string]string) (*child, error) {
	cmd := exec.CommandContext(ctx, executable, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = patience
	cmd.Env = os.Environ()
	for name, value := range env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	log, err := os.CreateTemp("", "bridge-bench-*.log")
	if err != nil {
		return nil, err
	}
	cmd.Stderr = log // a file takes every line at once; a pipe would wait for this busy process
	c := &child{cmd: cmd, log: log, ended: make(chan struct{})}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, c.drop())
	}
	go func() {
		defer close(c.ended)
		c.exit = cmd.Wait()
	}()
	return c, nil
}

type child struct {
	cmd   *exec.Cmd
	url   string
	admin string // "": it has no metrics
	log   *os.File
	ended chan struct{} // closed when the process has ended
	exit  error         // valid then
}

// listen reads the log until the line that says where the bridge serves.
func (c *child) listen(ctx context.Context) error {
	err := wait(ctx, 2*time.Millisecond, func() (bool, error) {
		over := c.over()
		said, err := io.ReadAll(io.NewSectionReader(c.log, 0, maxLog))
		if err != nil {
			return false, err
		}
		for line := range bytes.Lines(said) {
			var entry struct{ Msg, URL, Admin string }
			if json.Unmarshal(line, &entry) == nil && entry.Msg == "serving" {
				c.url, c.admin = entry.URL, entry.Admin
				return true, nil
			}
		}
		if over {
			return false, fmt.Errorf("the bridge ended: %s", bytes.TrimSpace(said))
		}
		return false, nil
	})
	if err != nil {
		return errors.Join(err, c.Stop())
	}
	return nil
}

// maxLog is how much of a log is searched.
const maxLog = 1 << 20

func (c *child) over() bool {
	select {
	case <-c.ended:
		return true
	default:
		return false
	}
}

// drop closes the log and removes it.
func (c *child) drop() error { return errors.Join(c.log.Close(), os.Remove(c.log.Name())) }

func (c *child) URL() string { return c.url }

func (c *child) Usage(ctx context.Context) (Usage, error) {
	return usageOf(ctx, c.cmd.Process.Pid, c.admin)
}

func (c *child) Stop() error {
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	<-c.ended
	return errors.Join(c.exit, c.drop())
}

// Inside runs the bridge in this process, so that a profile shows all of it.
// Its memory can't be told from that of the org.
func Inside(ctx context.Context, p Program) (Process, error) {
	cfg, err := config.Load(p.Settings)
	if err != nil {
		return nil, err
	}
	roles := make([]app.Role, len(p.Roles))
	for i, r := range p.Roles {
		roles[i] = app.Role(r)
	}
	b, err := app.New(app.Options{Config: cfg, Roles: slices.Clip(roles), Env: config.Env{
		Lookup:   func(name string) (string, bool) { v, ok := p.Env[name]; return v, ok },
		ReadFile: os.ReadFile,
	}})
	if err != nil {
		return nil, err
	}
	if err := b.Start(ctx); err != nil {
		return nil, err
	}
	running, stop := context.WithCancel(ctx)
	i := &inside{bridge: b, stop: stop, ended: make(chan error, 1)}
	go func() { i.ended <- b.Run(running) }()
	return i, nil
}

type inside struct {
	bridge *app.Bridge
	stop   context.CancelFunc
	ended  chan error
}

func (i *inside) URL() string                          { return i.bridge.URL() }
func (i *inside) Usage(context.Context) (Usage, error) { return Usage{}, nil }

func (i *inside) Stop() error {
	i.stop()
	return <-i.ended
}
