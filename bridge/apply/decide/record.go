package decide

import (
	"fmt"
	"slices"
	"strings"
)

// Action is what a record of an event asks for.
type Action int

const (
	Upsert Action = iota // create or change
	Update               // change, never create
	Delete
)

// Holder is a target as it was read, or as the events decided before leave it.
type Holder struct {
	Exists    bool
	Ambiguous bool      // several records share the key
	Order     *int64    // order value it keeps
	EventID   string    // event that wrote it last; empty: none of ours
	State     string    // value of the state field; empty: none
	Tombstone *Standing // of an absent target: the latest event that deleted it
}

// Comer is one record of the event to decide.
type Comer struct {
	EventID     string
	Order       *int64
	Action      Action
	Guarded     bool    // the target keeps order and event id
	State       string  // value for the state field; empty: none
	Machine     Machine // nil: any state may follow any
	SameVersion bool    // the event was applied before under this mapping version
	Main        bool    // speaks for the event: a later deletion of the record counts
	Beaten      string  // event that the event's guard has found older
	Equal       bool    // without Guarded: the target already shows every value
}

// Verdict is the decision about one record.
type Verdict int

const (
	Keep      Verdict = iota // nothing to write: the target shows it already
	Create                   // write a record that wasn't there
	Change                   // write to the record that is there
	Remove                   // delete the record that is there
	Absent                   // to delete, but already not there
	Outdated                 // older than what the target shows
	Await                    // an update whose target isn't there yet
	Forbidden                // newer, but the state can't be reached
	Unclear                  // several targets share the key
)

// Writes says whether the verdict changes the target.
func (v Verdict) Writes() bool { return v == Create || v == Change || v == Remove }

// Saves says whether the verdict leaves the target with the record's values.
func (v Verdict) Saves() bool { return v == Create || v == Change }

// Transition is a change of the state field that a record makes.
type Transition struct {
	From    string // empty: none before
	To      string
	Skipped []string // permitted steps between them that no event reported
}

// Judgement is the decision about one record with what explains it.
type Judgement struct {
	Verdict    Verdict
	Replay     bool // the target shows this very event
	Buried     bool // outdated by a deletion
	Transition *Transition
	Why        string
}

func (c Comer) standing() Standing {
	return Standing{Order: c.Order, Delete: c.Action == Delete, Rank: rank(c.Machine, c.State), EventID: c.EventID}
}

func (h Holder) standing(m Machine) Standing {
	return Standing{Order: h.Order, Rank: rank(m, h.State), EventID: h.EventID}
}

// Record decides one record of an event.
func Record(h Holder, c Comer) Judgement {
	switch {
	case h.Ambiguous:
		return Judgement{Verdict: Unclear, Why: "several records share the key"}
	case !h.Exists:
		return absent(h, c)
	}
	own := c.Guarded && h.EventID != "" && h.EventID == c.EventID
	if own && c.SameVersion && c.Action != Delete {
		return Judgement{Verdict: Keep, Replay: true, Why: "already applied under this mapping version"}
	}
	if c.Guarded && !own && h.outlasts(c) {
		return Judgement{Verdict: Outdated, Why: "older than " + name(h)}
	}
	if c.Action == Delete {
		return Judgement{Verdict: Remove}
	}
	t, ok := move(c.Machine, h.State, c.State)
	if !ok {
		return Judgement{Verdict: Forbidden, Why: fmt.Sprintf("state %q can't be reached from %q", c.State, h.State)}
	}
	if !c.Guarded && c.Equal {
		return Judgement{Verdict: Keep, Why: "the record already shows every value"}
	}
	return Judgement{Verdict: Change, Transition: t, Why: skipped(t)}
}

// outlasts says whether the holder is newer. One that the event's guard has
// found older is older for the event's other records too: they may have no
// state to tell by, and would else depend on which of the two came first.
func (h Holder) outlasts(c Comer) bool {
	claimed := h.EventID != "" || h.Order != nil
	beaten := c.Beaten != "" && h.EventID == c.Beaten
	return claimed && !beaten && Compare(c.standing(), h.standing(c.Machine)) < 0
}

func absent(h Holder, c Comer) Judgement {
	switch {
	case c.Action == Delete:
		return Judgement{Verdict: Absent, Why: "the record was not there"}
	case c.Action == Update:
		return Judgement{Verdict: Await, Why: "the record is not there yet"}
	case c.Main && h.Tombstone != nil && Compare(c.standing(), *h.Tombstone) < 0:
		return Judgement{Verdict: Outdated, Buried: true, Why: "older than " + h.Tombstone.EventID + ", which deleted the record"}
	}
	t, _ := move(nil, "", c.State)
	return Judgement{Verdict: Create, Transition: t}
}

// move judges a change of state. The same state, no state value, and a first
// state are always allowed.
func move(m Machine, from, to string) (*Transition, bool) {
	if to == "" || from == to {
		return nil, true
	}
	t := &Transition{From: from, To: to}
	if m == nil || from == "" {
		return t, true
	}
	path, ok := m.Reachable(from, to)
	if !ok {
		return nil, false
	}
	if len(path) > 1 {
		t.Skipped = slices.Clone(path[:len(path)-1])
	}
	return t, true
}

func skipped(t *Transition) string {
	if t == nil || len(t.Skipped) == 0 {
		return ""
	}
	return fmt.Sprintf("%s -> %s, skipping %s", t.From, t.To, strings.Join(t.Skipped, ", "))
}

func name(h Holder) string {
	if h.EventID == "" {
		return "what the record shows"
	}
	return h.EventID
}
