package event

import (
	"cmp"
	"strings"
)

// Compare orders two events of one entity as they are to be worked on: one
// without an order value first, then by order, then by event id in bytes.
func Compare(a, b *Event) int {
	switch {
	case a.Order == nil && b.Order != nil:
		return -1
	case a.Order != nil && b.Order == nil:
		return 1
	case a.Order != nil && *a.Order != *b.Order:
		return cmp.Compare(*a.Order, *b.Order)
	}
	return strings.Compare(a.ID, b.ID)
}

// HoldsBack says whether later events of the entity have to wait for this one:
// it is still to be worked on and does not itself wait for a missing parent or
// target.
func (e *Event) HoldsBack() bool {
	waits := e.Status == Retryable && (e.ErrorCode == CodeParent || e.ErrorCode == CodeTarget)
	return e.Open() && !waits
}
