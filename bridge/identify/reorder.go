package identify

import "sfbridge/mapping/path"

// OrderOf is the order value of an event as its tree reads now, for one that was
// completed after it was received; nil when it has none that can be read.
func (i *Identifier) OrderOf(scope path.Scope) *int64 {
	_, orders, err := i.identity.entity(scope)
	if err != nil {
		return nil
	}
	at, err := place(orders, scope)
	if err != nil {
		return nil
	}
	return at.order
}
