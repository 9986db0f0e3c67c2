package app

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/receive"
	"sfbridge/bridge/verify"
)

// nobody accepts no signature.
type nobody struct{}

func (nobody) Verify(verify.Request) verify.Result { return verify.Result{Reason: verify.BadSignature} }

// greeted is a receiver of one source with so much memory, which answers 200 to
// what it has read whole: as a handshake.
func greeted(t *testing.T, memory int64) *pipes {
	t.Helper()
	shop := &receive.Source{Name: "shop", Verifier: nobody{}, MaxBody: 64 << 10,
		Handshake: func(context.Context, receive.Ask) (receive.Handshaken, bool, error) {
			return receive.Handshaken{}, true, nil
		}}
	sources := map[string]*receive.Source{"shop": shop}
	return listeningWith(t, 100, receive.NewHandler(receive.Config{
		Sources: func(name string) *receive.Source { return sources[name] },
		Memory:  receive.NewPool(memory, sources),
	}))
}

// sends begins a delivery of so many bytes and gives the status of its answer
// when there is one; 0: none.
func (p *pipes) sends(t *testing.T, announced, sent int) (status chan int) {
	t.Helper()
	c := p.dial()
	status = make(chan int, 1)
	p.senders.Go(func() {
		defer func() { _ = c.Close() }()
		answer, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			status <- 0
			return
		}
		status <- answer.StatusCode
	})
	p.senders.Go(func() { begin(c, announced, sent) })
	synctest.Wait()
	return status
}

func begin(c net.Conn, announced, sent int) {
	_, _ = fmt.Fprintf(c, "POST /webhooks/shop HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", announced)
	_, _ = io.WriteString(c, strings.Repeat("x", sent))
}

// TestBodiesThatStopDontKeepTheirSourceOut: strangers announce large bodies under
// a source's name, send a part of each and stop, so that all of its memory is
// taken.
func TestBodiesThatStopDontKeepTheirSourceOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const large = 64 << 10
		p := greeted(t, 16*large)
		begun := time.Now()
		slow := p.dial()
		begin(slow, large, 40<<10)
		var stopped []chan int
		for _, sent := range append(slices.Repeat([]int{40 << 10}, 14), 20<<10, 10<<10) {
			stopped = append(stopped, p.sends(t, large, sent))
		}
		assert.Equal(t, http.StatusTooManyRequests, <-p.sends(t, 10, 10), "all memory is taken, and not for long")
		time.Sleep(6 * time.Second)
		for range 10 {
			assert.Equal(t, http.StatusOK, <-p.sends(t, 10, 10))
		}
		_, err := io.WriteString(slow, strings.Repeat("x", large-40<<10))
		require.NoError(t, err, "it is heard to its end")
		answer, err := http.ReadResponse(bufio.NewReader(slow), nil)
		require.NoError(t, err)
		assert.Equal(t, http.StatusTooManyRequests, answer.StatusCode, "it made room, and is told so")
		assert.Equal(t, "1", answer.Header.Get("Retry-After"))
		assert.True(t, answer.Close)
		select {
		case status := <-stopped[0]:
			require.Fail(t, "no need to break off a second", "status %d", status)
		default:
		}
		assert.Equal(t, http.StatusUnauthorized, <-p.sends(t, large, large), "a large one has room too")
		assert.Equal(t, http.StatusTooManyRequests, <-stopped[0], "though it sends no more")
		assert.Less(t, time.Since(begun), readWait)
	})
}
