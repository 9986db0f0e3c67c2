package traffic

import "time"

// State of a payment, in the order in which a provider passes through them.
const (
	Pending   = "Pending"
	Succeeded = "Succeeded"
	Refunded  = "Refunded"
)

// rank is the place of each state; other objects have none.
var rank = map[string]int{Pending: 1, Succeeded: 2, Refunded: 3}

// Event is one snapshot of one object of a provider.
type Event struct {
	ID     string // Event_Id__c
	Object string // business object
	Key    string // business key: the provider's object
	At     time.Time
	State  string // of a payment; empty for others
	Value  int    // what the other fields are made of
	own    string // the provider's own id
	source Provider
}

// Later says whether e has the last word when both are about one object: the
// later time, then the later state, then the higher id.
func (e Event) Later(than Event) bool {
	switch {
	case !e.At.Equal(than.At):
		return e.At.After(than.At)
	case rank[e.State] != rank[than.State]:
		return rank[e.State] > rank[than.State]
	}
	return e.ID > than.ID
}

// Record is what the object's record holds when e has the last word.
func (e Event) Record() map[string]any {
	fields := e.source.record(e)
	fields["Source_Event__c"] = e.ID
	fields["Source_Order__c"] = float64(e.At.UnixMilli())
	return fields
}

// Delivery is one message about an event, to be sent until it is taken.
type Delivery struct{ Event Event }
