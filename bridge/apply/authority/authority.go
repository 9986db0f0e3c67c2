// Package authority loads objects from providers: an event that is thin, or
// that anybody may have written, is only a hint to look at the provider's own
// record.
//
//	loader := authority.New(authority.Config{HTTP: guard, Credential: app.Credential})
//	object, err := loader.Get(ctx, authority.Request{Source: "stripe", URL: address, Auth: a.Auth})
//
// How a look ends, decided in one place:
//
//	200 and JSON              the object
//	no answer, 408, 5xx       Down: nobody's fault, tried again
//	429, or Retry-After       Down, not before the time that was asked for
//	401, 403, 407, forbidden  Denied: credentials or settings must be mended
//	404, 410                  Missing: it may not be there yet
//	anything else             Unusable
package authority

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"sfbridge/bridge/outbound"
	"sfbridge/mapping/path"
)

// Kind says how a look at the provider failed.
type Kind string

// The kinds of failure.
const (
	Down     Kind = "down"     // an outage or a limit
	Denied   Kind = "denied"   // refused for who asks, or where
	Missing  Kind = "missing"  // the object is not there
	Unusable Kind = "unusable" // an answer that can't be used
)

// Failure is a look that brought no object. Its text holds neither address nor
// answer.
type Failure struct {
	Kind   Kind
	Pause  time.Duration // that the provider asks for
	Reason string
}

// Error tells what the provider did.
func (f *Failure) Error() string { return f.Reason }

// HTTP makes guarded requests.
type HTTP interface {
	Do(ctx context.Context, r outbound.Request) (outbound.Response, error)
}

// Config makes a Loader.
type Config struct {
	HTTP HTTP
	// Credential fills in the references of a source's Authorization header.
	Credential func(source, auth string) (string, bool)
	Now        func() time.Time // default time.Now
}

// Loader loads objects. It is safe for concurrent use.
type Loader struct{ cfg Config }

// New makes a Loader.
func New(c Config) *Loader {
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Loader{cfg: c}
}

// Request is one look.
type Request struct {
	Source string
	URL    string
	Auth   string // with references; "" for none
}

// Get loads one object. A failure is a *Failure, unless ctx has ended.
func (l *Loader) Get(ctx context.Context, r Request) (any, error) {
	h := http.Header{}
	h.Set("Accept", "application/json")
	h.Set("User-Agent", "sfbridge")
	if r.Auth != "" {
		credential, known := l.cfg.Credential(r.Source, r.Auth)
		if !known {
			return nil, &Failure{Kind: Denied, Reason: "the provider's credential is not filled in"}
		}
		h.Set("Authorization", credential)
	}
	reply, err := l.cfg.HTTP.Do(ctx, outbound.Request{URL: r.URL, Header: h})
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, outbound.ErrForbidden):
		return nil, &Failure{Kind: Denied, Reason: "the provider's address must not be called: it must be https and public, or stand in outbound.allow"}
	case errors.Is(err, outbound.ErrTooLarge):
		return nil, &Failure{Kind: Unusable, Reason: "the provider's answer is too large"}
	case err != nil:
		return nil, &Failure{Kind: Down, Reason: "the provider does not answer: " + err.Error()}
	}
	return l.read(reply)
}

func (l *Loader) read(r outbound.Response) (any, error) {
	if f := judge(r.Status); f != nil {
		f.Pause = outbound.RetryAfter(r.Header, l.cfg.Now())
		return nil, f
	}
	object, err := path.DecodeJSON(r.Body)
	if err != nil {
		return nil, &Failure{Kind: Unusable, Reason: "the provider's answer is no JSON"}
	}
	return object, nil
}

// judge is nil for a status that brings an object.
func judge(status int) *Failure {
	f := &Failure{Kind: Unusable, Reason: fmt.Sprintf("the provider answers with status %d", status)}
	switch {
	case status == http.StatusOK:
		return nil
	case status == http.StatusTooManyRequests, status == http.StatusRequestTimeout, status >= 500:
		f.Kind = Down
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusProxyAuthRequired:
		f.Kind = Denied
	case status == http.StatusNotFound, status == http.StatusGone:
		f.Kind = Missing
	}
	return f
}
