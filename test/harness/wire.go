package harness

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// Wire is a place between a bridge and its org where every call is seen and a
// test may stop one: before it reaches the org, or with its answer already
// there. A bridge uses it when it is named in Config.Via.
type Wire struct {
	URL string

	org    *Org
	client *http.Client
	mu     sync.Mutex
	traps  []*trap
	calls  []*Call
}

// trap waits for one call.
type trap struct {
	match  func(*Call) bool
	caught chan *Call
}

// Call is one call of the bridge. Method, Path (with the query), Header and
// Body are as sent; Answer tells what came back.
type Call struct {
	Method, Path, Host string
	Header             http.Header
	Body               []byte

	wire   *Wire
	mu     sync.Mutex
	answer *Answer
	end    chan struct{} // closed when the bridge may have the answer, or is cut off
	cut    bool
}

// StartWire puts a wire in front of the org.
func StartWire(t testing.TB, org *Org) *Wire {
	t.Helper()
	w := &Wire{org: org, client: &http.Client{
		Transport:     &http.Transport{DisableCompression: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	s := httptest.NewServer(http.HandlerFunc(w.serve))
	t.Cleanup(s.Close)
	t.Cleanup(w.release)
	w.URL = s.URL
	return w
}

// Trap stops the next call that matches, and only that one, before it reaches
// the org. The function it returns waits for it.
func (w *Wire) Trap(match func(*Call) bool) func(testing.TB) *Call {
	tr := &trap{match: match, caught: make(chan *Call, 1)}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.traps = append(w.traps, tr)
	return func(t testing.TB) *Call {
		t.Helper()
		select {
		case c := <-tr.caught:
			return c
		case <-Patient(t).Done():
			require.Fail(t, "no such call came")
			return nil
		}
	}
}

// Calls returns what has passed so far, those that are stopped too.
func (w *Wire) Calls(match func(*Call) bool) []*Call {
	w.mu.Lock()
	defer w.mu.Unlock()
	var found []*Call
	for _, c := range w.calls {
		if match(c) {
			found = append(found, c)
		}
	}
	return found
}

// Commits matches the transactions that move events on.
func Commits(c *Call) bool {
	path, _, _ := strings.Cut(c.Path, "?")
	return (strings.HasSuffix(path, "/composite") || strings.HasSuffix(path, "/composite/graph")) &&
		bytes.Contains(c.Body, []byte("Expected_Revision__c"))
}

// Stages matches the calls that insert events.
func Stages(c *Call) bool {
	return c.Method == http.MethodPost && strings.HasSuffix(c.Path, "/composite/sobjects")
}

// Logins matches token requests.
func Logins(c *Call) bool { return strings.HasSuffix(c.Path, "/services/oauth2/token") }

// Forward has the org carry the call out; the bridge gets no answer yet. It
// works also when the bridge is gone, as a call that was long on its way.
func (c *Call) Forward(t testing.TB) Answer {
	t.Helper()
	answer, err := c.forward(context.WithoutCancel(t.Context()))
	require.NoError(t, err)
	return answer
}

func (c *Call) forward(ctx context.Context) (Answer, error) {
	target, err := url.Parse(c.wire.org.URL)
	if err != nil {
		return Answer{}, err
	}
	req, err := http.NewRequestWithContext(ctx, c.Method, target.String()+c.Path, bytes.NewReader(c.Body))
	if err != nil {
		return Answer{}, err
	}
	req.Header, req.Host = c.Header.Clone(), c.Host
	answer, err := doWith(c.wire.client, req)
	if err != nil {
		return Answer{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answer = &answer
	return answer, nil
}

// Answer is what the org said; false while it has not been asked.
func (c *Call) Answer() (Answer, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.answer == nil {
		return Answer{}, false
	}
	return *c.answer, true
}

// Reply gives the bridge an answer of the test's own.
func (c *Call) Reply(a Answer) {
	c.mu.Lock()
	c.answer = &a
	c.mu.Unlock()
	close(c.end)
}

// Deliver lets the bridge have the org's answer.
func (c *Call) Deliver(t testing.TB) {
	t.Helper()
	if _, ok := c.Answer(); !ok {
		c.Forward(t)
	}
	close(c.end)
}

// Cut closes the bridge's connection without an answer.
func (c *Call) Cut() {
	c.mu.Lock()
	c.cut = true
	c.mu.Unlock()
	close(c.end)
}

func (w *Wire) serve(rw http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler) // the bridge broke off
	}
	c := &Call{Method: r.Method, Path: r.URL.RequestURI(), Host: r.Host, Header: r.Header.Clone(), Body: body, wire: w, end: make(chan struct{})}
	if !w.stop(c) {
		_, err := c.forward(r.Context())
		if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, io.EOF) && !isReset(err) {
			panic(err)
		}
		close(c.end)
	}
	select {
	case <-c.end:
	case <-r.Context().Done():
	}
	answer, ok := c.Answer()
	c.mu.Lock()
	cut := c.cut
	c.mu.Unlock()
	if !ok || cut {
		panic(http.ErrAbortHandler)
	}
	for name, values := range answer.Header {
		rw.Header()[name] = values
	}
	rw.WriteHeader(answer.Status)
	_, _ = rw.Write(answer.Body) // the bridge may be gone
}

// isReset tells whether the org closed the connection, as a planted fault does.
func isReset(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) || errors.Is(err, io.ErrUnexpectedEOF)
}

// stop notes the call and hands it to the first trap it fits.
func (w *Wire) stop(c *Call) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls = append(w.calls, c)
	for i, tr := range w.traps {
		if tr.match(c) {
			w.traps = append(w.traps[:i:i], w.traps[i+1:]...)
			tr.caught <- c
			return true
		}
	}
	return false
}

// release ends what is still stopped when the test ends.
func (w *Wire) release() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.traps = nil
	for _, c := range w.calls {
		select {
		case <-c.end:
		default:
			close(c.end)
		}
	}
}
