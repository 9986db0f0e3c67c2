package poll

import (
	"slices"

	"sfbridge/bridge/event"
)

// without gives the rows of a batch that are not among some of them.
func without(batch, some []*event.Event) []*event.Event {
	among := make(map[string]bool, len(some))
	for _, e := range some {
		among[e.RowID] = true
	}
	return slices.DeleteFunc(slices.Clone(batch), func(e *event.Event) bool { return among[e.RowID] })
}

// light is the event without what only applying needs, so that a backlog keeps
// no payloads.
func light(e *event.Event) *event.Event {
	l := *e
	l.Payload, l.Context, l.History = nil, nil, ""
	return &l
}

func stopped(stop <-chan struct{}) bool {
	select {
	case <-stop:
		return true
	default:
		return false
	}
}

func rowIDs(batch []*event.Event) []string {
	ids := make([]string, len(batch))
	for i, e := range batch {
		ids[i] = e.RowID
	}
	return ids
}
