package event

import (
	"fmt"
	"slices"
)

// Status is where a row stands. "Duplicate" is not among them: it is an answer
// to a sender, counted on the original row.
type Status string

const (
	// Received: verified and durable. The poller or the Apex package moves it on.
	Received Status = "Received"
	// Applied: the business records are committed, effects are outstanding.
	// The effect worker moves it on.
	Applied Status = "Applied"
	// Completed: all done, Outcome says how. Retention deletes it.
	Completed Status = "Completed"
	// Retryable: a temporary failure, Next_Attempt_At__c is set. The poller
	// moves it on.
	Retryable Status = "Retryable"
	// Review: a conflict, an unknown mapping, a permanent failure, or attempts
	// used up. A person moves it on: replay or discard with a reason.
	Review Status = "Review"
)

// Outcome says how an event ended.
type Outcome string

const (
	Created    Outcome = "Created"
	Updated    Outcome = "Updated"
	Unchanged  Outcome = "Unchanged"
	Deleted    Outcome = "Deleted"
	Stale      Outcome = "Stale"
	Ignored    Outcome = "Ignored"
	Conflict   Outcome = "Conflict"
	Superseded Outcome = "Superseded"
	Discarded  Outcome = "Discarded"
)

// Actor is who may make a move.
type Actor string

const (
	Processor Actor = "processor" // poller or Apex Queueable
	Effects   Actor = "effects"   // effect worker
	Person    Actor = "person"    // replay, discard
)

// Move is one permitted change of status.
type Move struct {
	From, To Status
	By       Actor
	When     string // what must be true, for people
}

// The one table of permitted moves. Everything else is an error.
var moves = []Move{
	{Received, Applied, Processor, "records committed, effects outstanding"},
	{Received, Completed, Processor, "done"},
	{Received, Retryable, Processor, "temporary failure"},
	{Received, Review, Processor, "needs a person"},
	{Retryable, Applied, Processor, "records committed, effects outstanding"},
	{Retryable, Completed, Processor, "done"},
	{Retryable, Retryable, Processor, "failed again"},
	{Retryable, Review, Processor, "needs a person"},
	{Applied, Completed, Effects, "last effect done"},
	{Applied, Review, Effects, "an effect failed for good"},
	{Review, Received, Person, "replay"},
	{Review, Applied, Person, "replay when only effects failed"},
	{Review, Completed, Person, "discard"},
	{Completed, Received, Person, "replay with force"},
}

var statuses = []Status{Received, Applied, Completed, Retryable, Review}

var outcomes = []Outcome{Created, Updated, Unchanged, Deleted, Stale, Ignored, Conflict, Superseded, Discarded}

// Statuses returns the values of Status__c in picklist order.
func Statuses() []Status { return slices.Clone(statuses) }

// Outcomes returns the values of Outcome__c in picklist order.
func Outcomes() []Outcome { return slices.Clone(outcomes) }

// Moves returns the table of permitted moves.
func Moves() []Move { return slices.Clone(moves) }

// Open says whether a processor still has to work on rows in this state.
func (s Status) Open() bool { return s == Received || s == Retryable }

// MoveError reports a change of status that the table does not permit.
type MoveError struct{ From, To Status }

func (e *MoveError) Error() string {
	return fmt.Sprintf("a row can't move from %q to %q", e.From, e.To)
}

// CheckMove returns a *MoveError unless the table permits the move.
func CheckMove(from, to Status) error {
	for _, m := range moves {
		if m.From == from && m.To == to {
			return nil
		}
	}
	return &MoveError{From: from, To: to}
}

// QueueFor is the value of Queue__c in a state: the home queue while a
// processor has to work on the row, else empty, so that the due query stays
// selective at millions of rows.
func QueueFor(s Status, home string) string {
	if s.Open() {
		return home
	}
	return ""
}
