package traffic

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"sync"
	"time"

	"sfbridge/internal/pause"
)

// How a provider sends.
const (
	answerWait  = 15 * time.Second // for an answer
	firstResend = 50 * time.Millisecond
	lastResend  = time.Second
)

// Senders say where deliveries go and how many are under way at once.
type Senders struct {
	Target   func(n int) string // address of the receiver for the n-th try
	Parallel int
}

// Counts is what the providers have seen.
type Counts struct {
	Deliveries int                       // messages that were taken
	Resent     int                       // tries that were not answered with a 2xx
	Refused    map[int]int               // of these by status; 0: no answer
	Answers    map[string]map[string]int // by event id and word of the 2xx
}

// Flow is traffic under way.
type Flow struct {
	senders Senders
	client  *http.Client
	total   int
	done    chan struct{}

	mu     sync.Mutex
	tries  int
	counts Counts
	moved  chan struct{} // closed at the next answer
}

// Send delivers in the background, each delivery until it is taken or ctx ends.
func Send(ctx context.Context, deliveries []Delivery, s Senders) *Flow {
	f := &Flow{
		senders: s, total: len(deliveries), done: make(chan struct{}), moved: make(chan struct{}),
		counts: Counts{Refused: map[int]int{}, Answers: map[string]map[string]int{}},
		client: &http.Client{Timeout: answerWait, Transport: &http.Transport{MaxIdleConnsPerHost: s.Parallel}},
	}
	queue := make(chan Delivery)
	var senders sync.WaitGroup
	for range s.Parallel {
		senders.Go(func() {
			for d := range queue {
				f.insist(ctx, d)
			}
		})
	}
	go func() {
		defer close(f.done)
		for _, d := range deliveries {
			select {
			case queue <- d:
			case <-ctx.Done():
			}
		}
		close(queue)
		senders.Wait()
		f.client.CloseIdleConnections()
	}()
	return f
}

// Done is closed when every delivery has been taken.
func (f *Flow) Done() <-chan struct{} { return f.done }

// Total is the number of deliveries.
func (f *Flow) Total() int { return f.total }

// Progress tells how many deliveries were taken and how many tries refused; the
// channel is closed when that changes.
func (f *Flow) Progress() (taken, refused int, moved <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.counts.Deliveries, f.counts.Resent, f.moved
}

// Waiting is how many tries are under way.
func (f *Flow) Waiting() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.tries - f.counts.Deliveries - f.counts.Resent
}

// Counts is what was seen so far.
func (f *Flow) Counts() Counts {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.counts
	c.Refused = maps.Clone(c.Refused)
	c.Answers = maps.Clone(c.Answers)
	return c
}

// insist sends a delivery again and again, after longer pauses, until it is taken.
func (f *Flow) insist(ctx context.Context, d Delivery) {
	rest := firstResend
	for !f.try(ctx, d) {
		if pause.For(ctx, rest) != nil {
			return
		}
		rest = min(2*rest, lastResend)
	}
}

// try sends a delivery once and tells whether it was taken.
func (f *Flow) try(ctx context.Context, d Delivery) bool {
	f.mu.Lock()
	n := f.tries
	f.tries++
	f.mu.Unlock()
	status, word := f.post(ctx, f.senders.Target(n), d)
	f.mu.Lock()
	defer f.mu.Unlock()
	close(f.moved)
	f.moved = make(chan struct{})
	if status/100 != 2 {
		f.counts.Resent++
		f.counts.Refused[status]++
		return false
	}
	f.counts.Deliveries++
	words := f.counts.Answers[d.Event.ID]
	if words == nil {
		words = map[string]int{}
		f.counts.Answers[d.Event.ID] = words
	}
	words[word]++
	return true
}

// post gives the status and the word of an answer; 0 where none came.
func (f *Flow) post(ctx context.Context, url string, d Delivery) (status int, word string) {
	source, header, body := d.Request(time.Now())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/webhooks/"+source, bytes.NewReader(body))
	if err != nil {
		return 0, ""
	}
	req.Header = header
	r, err := f.client.Do(req)
	if err != nil {
		return 0, ""
	}
	defer r.Body.Close() //nolint:errcheck // it was read
	text, err := io.ReadAll(r.Body)
	var said struct{ Status string }
	if err != nil || r.StatusCode/100 == 2 && json.Unmarshal(text, &said) != nil {
		return 0, ""
	}
	return r.StatusCode, said.Status
}

// Add joins what was seen of another flow.
func (c *Counts) Add(o Counts) {
	if c.Answers == nil {
		c.Refused, c.Answers = map[int]int{}, map[string]map[string]int{}
	}
	c.Deliveries += o.Deliveries
	c.Resent += o.Resent
	for status, n := range o.Refused {
		c.Refused[status] += n
	}
	for id, words := range o.Answers {
		if c.Answers[id] == nil {
			c.Answers[id] = map[string]int{}
		}
		for word, n := range words {
			c.Answers[id][word] += n
		}
	}
}
