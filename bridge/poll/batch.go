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

// behind parts events by what is known of others: an event waits when an earlier
// one of its entity has stayed open, or was found moved on but not ended.
func behind(fates []fate, events []*event.Event) (free, held []*event.Event) {
	first := map[string]*event.Event{} // by entity
	for _, f := range fates {
		entity := f.event.Entity()
		if old := first[entity]; f.event.HoldsBack() && (old == nil || event.Compare(f.event, old) < 0) {
			first[entity] = f.event
		}
	}
	for _, e := range events {
		if blocker := first[e.Entity()]; blocker != nil && event.Compare(blocker, e) < 0 {
			held = append(held, e)
		} else {
			free = append(free, e)
		}
	}
	return free, held
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
