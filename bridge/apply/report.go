package apply

import (
	"time"

	"sfbridge/bridge/event"
)

// Disposition says what became of an event's row in this call.
type Disposition int

const (
	// Left: nothing was written, the row is as due as before; Reason says why.
	Left Disposition = iota
	// Moved: the row now stands at Status, with Outcome when it is Completed.
	Moved
	// Gone: another writer moved the row on, it is no longer due.
	Gone
)

// Reason says why an event was left.
type Reason string

const (
	NoRoom    Reason = "no room"   // the transaction was full: take it next
	Held      Reason = "held"      // waits for an earlier event of its entity
	Paused    Reason = "paused"    // its route is paused, see Report.Pauses
	Contended Reason = "contended" // rows kept changing under the decision
	Unwritten Reason = "unwritten" // its outcome could not be written
	Stopped   Reason = "stopped"   // the call ended before its turn
)

// Result is what became of one event.
type Result struct {
	Disposition Disposition
	Status      event.Status  // where the row stands after a move
	Outcome     event.Outcome // set when Status is Completed
	Code        string        // Error_Code__c that was written
	Reason      Reason        // why the event was left
	NotBefore   time.Time     // earliest next try, of a row left or Retryable; zero: at once
}

// Pause stops a route whose configuration the org refuses. Its events stay
// due.
type Pause struct {
	Source string
	Route  string
	Until  time.Time
	Reason string // names object and field, for people
}

// Report tells the poller what a call did.
type Report struct {
	// Results has one entry per event of the batch, in its order.
	Results []Result
	// Pauses are routes that must rest; merge them by source and route.
	Pauses []Pause
	// BatchLimit is the largest batch that the org's own automation takes at
	// the moment; 0 when nothing speaks against full batches. The poller halves
	// to it and lets it grow back.
	BatchLimit int
}
