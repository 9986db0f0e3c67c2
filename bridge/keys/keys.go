// Package keys fetches the certificates and keys that some providers sign with.
// A delivery names which, and anybody can write a delivery; so a host is asked
// only when it is one that serves such keys, what came is kept, what is asked at
// once is asked once, what isn't there is remembered for a while, and there is
// one rate for all of it.
//
//	f := keys.New(keys.Config{Client: outbound.New(outbound.Config{})})
//	v, err := verify.New(verify.Config{Rules: rules, Fetcher: f, ...})
package keys

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
	"golang.org/x/time/rate"

	"sfbridge/bridge/outbound"
	"sfbridge/bridge/verify"
)

// Client makes requests.
type Client interface {
	Do(ctx context.Context, r outbound.Request) (outbound.Response, error)
}

// Config joins what a Fetcher needs.
type Config struct {
	Client  Client
	Keep    time.Duration    // how long a key is kept; 1 h
	Forget  time.Duration    // how long the absence of one is remembered; 1 min
	Timeout time.Duration    // of one request; 3 s
	Every   time.Duration    // between requests, after the first few; 1 s
	Now     func() time.Time // nil: time.Now
}

// burst is how many requests may be made at once.
const burst = 10

// maxKept bounds what is remembered; no provider has so many keys.
const maxKept = 256

// hosts are the only ones that are asked.
var hosts = []*regexp.Regexp{
	regexp.MustCompile(`^api(\.sandbox)?\.paypal\.com$`),
	regexp.MustCompile(`^sns\.[a-zA-Z0-9-]{3,}\.amazonaws\.com(\.cn)?$`),
	regexp.MustCompile(`^(production|sandbox)\.plaid\.com$`),
}

// Fetcher is a verify.Fetcher. It is safe for concurrent use.
type Fetcher struct {
	cfg     Config
	limiter *rate.Limiter
	flights singleflight.Group

	mu   sync.Mutex
	kept map[string]kept
}

type kept struct {
	data  []byte
	err   error
	until time.Time
}

// New makes a fetcher.
func New(cfg Config) *Fetcher {
	set := func(d *time.Duration, to time.Duration) {
		if *d <= 0 {
			*d = to
		}
	}
	set(&cfg.Keep, time.Hour)
	set(&cfg.Forget, time.Minute)
	set(&cfg.Timeout, 3*time.Second)
	set(&cfg.Every, time.Second)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Fetcher{cfg: cfg, limiter: rate.NewLimiter(rate.Every(cfg.Every), burst), kept: map[string]kept{}}
}

// ErrBusy says that more keys were asked for than may be.
var ErrBusy = errors.New("too many keys were asked for: try again later")

// Fetch gets what an address serves. All who ask for the same at once wait for
// one request, which therefore has a deadline of its own and ends with nobody's.
func (f *Fetcher) Fetch(r verify.Fetch) ([]byte, error) {
	if !trusted(r.URL) {
		return nil, outbound.ErrForbidden
	}
	id := r.URL + "\n" + r.Name
	if k, ok := f.lookup(id); ok {
		return k.data, k.err
	}
	data, err, _ := f.flights.Do(id, func() (any, error) {
		if k, ok := f.lookup(id); ok {
			return k.data, k.err
		}
		return f.ask(id, r)
	})
	raw, _ := data.([]byte)
	return raw, err
}

// Call makes a request that a rightly signed delivery asks for, to one of the
// same hosts and under the same rate. What it answers is not kept.
func (f *Fetcher) Call(ctx context.Context, address string) error {
	if !trusted(address) {
		return outbound.ErrForbidden
	}
	if !f.limiter.AllowN(f.cfg.Now(), 1) {
		return ErrBusy
	}
	ctx, cancel := context.WithTimeout(ctx, f.cfg.Timeout)
	defer cancel()
	reply, err := f.cfg.Client.Do(ctx, outbound.Request{URL: address})
	if err == nil && (reply.Status < 200 || reply.Status > 299) {
		err = fmt.Errorf("answered with %d", reply.Status)
	}
	return err
}

func trusted(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Scheme == "https" && u.User == nil && u.Port() == "" &&
		slices.ContainsFunc(hosts, func(h *regexp.Regexp) bool { return h.MatchString(u.Host) })
}

func (f *Fetcher) ask(id string, r verify.Fetch) ([]byte, error) {
	if !f.limiter.AllowN(f.cfg.Now(), 1) {
		return nil, ErrBusy
	}
	ctx, cancel := context.WithTimeout(context.Background(), f.cfg.Timeout)
	defer cancel()
	request := outbound.Request{URL: r.URL, Body: r.Body}
	if r.Body != nil {
		request.Method, request.Header = http.MethodPost, http.Header{"Content-Type": {"application/json"}}
	}
	reply, err := f.cfg.Client.Do(ctx, request)
	switch {
	case err != nil:
		return nil, fmt.Errorf("fetching a key: %w", err) // the next delivery tries again
	case reply.Status == http.StatusOK:
		f.keep(id, kept{data: reply.Body, until: f.cfg.Now().Add(f.cfg.Keep)})
		return reply.Body, nil
	case reply.Status == http.StatusTooManyRequests || reply.Status >= 500:
		return nil, fmt.Errorf("fetching a key: answered with %d", reply.Status)
	}
	f.keep(id, kept{err: verify.ErrNoSuchKey, until: f.cfg.Now().Add(f.cfg.Forget)})
	return nil, verify.ErrNoSuchKey
}

func (f *Fetcher) lookup(id string) (kept, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	k, ok := f.kept[id]
	return k, ok && f.cfg.Now().Before(k.until)
}

// keep remembers; when there is no room, what is over goes first, then what
// ends first.
func (f *Fetcher) keep(id string, k kept) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.kept) >= maxKept {
		first := ""
		for other, o := range f.kept {
			if first == "" || o.until.Before(f.kept[first].until) {
				first = other
			}
		}
		delete(f.kept, first)
	}
	f.kept[id] = k
}
