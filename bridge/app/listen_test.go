package app

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/receive"
)

// pipes is a listener in memory.
type pipes struct {
	conns   chan net.Conn
	ended   chan struct{}
	senders sync.WaitGroup
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), ended: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.ended:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { close(p.ended); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (p *pipes) dial() net.Conn {
	ours, theirs := net.Pipe()
	p.conns <- theirs
	return ours
}

// listening runs the receiver's side with so many connections; its handler reads
// the body and says how long it is.
func listening(t *testing.T, connections int) *pipes {
	t.Helper()
	return listeningWith(t, connections, http.HandlerFunc(lengthOfBody))
}

func listeningWith(t *testing.T, connections int, h http.Handler) *pipes {
	t.Helper()
	b := &Bridge{metrics: NewMetrics(func() float64 { return 0 }), log: slog.New(slog.DiscardHandler)}
	s := b.server(h, connections)
	p := newPipes()
	served := make(chan error, 1)
	go func() { served <- s.Serve(p) }()
	t.Cleanup(func() {
		require.NoError(t, s.Close())
		require.NoError(t, <-served)
		p.senders.Wait()
	})
	return p
}

// drip sends a text a byte a second, as long as it is listened to.
func drip(c net.Conn, text string) (took time.Duration) {
	begun := time.Now()
	for i := range len(text) {
		if _, err := c.Write([]byte{text[i]}); err != nil {
			break
		}
		time.Sleep(time.Second)
	}
	return time.Since(begun)
}

// TestASenderOfAByteASecondIsCutOff, in its headers and in its body, after the
// times that the listener gives it; in the clock of the test.
func TestASenderOfAByteASecondIsCutOff(t *testing.T) {
	for name, c := range map[string]struct {
		quick, slow string
		after       time.Duration
	}{
		"headers": {"POST / HTTP/1.1\r\nHost: x\r\n", "X-Long: " + strings.Repeat("x", 3600), headerWait},
		"body":    {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3600\r\n\r\n", strings.Repeat("x", 3600), readWait},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := listening(t, 10)
				slow := p.dial()
				_, err := io.WriteString(slow, c.quick)
				require.NoError(t, err)
				go func() { _, _ = io.Copy(io.Discard, slow) }() // whatever it is told
				took := drip(slow, c.slow)
				assert.GreaterOrEqual(t, took, c.after)
				assert.Less(t, took, c.after+2*time.Second)
			})
		})
	}
}

// TestAGoodSenderGetsThroughAMassOfOthers: all connections are taken by senders
// that send nothing, or a byte a second.
func TestAGoodSenderGetsThroughAMassOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := listening(t, 50)
		for i := range 200 {
			c := p.dial()
			go func() { _, _ = io.Copy(io.Discard, c) }()
			if i%2 == 0 {
				_, err := io.WriteString(c, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3600\r\n\r\n")
				require.NoError(t, err)
				p.senders.Go(func() { drip(c, strings.Repeat("x", 3600)) })
			}
		}
		begun := time.Now()
		for range 20 {
			good := p.dial()
			assert.Equal(t, goodAnswer, ask(t, good, goodRequest))
			require.NoError(t, good.Close())
		}
		assert.Zero(t, time.Since(begun), "nobody was waited for")
	})
}

// ask sends a request whole and gives the body of the answer.
func ask(t *testing.T, c net.Conn, request string) string {
	t.Helper()
	_, err := io.WriteString(c, request)
	require.NoError(t, err)
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	require.NoError(t, err)
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return string(body)
}

const (
	goodRequest = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc"
	goodAnswer  = "3"
)

// whole is a handler that takes a request as the receiver does: worked on once
// its body has come.
func whole(h http.HandlerFunc) http.Handler { return receive.Patient(h) }

func lengthOfBody(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	fmt.Fprint(w, len(body))
}

