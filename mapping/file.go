package mapping

import (
	"time"

	"sfbridge/mapping/path"
)

// Processor says where a source's events are applied.
type Processor string

// The processors: the bridge, or the Apex package inside the org.
const (
	ProcessorBridge Processor = "bridge"
	ProcessorOrg    Processor = "org"
)

// Unmatched says what happens to an event that no route matches.
type Unmatched string

// What can happen to an unmatched event.
const (
	UnmatchedReview Unmatched = "review"
	UnmatchedIgnore Unmatched = "ignore"
)

// OnConflict says what happens to a known event id with other content.
type OnConflict string

// What can happen to a conflict.
const (
	ConflictKeep   OnConflict = "keep"
	ConflictReject OnConflict = "reject"
)

// File is a compiled mapping file. It is immutable and safe for concurrent use.
type File struct {
	Name       string // the file it was read from
	Source     string
	Provider   string
	Secrets    []string       // references as written, never values
	Params     map[string]any // text, json.Number, bool, or []any of them
	Verify     Verify
	Event      Event
	Processor  Processor
	Unmatched  Unmatched
	OnConflict OnConflict
	Limits     Limits
	Currencies map[string]int // exponents that differ from ISO 4217, codes in upper case
	Routes     []*Route

	reconciles   []*Reconcile
	canonical    []byte
	version      string
	contextPaths []path.Path
	warnings     []Problem
	places       map[string]Problem // where the parts of the file stand, by their paths
}

// Canonical is the compiled form as compact JSON with sorted members.
// References to secrets stay references.
func (f *File) Canonical() []byte { return append([]byte(nil), f.canonical...) }

// Version is the first 12 hex digits of the SHA-256 of the canonical form.
func (f *File) Version() string { return f.version }

// ContextPaths are the header.NAME and $$ paths that the mapping names and
// that must be kept from the delivery, in text order.
func (f *File) ContextPaths() []path.Path { return append([]path.Path(nil), f.contextPaths...) }

// Warnings are findings that don't keep the mapping from running.
func (f *File) Warnings() []Problem { return append([]Problem(nil), f.warnings...) }

// Verify overrides parts of the preset's signature rule; what is left out (a
// nil pointer, an empty list, "" or 0) stays as the preset has it.
type Verify struct {
	Headers         []string
	Prefix          *string
	Hash            string // sha1, sha256, sha512
	Encoding        string // hex, base64
	Signed          string // template of {body}, {ts}, {url}, …
	TimestampHeader *string
	TimestampUnit   string // s, ms
	Tolerance       time.Duration
}

// Event overrides parts of the preset's identity; nil means as the preset has
// it.
type Event struct {
	ID       *path.Template
	Type     *path.Template
	Object   *path.Template
	Order    *EventOrder
	Volatile []path.Path
	Split    *path.List
}

// EventOrder finds the order value: the first path that is present and not
// null.
type EventOrder struct {
	Paths []path.Path
	As    string // unix_s, unix_ms, rfc3339, integer
}

// Limits of a source. Zero values mean the receiver's own settings.
type Limits struct {
	MaxBody   int64
	Rate      float64  // events a second
	Encodings []string // content encodings accepted besides identity
}
