package receive

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/time/rate"

	"sfbridge/bridge/event"
	"sfbridge/bridge/identify"
	"sfbridge/bridge/stage"
	"sfbridge/bridge/verify"
)

// Verifier decides whether a delivery comes from its provider.
type Verifier interface {
	Verify(verify.Request) verify.Result
}

// Identifier decodes a delivery and finds the events in it.
type Identifier interface {
	Read(identify.Delivery) (*identify.Document, error)
}

// Stager makes events durable.
type Stager interface {
	Stage(ctx context.Context, requests []stage.Request) []stage.Answer
	Ready(ctx context.Context) error
}

// Verdict is what the mapping says of an event at receipt.
type Verdict struct {
	// Ignore: counted and logged, no row.
	Ignore bool
	// Review is set when the event goes straight to a person.
	Review *identify.Review
}

// Answer is a whole HTTP answer.
type Answer struct {
	Status      int
	ContentType string
	Body        []byte
}

// Source is one configured source, compiled.
type Source struct {
	Name       string
	Verifier   Verifier
	Identifier Identifier
	// Judge asks the mapping about an event.
	Judge func(identify.Identified) Verdict
	// Handshake finds the rightly signed requests of a provider that carry no
	// event; without an answer of their own they are answered as ignored. nil
	// when the provider has none.
	Handshake func(h http.Header, value any) (answer *Answer, found bool)
	// Success replaces the JSON answer where a provider asks for its own.
	Success *Answer

	Processor      event.ProcessorKind
	RejectConflict bool // on_conflict: reject

	SignsWire bool     // a compressed delivery is signed as sent, not as its content
	MaxBody   int64    // bytes, also after decompression
	Encodings []string // content encodings taken besides none
	Limiter   *rate.Limiter
}

func (s *Source) takes(encoding string) bool { return slices.Contains(s.Encodings, encoding) }

// Sources gives the source of a name; nil when none is configured. It may give
// another set after a reload.
type Sources func(name string) *Source

// publicURL is the address a signature covers: what the operator configured as
// public, never the request's Host, with path and query exactly as they came.
func publicURL(base string, r *http.Request) string {
	target := r.RequestURI
	if !strings.HasPrefix(target, "/") { // absolute form, as proxies send it
		target = r.URL.RequestURI()
	}
	return base + target
}
