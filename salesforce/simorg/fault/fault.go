// Package fault holds the faults a test plants in the simulated org.
//
// A fault names the operation it waits for, optionally an object and an
// external ID value, and what goes wrong. Faults are looked at in the order
// they were added; the first that matches strikes. `After` matching calls pass
// first, then it strikes `Times` times (0 = for ever).
//
// There are two families. Row faults (lock_row, lock_nested, validation,
// storage_full, duplicate_race) fail one row: the row with the external ID
// value Key, or the first row of the call. Call faults strike the whole HTTP
// exchange; one that is matched by a collection or query inside a composite
// strikes the composite's exchange, since both share one connection.
package fault

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Kind says what goes wrong.
type Kind string

// Row faults: one row fails, its mates follow the rules of their call.
const (
	LockRow       Kind = "lock_row"       // UNABLE_TO_LOCK_ROW
	LockNested    Kind = "lock_nested"    // the same, wrapped by an Apex trigger
	Validation    Kind = "validation"     // FIELD_CUSTOM_VALIDATION_EXCEPTION
	StorageFull   Kind = "storage_full"   // STORAGE_LIMIT_EXCEEDED
	DuplicateRace Kind = "duplicate_race" // DUPLICATE_VALUE as a lost race gives it
)

// Call faults: the exchange goes wrong.
const (
	Limit           Kind = "limit"            // 403, daily requests used up; not carried out
	ConcurrentLimit Kind = "concurrent_limit" // 403, too many long requests; not carried out
	Unavailable     Kind = "unavailable"      // 503 JSON; not carried out
	HTML503         Kind = "html_503"         // 503 HTML page of the edge; not carried out
	HTML200         Kind = "html_200"         // 200 HTML page; not carried out
	DropBefore      Kind = "drop_before"      // connection closed, not carried out
	DropAfter       Kind = "drop_after"       // carried out, connection closed without an answer
	Slow            Kind = "slow"             // carried out after Delay, even if the client gave up
	ExpireSession   Kind = "expire_session"   // 401, and the caller's session is gone
	Malformed       Kind = "malformed"        // carried out, the answer's JSON is broken
	Truncated       Kind = "truncated"        // carried out, the answer breaks off half way
	Moved           Kind = "moved"            // redirect to another host; not carried out
)

var rowKinds = []Kind{LockRow, LockNested, Validation, StorageFull, DuplicateRace}

var callKinds = []Kind{Limit, ConcurrentLimit, Unavailable, HTML503, HTML200, DropBefore, DropAfter,
	Slow, ExpireSession, Malformed, Truncated, Moved}

// Row reports whether the kind strikes one row and not the exchange.
func (k Kind) Row() bool { return slices.Contains(rowKinds, k) }

// Operation is what a request does, as faults and counters name it.
type Operation string

// Operations.
const (
	CollectionsUpsert Operation = "collections_upsert"
	CollectionsInsert Operation = "collections_insert"
	CollectionsUpdate Operation = "collections_update"
	Query             Operation = "query"
	Composite         Operation = "composite" // composite, graph, batch and tree
	Row               Operation = "row"
	Delete            Operation = "delete" // a row or a collection
	Describe          Operation = "describe"
	Limits            Operation = "limits"
	Bulk              Operation = "bulk"
	Token             Operation = "token"
	SOAP              Operation = "soap"
	Any               Operation = "*"
	Other             Operation = "other" // counted, never named by a fault
)

var operations = []Operation{CollectionsUpsert, CollectionsInsert, CollectionsUpdate, Query, Composite,
	Row, Delete, Describe, Limits, Bulk, Token, SOAP, Any}

// Fault is one planted fault. In JSON, members left out have their zero value
// but for Times, which is 1, and Operation, which is "*".
type Fault struct {
	Operation Operation
	Object    string // API name in any case; empty: any
	Key       string // external ID value; makes any row fault strike exactly that row; empty: any
	Kind      Kind
	After     int           // matching calls that pass first
	Times     int           // strikes; 0: for ever
	Delay     time.Duration // of slow
}

// wire is the JSON form of a Fault.
type wire struct {
	Operation Operation `json:"operation"`
	Object    string    `json:"object"`
	Key       string    `json:"key"`
	Kind      Kind      `json:"fault"`
	After     int       `json:"after"`
	Times     *int      `json:"times"`
	Delay     string    `json:"delay"`
}

// UnmarshalJSON reads the wire form and checks it.
func (f *Fault) UnmarshalJSON(data []byte) error {
	w := wire{Operation: Any}
	dec := json.NewDecoder(strings.NewReader(string(data)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&w); err != nil {
		return fmt.Errorf("fault: %w", err)
	}
	*f = Fault{Operation: w.Operation, Object: w.Object, Key: w.Key, Kind: w.Kind, After: w.After, Times: 1}
	if w.Times != nil {
		f.Times = *w.Times
	}
	if w.Delay != "" {
		d, err := time.ParseDuration(w.Delay)
		if err != nil {
			return fmt.Errorf("fault: delay %q: %w", w.Delay, err)
		}
		f.Delay = d
	}
	return f.Validate()
}

// MarshalJSON writes the wire form.
func (f Fault) MarshalJSON() ([]byte, error) {
	return json.Marshal(wire{Operation: f.Operation, Object: f.Object, Key: f.Key, Kind: f.Kind,
		After: f.After, Times: &f.Times, Delay: f.Delay.String()})
}

// Validate refuses a fault that could never strike.
func (f Fault) Validate() error {
	switch {
	case !slices.Contains(operations, f.Operation):
		return fmt.Errorf("fault: operation %q is not one of %v", f.Operation, operations)
	case !f.Kind.Row() && !slices.Contains(callKinds, f.Kind):
		return fmt.Errorf("fault: fault %q is not one of %v or %v", f.Kind, rowKinds, callKinds)
	case f.Key != "" && !f.Kind.Row():
		return fmt.Errorf("fault: key makes a row fault, %q strikes a whole call", f.Kind)
	case f.After < 0 || f.Times < 0 || f.Delay < 0:
		return fmt.Errorf("fault: after, times and delay cannot be negative")
	}
	return nil
}

// Parse reads a JSON list of faults.
func Parse(data []byte) ([]Fault, error) {
	var list []Fault
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("reading faults: %w", err)
	}
	return list, nil
}
