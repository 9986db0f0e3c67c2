package verify

import (
	"net/http"
	"time"
)

// Reason says why a delivery was accepted or refused. It is for the operator;
// a sender only ever learns that the signature was not accepted.
type Reason string

const (
	OK                 Reason = "ok"
	MissingHeader      Reason = "missing_header"      // a header or member of the scheme is absent or empty
	MalformedHeader    Reason = "malformed_header"    // what is there can't be a signature of this rule
	BadSignature       Reason = "bad_signature"       // well formed, but made with another secret or over other bytes
	TooOld             Reason = "too_old"             // rightly signed, older than the tolerance
	TooNew             Reason = "too_new"             // rightly signed, from further in the future than the tolerance
	MalformedTimestamp Reason = "malformed_timestamp" // no time in the form or unit of the rule
	NoSecret           Reason = "no_secret"           // no usable secret is configured
	RepeatedHeader     Reason = "repeated_header"     // a single-valued header came with different values
	UntrustedURL       Reason = "untrusted_url"       // a certificate was to be taken from a foreign host
	NotJSON            Reason = "not_json"            // the signature stands in a body that is no JSON
)

// KeyUnavailable is the reason when the key that signs can't be fetched now: the
// delivery is neither right nor wrong and should be sent again. Only a Verifier
// with a Fetcher has it.
const KeyUnavailable Reason = "key_unavailable"

// Reasons lists every reason.
func Reasons() []Reason {
	return []Reason{OK, MissingHeader, MalformedHeader, BadSignature, TooOld, TooNew,
		MalformedTimestamp, NoSecret, RepeatedHeader, UntrustedURL, NotJSON}
}

// Request is one delivery as it arrived.
type Request struct {
	Method string
	URL    string // the source's configured public URL with the raw query; never built from Host
	Header http.Header
	Body   []byte // raw bytes, before any parsing
	Now    time.Time
}

// Result is the engine's judgement.
type Result struct {
	Valid  bool
	Reason Reason
	Rule   string // the rule that decided
	Secret int    // position of the secret that matched, in Config.Secrets; -1 when none did
	Trust  Trust  // what a valid delivery has proved
}
