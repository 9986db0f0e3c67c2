package world

import (
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"sfbridge/internal/pause"
	"sfbridge/test/fault/ledger"
)

// Receiver is somebody's server for effects: it writes down what comes and
// answers as it is told.
type Receiver struct {
	URL string

	refuses func(n int) int
	delay   time.Duration
	mu      sync.Mutex
	n       int
	posts   map[string]ledger.Post
}

// startReceiver runs a receiver.
func startReceiver(t testing.TB, c Config) *Receiver {
	t.Helper()
	refuses := c.Refuses
	if refuses == nil {
		refuses = func(int) int { return http.StatusOK }
	}
	r := &Receiver{refuses: refuses, delay: c.Delay, posts: map[string]ledger.Post{}}
	s := httptest.NewServer(r)
	t.Cleanup(s.Close)
	r.URL = s.URL
	return r
}

// ServeHTTP takes a request.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return // its sender has died
	}
	status := r.take(req.Header.Get("Idempotency-Key"), string(body))
	if pause.For(req.Context(), r.delay) != nil || status == 0 {
		panic(http.ErrAbortHandler)
	}
	w.WriteHeader(status)
}

func (r *Receiver) take(key, body string) (status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n++
	p := r.posts[key]
	if p.Bodies == nil {
		p.Bodies = map[string]bool{}
	}
	p.Times++
	p.Bodies[body] = true
	r.posts[key] = p
	return r.refuses(r.n)
}

// Posts is what came so far, by key.
func (r *Receiver) Posts() map[string]ledger.Post {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.posts)
}
