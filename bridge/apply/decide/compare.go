package decide

import (
	"cmp"

	"sfbridge/bridge/event"
)

// Standing is what the comparator sees of an event, be it the one that holds a
// record or the one that comes.
type Standing struct {
	Order   *int64 // nil: no order value, which is before every value
	Delete  bool   // wins an equal order
	Rank    int    // of its state; NoRank without one
	EventID string
}

// NoRank is the rank of an event without a state.
const NoRank = -1

// Compare returns a negative number when a is older than b, a positive one
// when it is newer, and 0 for the same event.
func Compare(a, b Standing) int {
	return cmp.Or(
		compareOrder(a.Order, b.Order),
		compareBool(a.Delete, b.Delete),
		compareBool(favoured(a.EventID), favoured(b.EventID)),
		cmp.Compare(a.Rank, b.Rank),
		cmp.Compare(a.EventID, b.EventID),
	)
}

// favoured tells repairs and accepted conflicts, which win an equal order.
func favoured(id string) bool { return event.IsRepair(id) || event.IsConflict(id) }

func compareOrder(a, b *int64) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return -1
	case b == nil:
		return 1
	}
	return cmp.Compare(*a, *b)
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// Machine is the set of permitted steps of a state field.
type Machine interface {
	// Rank is the place of a state in the order of states.
	Rank(state string) int
	// Reachable says whether the state to can follow from over one or more
	// permitted steps, and by which states: those after from, to being the last.
	Reachable(from, to string) (path []string, ok bool)
}

func rank(m Machine, state string) int {
	if m == nil || state == "" {
		return NoRank
	}
	return m.Rank(state)
}
