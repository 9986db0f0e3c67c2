package operate

import (
	"strings"

	"sfbridge/bridge/event"
)

// Order says what a person wants done with events: Replay, Discard and Accept
// carry it out.
type Order struct {
	Filter Filter
	Force  bool   // Replay only: Completed events too
	DryRun bool   // count only
	Who    string // for the history
	Reason string // for the history; only Replay goes without
	// Progress is told after every call how it stands; may be nil.
	Progress func(Report)
}

// decides checks an order for an action that can't be undone by the next event
// and so is a decision of a person's: it has a reason, and is made on Review.
func (o Order) decides(action string) error {
	switch {
	case strings.TrimSpace(o.Reason) == "":
		return usage("a reason is needed to %s events: it is kept in their history", action)
	case o.Force:
		return usage("force is for replays: there is nothing to %s but events of Review", action)
	}
	return nil
}

// notInReview is why an event is left alone that no person has to decide on.
func notInReview(e *event.Event) string {
	if e.Status != event.Review {
		return "status " + string(e.Status)
	}
	return ""
}
