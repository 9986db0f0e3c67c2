// Package rest serves the REST API of the simulated org over its database:
// rows, collections, composite, queries, describes, limits and Bulk 2.0.
//
// A request goes through one exchange: session, planted call faults, daily
// limit, latency, then its resource. What a resource does is the same whether
// it came by itself or inside a composite: it gets a request and a transaction
// and gives a reply.
package rest

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"sfbridge/salesforce/simorg/fault"
	"sfbridge/salesforce/simorg/login"
	"sfbridge/salesforce/simorg/org"
	"sfbridge/salesforce/simorg/schema"
)

// Config says what an API serves.
type Config struct {
	Org        *org.Org
	Faults     *fault.Set
	Sessions   *login.Sessions
	Login      *login.Service
	Unsure     Unsure
	Latency    time.Duration
	DailyLimit int
	PageSize   int
	Hidden     func(*schema.Field) bool // fields the API user has no access to; nil: none
	Now        func() time.Time
}

// API serves the org. Close ends its background work.
type API struct {
	cfg     Config
	cursors *cursors
	bulk    *bulkJobs
	closing chan struct{}
	close   sync.Once

	used atomic.Int64 // API calls that count towards the daily limit

	mu     sync.Mutex
	calls  map[fault.Operation]int
	logins map[fault.Operation]int
}

// Versions the API answers under.
const (
	oldestVersion = 31
	newestVersion = 68
)

// New makes an API.
func New(cfg Config) *API {
	if cfg.Hidden == nil {
		cfg.Hidden = func(*schema.Field) bool { return false }
	}
	a := &API{cfg: cfg, closing: make(chan struct{})}
	a.cursors = newCursors(cfg.Now)
	a.bulk = newBulkJobs(a)
	a.Reset()
	return a
}

// Stop cuts the waits of requests short, so that they end soon.
func (a *API) Stop() { a.close.Do(func() { close(a.closing) }) }

// Close stops and waits for running bulk jobs.
func (a *API) Close() {
	a.Stop()
	a.bulk.wait()
}

// Reset sets counters back and forgets queries and bulk jobs.
func (a *API) Reset() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.calls, a.logins = map[fault.Operation]int{}, map[fault.Operation]int{}
	a.used.Store(0)
	a.cursors.reset()
	a.bulk.reset()
}

// Counts returns the counted API calls and the logins, by operation.
func (a *API) Counts() (calls, logins map[string]int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return byName(a.calls), byName(a.logins)
}

func byName(counts map[fault.Operation]int) map[string]int {
	out := make(map[string]int, len(counts))
	for op, n := range counts {
		out[string(op)] = n
	}
	return out
}

// count adds one API call. It reports false when the day's calls are used up.
func (a *API) count(op fault.Operation) bool {
	if a.used.Add(1) > int64(a.cfg.DailyLimit) {
		a.used.Add(-1)
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.calls[op]++
	return true
}

func (a *API) countLogin(op fault.Operation) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.logins[op]++
}

// pause lets time pass, whether the client still waits or not; only Close
// cuts it short.
func (a *API) pause(d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-a.closing:
	}
}

// ServeHTTP answers one request.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if tooLong(w, r) {
		return
	}
	path := r.URL.EscapedPath()
	for strings.HasPrefix(path, "//") {
		path = path[1:]
	}
	segments := split(path)
	switch {
	case path == "/services/oauth2/token":
		a.serveToken(w, r)
	case strings.HasPrefix(path, "/services/Soap/"):
		r.URL.Path = path
		a.serveSOAP(w, r)
	case path == "/services/oauth2/revoke":
		a.serveRevoke(w, r)
	case path == "/services/oauth2/userinfo", len(segments) == 3 && segments[0] == "id":
		a.serveIdentity(w, r)
	case len(segments) == 2 && segments[0] == "services" && segments[1] == "data":
		a.send(w, r, versions())
	case len(segments) >= 3 && segments[0] == "services" && segments[1] == "data":
		a.exchange(w, r, segments[2:])
	default:
		a.send(w, r, notFound())
	}
}

const maxURI = 16384

// tooLong refuses what the edge in front of the org refuses.
func tooLong(w http.ResponseWriter, r *http.Request) bool {
	size := len(r.RequestURI)
	status := http.StatusRequestURITooLong
	if size <= maxURI {
		for name, values := range r.Header {
			for _, v := range values {
				size += len(name) + len(v) + 4
			}
		}
		if size <= maxURI {
			return false
		}
		status = http.StatusRequestHeaderFieldsTooLarge
	}
	html(w, status, "<h1>Bad Message "+itoa(status)+"</h1><pre>reason: "+http.StatusText(status)+"</pre>")
	return true
}
