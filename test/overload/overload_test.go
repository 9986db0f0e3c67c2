package overload_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// counts are answers by status; 0: none.
type counts struct {
	mu sync.Mutex
	by map[int]int
}

func (c *counts) add(status int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by == nil {
		c.by = map[int]int{}
	}
	c.by[status]++
}

// flooding sends deliveries of the source that floods from so many senders at
// once, as fast as they are answered, until stop is called, which tells how they
// were answered.
func (b bed) flooding(t *testing.T, senders, padding int) (stop func() map[int]int) {
	t.Helper()
	over := make(chan struct{})
	var answers counts
	var wg sync.WaitGroup
	for s := range senders {
		wg.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-over:
					return
				default:
				}
				answer, err := b.post(t.Context(), delivery{source: "flood", id: fmt.Sprintf("flood_%d_%d", s, n), padding: padding})
				switch {
				case err != nil:
					answer.Status = 0
				case answer.OK(): // 200 where it was both staged and spooled
					answer.Status = http.StatusAccepted
				}
				answers.add(answer.Status)
			}
		})
	}
	return func() map[int]int {
		close(over)
		wg.Wait()
		return answers.by
	}
}

// onlyAcceptedOrTooMany: a flood is no outage, and nobody is cut off.
func onlyAcceptedOrTooMany(t *testing.T, answers map[int]int) {
	t.Helper()
	assert.Positive(t, answers[http.StatusAccepted])
	assert.Positive(t, answers[http.StatusTooManyRequests])
	delete(answers, http.StatusAccepted)
	delete(answers, http.StatusTooManyRequests)
	assert.Empty(t, answers)
}

// A source that sends more than its rate is told so; the other one's deliveries
// are all accepted.
func TestASourceAboveItsRate(t *testing.T) {
	t.Parallel()
	b := setup(t, "{rate: 20}", "50ms")
	before := b.gauge(t, "process_open_fds")
	stop := b.flooding(t, 100, 100)
	b.goodOnes(t, 100, func() { b.heapIsBounded(t) })
	onlyAcceptedOrTooMany(t, stop())
	b.filesGoBack(t, before+100) // what the senders of the test keep open
}

// Without a rate a source is bounded by the memory that its deliveries in flight
// may take.
func TestLargeBodiesOfOneSource(t *testing.T) {
	t.Parallel()
	b := setup(t, "{}", "400ms") // for so long a delivery is in flight
	stop := b.flooding(t, 60, 100<<10)
	b.goodOnes(t, 40, func() { b.heapIsBounded(t) })
	onlyAcceptedOrTooMany(t, stop())
}

// mass is how many connections the test opens.
func mass(t *testing.T) int {
	t.Helper()
	asked := os.Getenv("OVERLOAD_CONNECTIONS")
	if asked == "" {
		return 3000
	}
	n, err := strconv.Atoi(asked)
	require.NoError(t, err, "OVERLOAD_CONNECTIONS")
	return n
}

// Thousands of connections that send nothing, a part of the headers or a part of
// the body: those that kept the service waiting for the longest are closed. On a
// machine that is so slow that they come to the end of their time before, they are
// closed for that.
func TestAMassOfConnections(t *testing.T) {
	t.Parallel()
	b := setup(t, "{}", "50ms")
	before := b.gauge(t, "process_open_fds")
	begins := []string{
		"", "POST /webhooks/good HTTP/1.1\r\nHost: x\r\nX-Slow: ",
		"POST /webhooks/good HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n{",
	}
	const bound = 2000 // connections; the rest is the org's, the operators' and the service's own files
	total := mass(t)
	var opened []net.Conn
	var closed atomic.Int64 // by the service: to make room, or because its time was up
	var readers sync.WaitGroup
	for i := range total {
		c, err := b.dial(t, begins[i%len(begins)])
		require.NoError(t, err)
		opened = append(opened, c)
		readers.Go(func() {
			_, _ = io.Copy(io.Discard, c)
			closed.Add(1)
		})
		if i%1000 == 999 {
			b.goodOnes(t, 10, func() { b.heapIsBounded(t) })
			assert.LessOrEqual(t, b.gauge(t, "process_open_fds"), bound+before+50)
		}
	}
	b.org.Eventually(t, "more connections are open than may be", func(context.Context) (bool, error) {
		return closed.Load() >= int64(total-bound), nil
	})
	for _, c := range opened {
		_ = c.Close() // most are closed already
	}
	readers.Wait()
	b.filesGoBack(t, before)
}

// Huge headers are refused before they are held, many at once too.
func TestHugeHeaders(t *testing.T) {
	t.Parallel()
	b := setup(t, "{}", "50ms")
	huge := "POST /webhooks/good HTTP/1.1\r\nHost: x\r\nX-Huge: " + strings.Repeat("x", 1<<20)
	var answers counts
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			c, err := b.dial(t, "")
			if !assert.NoError(t, err) {
				return
			}
			wg.Go(func() { _, _ = c.Write([]byte(huge)) }) // it is not read to its end
			answer, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil { // reset before the answer was read
				answers.add(0)
				return
			}
			answers.add(answer.StatusCode)
			_ = answer.Body.Close()
		})
	}
	b.goodOnes(t, 50, func() { b.heapIsBounded(t) })
	wg.Wait()
	delete(answers.by, 0)
	assert.Positive(t, answers.by[http.StatusRequestHeaderFieldsTooLarge])
	assert.Len(t, answers.by, 1)
}
