package stage

import (
	"fmt"
	"time"
)

// Status is what became of an event at the door.
type Status string

const (
	Accepted  Status = "accepted"  // new and durable
	Spooled   Status = "spooled"   // durable in the spool, not yet known to be new
	Duplicate Status = "duplicate" // seen before with the same content
	Conflict  Status = "conflict"  // known id, other content: kept for review, or counted
	Rejected  Status = "rejected"  // known id, other content, refused as the mapping asks
)

// Answer is the result of one event. Status is set unless Err is.
type Answer struct {
	// EventID is the id of the row that holds the event: a conflict row's own.
	EventID string
	Status  Status
	// Err is event.ErrTooLarge or an *Unavailable.
	Err error
}

// Unavailable says that an event is not known to be durable; the sender should
// send it again.
type Unavailable struct {
	Reason     string
	RetryAfter time.Duration // 0: no hint
	// Alarm says that sending it again won't help until a person has looked.
	Alarm bool
	Cause error
}

func (e *Unavailable) Error() string {
	if e.Cause == nil {
		return e.Reason
	}
	return fmt.Sprintf("%s: %v", e.Reason, e.Cause)
}

func (e *Unavailable) Unwrap() error { return e.Cause }