// TestSendersThatNeverReadTakeNoPlace: all connections are taken by senders that
// send requests on and on, and read none of the answers; or that announce a body
// to an address which reads none.
func TestSendersThatNeverReadTakeNoPlace(t *testing.T) {
	const announces = "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n"
	for name, c := range map[string]struct {
		request string
		onAndOn bool
		handler http.HandlerFunc
	}{
		"answers unread":   {goodRequest, true, lengthOfBody},
		"body not sent":    {announces, false, lengthOfBody},
		"body never asked": {announces, false, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, goodAnswer) }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := listeningWith(t, 3, whole(c.handler))
				for range 3 {
					deaf := p.dial()
					p.senders.Go(func() {
						for more := true; more; more = c.onAndOn {
							if _, err := io.WriteString(deaf, c.request); err != nil {
								return
							}
						}
					})
				}
				synctest.Wait()
				begun := time.Now()
				for range 5 {
					good := p.dial()
					assert.Equal(t, goodAnswer, ask(t, good, goodRequest))
					require.NoError(t, good.Close())
				}
				assert.Zero(t, time.Since(begun), "nobody was waited for")
			})
		})
	}
}

// TestAnAnswerThatIsNotReadIsGivenUp, and a long one that is read slowly is not.
func TestAnAnswerThatIsNotReadIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const length = 1 << 20
		over := make(chan time.Duration, 2)
		p := listeningWith(t, 10, whole(func(w http.ResponseWriter, _ *http.Request) {
			begun := time.Now()
			_, _ = w.Write(make([]byte, length))
			over <- time.Since(begun)
		}))
		deaf := p.dial()
		_, err := io.WriteString(deaf, goodRequest)
		require.NoError(t, err)
		assert.LessOrEqual(t, <-over, 10*time.Second)

		slow := p.dial()
		_, err = io.WriteString(slow, goodRequest)
		require.NoError(t, err)
		answer, err := http.ReadResponse(bufio.NewReader(slow), nil)
		require.NoError(t, err)
		got := int64(0)
		for got < length {
			time.Sleep(2 * time.Second)
			n, err := io.CopyN(io.Discard, answer.Body, min(length-got, 40<<10))
			require.NoError(t, err)
			got += n
		}
		assert.Greater(t, <-over, 30*time.Second)
	})
}

// TestAnOperatorsLongRequestIsNotCutOff by those who come after it.
func TestAnOperatorsLongRequestIsNotCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := listeningWith(t, 5, receive.Patient(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			time.Sleep(time.Minute)
			fmt.Fprint(w, "done")
		})))
		long := p.dial()
		_, err := io.WriteString(long, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		require.NoError(t, err)
		synctest.Wait()
		for range 20 {
			c := p.dial()
			go func() { _, _ = io.Copy(io.Discard, c) }()
		}
		answer, err := http.ReadResponse(bufio.NewReader(long), nil)
		require.NoError(t, err)
		body, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		assert.Equal(t, "done", string(body))
	})
}

func TestHugeHeadersAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := listening(t, 10).dial()
		sent := make(chan error, 1)
		go func() {
			_, err := io.WriteString(c, "POST / HTTP/1.1\r\nHost: x\r\nX-Long: "+strings.Repeat("x", 10<<20))
			sent <- err
		}()
		answer, err := http.ReadResponse(bufio.NewReader(c), nil)
		require.NoError(t, err)
		assert.Equal(t, http.StatusRequestHeaderFieldsTooLarge, answer.StatusCode)
		_, _ = io.Copy(io.Discard, c)
		require.NoError(t, c.Close())
		assert.True(t, errors.Is(<-sent, io.ErrClosedPipe), "what came after was not read")
	})
}

// TestAnAddressThatCantBeHad names the setting and what to do.
func TestAnAddressThatCantBeHad(t *testing.T) {
	t.Parallel()
	taken, err := listenOn(t.Context(), "listen", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	_, err = listenOn(t.Context(), "admin.listen", taken.Addr().String())
	assert.EqualError(t, err, "admin.listen: "+taken.Addr().String()+" is in use: end the process that listens there, or set admin.listen to another port")
	_, err = listenOn(t.Context(), "listen", "192.0.2.1:8080")
	assert.ErrorContains(t, err, "listen: 192.0.2.1:8080 is no address of this machine: set listen to one that is")
}
