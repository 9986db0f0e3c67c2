package crash_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/test/harness"
)

// halfPost is a delivery of which the second half has not been sent yet.
type halfPost struct {
	conn net.Conn
	rest []byte
}

func beginPost(t *testing.T, b *harness.Bridge, d delivery) halfPost {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(b.URL(), "http://"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	body := d.body()
	half := len(body) / 2
	_, err = fmt.Fprintf(conn, "POST /webhooks/shop HTTP/1.1\r\nHost: bridge\r\nContent-Type: application/json\r\n"+
		"X-Signature: %s\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n", harness.HMACHex(secret, body), len(body))
	require.NoError(t, err)
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusContinue, answer.StatusCode) // the service reads the body now
	_, err = conn.Write(body[:half])
	require.NoError(t, err)
	return halfPost{conn, body[half:]}
}

func (h halfPost) finish(t *testing.T) harness.Answer {
	t.Helper()
	_, err := h.conn.Write(h.rest)
	require.NoError(t, err)
	r, err := http.ReadResponse(bufio.NewReader(h.conn), nil)
	require.NoError(t, err)
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	return harness.Answer{Status: r.StatusCode, Header: r.Header, Body: body}
}

// patiently has a stop wait for as long as the test does: how fast the machine is
// must not decide what becomes of the work in flight.
func patiently(c *harness.Config) { c.Within = harness.Patience.String() }

// SIGTERM while a commit is under way and a delivery is half received: not
// ready any more, no new connections, no new batch; what is under way finishes,
// the process ends with 0, and the next one goes on without an attempt charged.
func TestStopInTheMiddleOfWork(t *testing.T) {
	t.Parallel()
	w := start(t, patiently)
	events := deliveries(6)
	first, last := events[:5], events[5]
	commit := w.wire.Trap(harness.Commits)
	for _, d := range first {
		require.Equal(t, "accepted", post(t, w.bridge, d))
	}
	held := commit(t)
	half := beginPost(t, w.bridge, last)
	w.bridge.Signal(t, syscall.SIGTERM)
	w.org.Eventually(t, "still ready", notReady(w.bridge))
	_, err := net.Dial("tcp", strings.TrimPrefix(w.bridge.URL(), "http://"))
	require.ErrorIs(t, err, syscall.ECONNREFUSED, "no new connections")
	before := len(w.wire.Calls(harness.Commits))
	answer := half.finish(t)
	assert.Equal(t, http.StatusAccepted, answer.Status, "%s", answer.Body)
	require.True(t, w.bridge.Running(), "the commit is still under way")
	require.True(t, succeeded(t, held.Forward(t)))
	held.Deliver(t)
	assert.Equal(t, 0, w.bridge.ExitCode(t))
	assert.Len(t, w.wire.Calls(harness.Commits), before, "no batch may begin after the signal")
	w.bridge.Start(t)
	w.org.Settle(t)
	checkAll(t, w.org, events)
	checkWrittenOnce(t, w.wire, len(events))
	w.bridge.Stop(t)
}

// notReady holds as soon as the readiness route of the operators' side says so.
func notReady(b *harness.Bridge) harness.Holds { return b.Readiness(http.StatusServiceUnavailable) }

// A call that the org never answers does not keep the process from ending: its
// events are as due as before and the next process goes on.
func TestStopDoesNotWaitForEver(t *testing.T) {
	t.Parallel()
	w := start(t)
	events := deliveries(3)
	commit := w.wire.Trap(harness.Commits)
	for _, d := range events {
		require.Equal(t, "accepted", post(t, w.bridge, d))
	}
	commit(t)
	w.bridge.Signal(t, syscall.SIGTERM)
	assert.Equal(t, 0, w.bridge.ExitCode(t))
	assert.Len(t, w.wire.Calls(harness.Commits), 1, "it must not have waited until the call was given up and sent again")
	w.bridge.Start(t)
	w.org.Settle(t)
	checkAll(t, w.org, events)
	w.bridge.Stop(t)
}

// A second signal ends the process at once, whatever is under way; nothing is
// lost by it.
func TestSecondSignal(t *testing.T) {
	t.Parallel()
	w := start(t, patiently)
	d := deliveries(1)[0]
	commit := w.wire.Trap(harness.Commits)
	require.Equal(t, "accepted", post(t, w.bridge, d))
	held := commit(t)
	w.bridge.Signal(t, syscall.SIGTERM)
	w.org.Eventually(t, "still ready", notReady(w.bridge))
	w.bridge.Signal(t, syscall.SIGTERM)
	assert.Equal(t, -1, w.bridge.ExitCode(t), "the signal itself must have ended it")
	w.bridge.Start(t)
	held.Forward(t)
	w.org.Settle(t)
	checkAll(t, w.org, []delivery{d})
	checkWrittenOnce(t, w.wire, 1)
	w.bridge.Stop(t)
}
