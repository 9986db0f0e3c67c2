package receive

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"sfbridge/bridge/event"
	"sfbridge/bridge/identify"
	"sfbridge/bridge/stage"
)

// refusal is a request that is answered with an error.
type refusal struct {
	kind       string // the "error" of the answer
	message    string // for the sender: says what to do, nothing of the payload
	retryAfter time.Duration
	detail     string   // for the log
	allow      []string // methods taken besides POST
	bare       bool     // answered without a body
	last       bool     // the connection is closed then
}

func (r *refusal) Error() string { return r.kind + ": " + r.message }

// The kinds of refusal and their status. Never 410: some providers delete a
// subscription on it.
const (
	kindUnknownSource = "unknown_source"
	kindMethod        = "method"
	kindTooLarge      = "too_large"
	kindUnsupported   = "unsupported"
	kindBadSignature  = "bad_signature"
	kindBadRequest    = "bad_request"
	kindConflict      = "conflict"
	kindRateLimited   = "rate_limited"
	kindUnavailable   = "unavailable"
)

var statusOfKind = map[string]int{
	kindUnknownSource: http.StatusNotFound,
	kindMethod:        http.StatusMethodNotAllowed,
	kindTooLarge:      http.StatusRequestEntityTooLarge,
	kindUnsupported:   http.StatusUnsupportedMediaType,
	kindBadSignature:  http.StatusUnauthorized,
	kindBadRequest:    http.StatusBadRequest,
	kindConflict:      http.StatusConflict,
	kindRateLimited:   http.StatusTooManyRequests,
	kindUnavailable:   http.StatusServiceUnavailable,
}

func refuse(kind, format string, args ...any) *refusal {
	return &refusal{kind: kind, message: fmt.Sprintf(format, args...)}
}

func noMethod(s *Source) *refusal {
	return &refusal{kind: kindMethod, message: "deliveries come by POST", allow: s.Methods}
}

// What Retry-After says: when Salesforce gives no hint, and when too much came at
// once.
const (
	retryLater = 10 * time.Second
	soon       = time.Second
)

func tooMany() *refusal {
	return &refusal{kind: kindRateLimited, message: "more deliveries than this source may send", retryAfter: soon}
}

// refusalOf is the one place where errors of the steps become refusals.
func refusalOf(err error) *refusal {
	var own *refusal
	if errors.As(err, &own) {
		return own
	}
	if errors.Is(err, event.ErrTooLarge) {
		return refuse(kindTooLarge, "the event is larger than %d bytes", event.MaxPayload)
	}
	var content *identify.Refusal
	if errors.As(err, &content) {
		return refuse(kindOfContent(content.Kind), "%s", content.Message)
	}
	r := &refusal{kind: kindUnavailable, message: "not stored; send it again later",
		retryAfter: retryLater, detail: err.Error()}
	var unavailable *stage.Unavailable
	if errors.As(err, &unavailable) && unavailable.RetryAfter > 0 {
		r.retryAfter = unavailable.RetryAfter
	}
	return r
}

func kindOfContent(k identify.Kind) string {
	switch k {
	case identify.Unsupported:
		return kindUnsupported
	case identify.ContextTooLarge, identify.TooMany:
		return kindTooLarge
	default:
		return kindBadRequest
	}
}
