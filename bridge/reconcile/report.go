package reconcile

import (
	"time"
)

// Kind says how Salesforce differs from the provider.
type Kind string

// The kinds of drift.
const (
	Missing   Kind = "missing"   // there is no record
	Different Kind = "different" // fields have other values
	Extra     Kind = "extra"     // a record that the provider's list doesn't name
	Unmapped  Kind = "unmapped"  // the object can't be mapped
)

// maxNamed bounds what a report names of a kind of finding; all are counted.
const maxNamed = 200

// Report is what a look at everything found.
type Report struct {
	Sweeps []Sweep `json:"sweeps"`
	Rows   Rows    `json:"rows"`
}

// Settled says that nothing is left to do for a person or another sweep: every
// sweep came to its end, and what differed is repaired.
func (r Report) Settled() bool {
	for _, s := range r.Sweeps {
		if !s.Finished || s.Unrepaired() > 0 {
			return false
		}
	}
	return r.Rows.Problem == "" && r.Rows.Stuck == 0
}

// Sweep is one comparison with a provider's list.
type Sweep struct {
	Source     string     `json:"source"`
	Type       string     `json:"type"`
	StartedAt  time.Time  `json:"started_at"`
	FinishedAt *time.Time `json:"finished_at"`
	Finished   bool       `json:"finished"`
	Resumed    bool       `json:"resumed"`
	Problem    string     `json:"problem,omitempty"` // why it was broken off, or what could not be done
	Pages      int        `json:"pages"`
	Objects    int        `json:"objects"` // that the provider lists
	Records    int        `json:"records"` // that were compared
	Young      int        `json:"young"`   // objects that are still on their way
	Missing    int        `json:"missing"`
	Different  int        `json:"different"`
	Extra      int        `json:"extra"`
	Unmapped   int        `json:"unmapped"`
	Drifting   int        `json:"drifting_objects"` // objects with missing or different records
	Repaired   int        `json:"repaired_objects"` // of these, for which an event was staged
	Drift      []Drift    `json:"drift"`            // the first of them
}

// Unrepaired counts what is still to be done.
func (s Sweep) Unrepaired() int { return s.Drifting - s.Repaired + s.Extra + s.Unmapped }

// Drift is one difference.
type Drift struct {
	Kind     Kind        `json:"kind"`
	ObjectID string      `json:"object_id,omitempty"` // the provider's
	Object   string      `json:"object,omitempty"`
	KeyField string      `json:"key_field,omitempty"`
	Key      string      `json:"key,omitempty"`
	RowID    string      `json:"row_id,omitempty"`
	Fields   []FieldDiff `json:"fields,omitempty"`
	Reason   string      `json:"reason,omitempty"`
	// Repair is the id of the event that was staged for it.
	Repair string `json:"repair,omitempty"`
}

// FieldDiff is one field with both values.
type FieldDiff struct {
	Field      string `json:"field"`
	Provider   any    `json:"provider"`
	Salesforce any    `json:"salesforce"`
}

// add counts a drift and names it while there is room.
func (s *Sweep) add(d Drift) {
	switch d.Kind {
	case Missing:
		s.Missing++
	case Different:
		s.Different++
	case Extra:
		s.Extra++
	case Unmapped:
		s.Unmapped++
	}
	if len(s.Drift) < maxNamed {
		s.Drift = append(s.Drift, d)
	}
}

// Rows is what a look at the staging rows found and set right.
type Rows struct {
	At       time.Time `json:"at"`
	Problem  string    `json:"problem,omitempty"` // why the look did not come to its end
	Stuck    int       `json:"stuck"`             // due for long, and nobody has moved them
	Unqueued int       `json:"unqueued"`          // open rows and effects without their queue: given back to it
	Kept     int       `json:"kept_in_queue"`     // rows that are done and kept their queue: taken out of it
	Ended    int       `json:"effects_ended"`     // Applied rows whose effects have ended: moved on
	Journal  int       `json:"journal"`           // journal entries of rows that are done: dropped
	Found    []Finding `json:"found"`             // the first of them
}

// Finding is one row that was not as it should be.
type Finding struct {
	EventID string `json:"event_id,omitempty"`
	RowID   string `json:"row_id"`
	What    string `json:"what"`
	Healed  bool   `json:"healed"`
}

func (r *Rows) add(f Finding) {
	if len(r.Found) < maxNamed {
		r.Found = append(r.Found, f)
	}
}
