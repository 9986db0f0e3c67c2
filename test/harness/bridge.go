package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// Bridge is one process of the service with its settings. It may be stopped or
// killed and started again on the same settings and store.
type Bridge struct {
	Config Config // with defaults filled in

	file string
	mu   sync.Mutex
	run  *process
	url  string
	adm  string
}

// StartBridge writes settings and mappings, runs `bridge serve` and waits until
// it is ready.
func StartBridge(t testing.TB, c Config) *Bridge {
	t.Helper()
	b := Prepare(t, c)
	b.Start(t)
	return b
}

// Prepare writes settings and mappings; Start and Launch run the service.
func Prepare(t testing.TB, c Config) *Bridge {
	t.Helper()
	b := &Bridge{Config: c.withDefaults(t)}
	b.file = b.Config.write(t)
	return b
}

// Start runs the service again after Stop or Kill, on other ports, and waits
// until it is ready.
func (b *Bridge) Start(t testing.TB) {
	t.Helper()
	b.Launch(t)
	b.Config.Org.Eventually(t, b.Config.Name+" is not ready", b.Readiness(http.StatusOK))
}

// Readiness holds when the operators' side answers /readyz with the status.
func (b *Bridge) Readiness(status int) Holds {
	return func(ctx context.Context) (bool, error) {
		answer, err := get(ctx, b.AdminURL()+"/readyz")
		return answer.Status == status, err
	}
}

// Launch runs the service again and waits until it listens. It may die at any
// time after that.
func (b *Bridge) Launch(t testing.TB) {
	t.Helper()
	args := []string{"serve", "--config", b.file}
	if len(b.Config.Only) > 0 {
		args = append(args, "--only", strings.Join(b.Config.Only, ","))
	}
	if b.Config.Debug {
		args = append(args, "--debug")
	}
	if b.Config.Within != "" {
		args = append(args, "--stop-within", b.Config.Within)
	}
	p := run(t, program{name: b.Config.Name, file: b.Config.Program, args: args, env: b.Config.Environment()})
	b.mu.Lock()
	b.run = p
	b.mu.Unlock()
	line, ok := p.err.Wait(Patient(t), 0, `"msg":"serving"`)
	require.True(t, ok, "%s did not start:\n%s", b.Config.Name, p.err)
	var hello struct{ URL, Admin string }
	require.NoError(t, json.Unmarshal([]byte(line), &hello))
	b.mu.Lock()
	b.url, b.adm = hello.URL, hello.Admin
	b.mu.Unlock()
}

// URL is where the receiver listens now.
func (b *Bridge) URL() string { b.mu.Lock(); defer b.mu.Unlock(); return b.url }

// AdminURL is where the operators' side listens now.
func (b *Bridge) AdminURL() string { b.mu.Lock(); defer b.mu.Unlock(); return b.adm }

// Log is what the present run has logged: JSON lines.
func (b *Bridge) Log() *Log { return b.current().err }

// Output is what the present run has written to its standard output.
func (b *Bridge) Output() *Log { return b.current().out }

// File is the settings file.
func (b *Bridge) File() string { return b.file }

// Running tells whether the present run has not ended.
func (b *Bridge) Running() bool { return b.current().running() }

// PID is the number of the present run's process.
func (b *Bridge) PID() int { return b.current().cmd.Process.Pid }

// Exited is closed when the present run has ended.
func (b *Bridge) Exited() <-chan struct{} { return b.current().done }

// Stop ends the service in order; anything but a clean end fails the test.
func (b *Bridge) Stop(t testing.TB) {
	t.Helper()
	require.NoError(t, b.current().stop(), "stopping %s", b.Config.Name)
}

// Kill is kill -9.
func (b *Bridge) Kill(t testing.TB) {
	t.Helper()
	require.NoError(t, b.current().kill(), "killing %s", b.Config.Name)
}

// Signal sends a signal to the process: SIGHUP, SIGSTOP, SIGCONT.
func (b *Bridge) Signal(t testing.TB, s os.Signal) {
	t.Helper()
	require.NoError(t, b.current().signal(s))
}

// ExitCode waits for the end of the present run and tells how it ended; -1 when
// a signal ended it.
func (b *Bridge) ExitCode(t testing.TB) int {
	t.Helper()
	p := b.current()
	select {
	case <-p.done:
		return p.cmd.ProcessState.ExitCode()
	case <-Patient(t).Done():
		require.Fail(t, b.Config.Name+" did not end")
		return 0
	}
}

func (b *Bridge) current() *process { b.mu.Lock(); defer b.mu.Unlock(); return b.run }

// Answer is an HTTP answer, read to its end.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// OK tells whether the sender is told that all is well.
func (a Answer) OK() bool { return a.Status/100 == 2 }

// Post delivers a body to a source. An error means that no whole answer came.
func (b *Bridge) Post(ctx context.Context, source string, header http.Header, body []byte) (Answer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, b.URL()+"/webhooks/"+source, bytes.NewReader(body))
	if err != nil {
		return Answer{}, err
	}
	req.Header = header.Clone()
	return do(req)
}

// Metrics reads the text of /metrics.
func (b *Bridge) Metrics(t testing.TB) string {
	t.Helper()
	answer, err := get(t.Context(), b.AdminURL()+"/metrics")
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, answer.Status)
	return string(answer.Body)
}

func get(ctx context.Context, url string) (Answer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return Answer{}, err
	}
	return do(req)
}

// client keeps enough connections for many senders at once.
var client = &http.Client{
	Transport:     &http.Transport{MaxIdleConnsPerHost: 256},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

func do(req *http.Request) (Answer, error) { return doWith(client, req) }

func doWith(client *http.Client, req *http.Request) (Answer, error) {
	r, err := client.Do(req)
	if err != nil {
		return Answer{}, err
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	return Answer{Status: r.StatusCode, Header: r.Header, Body: body}, err
}
