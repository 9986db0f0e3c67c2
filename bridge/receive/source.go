package receive

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

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

// Answer is a whole HTTP answer. Without a body it is the bridge's own JSON with
// another status, unless it is to be empty.
type Answer struct {
	Status      int
	ContentType string
	Body        []byte
	Headers     map[string]string
	Empty       bool
}

// Ask is a request that may be a handshake.
type Ask struct {
	Method string
	Query  url.Values
	Header http.Header
	Body   []byte // content-decoded
	Value  any    // the decoded body; nil when nobody has read it
	Signed bool   // the signature was right
	Secret int    // position of the secret that verified; -1 when none did
}

// Handshaken is a handshake that was carried out.
type Handshaken struct {
	Answer  *Answer // nil: answered as what is ignored
	Refused bool    // Answer says no
}

// Source is one configured source, compiled.
type Source struct {
	Name       string
	Verifier   Verifier
	Identifier Identifier
	// Judge asks the mapping about an event.
	Judge func(identify.Identified) Verdict
	// Methods are those besides POST that handshakes use.
	Methods []string
	// Handshake finds the requests of a provider that carry no event, and does
	// what they ask for. An error means that it could not be done now. nil when
	// the provider has none.
	Handshake func(ctx context.Context, a Ask) (h Handshaken, found bool, err error)

	// Success replaces the JSON answer where a provider asks for its own, and
	// BareRefusals the body of the answer to a bad signature.
	Success      *Answer
	BareRefusals bool
	// Once is set when a delivery holds a token that must not come again with
	// another event.
	Once *Once

	Processor      event.ProcessorKind
	RejectConflict bool // on_conflict: reject

	SignsWire bool          // a compressed delivery is signed as sent, not as its content
	Deadline  time.Duration // the provider waits no longer for an answer; 0: no matter
	MaxBody   int64         // bytes, also after decompression
	Encodings []string      // content encodings taken besides none
	Limiter   *rate.Limiter // events a second; nil: as many as come
}

// within says whether so many events may come now. Only what is rightly signed
// counts, so that a stranger can't use up what the provider may send; a delivery
// of more events than may ever come at once counts as that many.
func (s *Source) within(events int, now time.Time) bool {
	return s.Limiter == nil || s.Limiter.AllowN(now, min(max(events, 1), s.Limiter.Burst()))
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
