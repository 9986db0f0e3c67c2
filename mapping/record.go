package mapping

import (
	"encoding/json"
	"strconv"

	"sfbridge/mapping/path"
)

// Action is what a record does to its target.
type Action string

// The actions. Update never inserts; a missing target is waited for.
const (
	Upsert Action = "upsert"
	Update Action = "update"
	Delete Action = "delete"
)

// Input is one event as the mapping sees it.
type Input struct {
	EventID string // as in Event_Id__c, with the source in front
	Type    string
	Order   *int64 // nil when the event has no order value
	Scope   path.Scope
}

// Key is the external ID of the target.
type Key struct {
	Field string
	Value string
}

// OrderFields are the target's fields that carry the stale guard. Event and
// Prior are "" where the target doesn't keep them.
type OrderFields struct {
	Field string // order value of the event that wrote last
	Event string // its event id
	Prior string // event id the decision was made against
}

// StateValue is the state that the event would give the target. Value is nil
// when the event names none or clears it: no transition.
type StateValue struct {
	Field   string
	Value   *string
	Machine *Machine
}

// Ref is a parent that a lookup names by its external ID.
type Ref struct {
	Object string // of the parent
	Field  string // its external ID field
	Value  string
	Lookup string // the relationship as written, Customer__r
}

// Record is one write to Salesforce that an event asks for.
//
// Values are JSON as decoded with json.Number; a lookup is
// {"Ext_Id__c": value} under its relationship name, nil under its field name
// when it clears.
type Record struct {
	Object   string
	Action   Action
	Key      Key
	Fields   map[string]any // sent always
	OnCreate map[string]any // sent only when the target is created
	OnUpdate map[string]any // sent only when it exists
	Order    *OrderFields   // nil without order
	State    *StateValue    // nil without state
	Coalesce bool           // writes of several events may be folded into one
	Each     bool           // comes from an element of a list
	Guard    bool           // decides whether the event is stale
	Spec     int            // position in its route
	Parents  []Ref

	eventID string
	order   *int64
}

// Sent is the row as it goes to Salesforce when the target is created or, with
// create false, exists: fields, state, order and event id, and for an upsert
// the key. The prior event id is the commit's own: it is known only after the
// target was read. A delete sends what its first step writes.
func (r Record) Sent(create bool) map[string]any {
	sent := make(map[string]any, len(r.Fields)+len(r.OnCreate)+len(r.OnUpdate)+3)
	for name, value := range r.Fields {
		sent[name] = value
	}
	only := r.OnUpdate
	if create {
		only = r.OnCreate
	}
	for name, value := range only {
		sent[name] = value
	}
	if r.Action == Upsert {
		sent[r.Key.Field] = r.Key.Value
	}
	if r.Order != nil {
		if r.order != nil {
			sent[r.Order.Field] = json.Number(strconv.FormatInt(*r.order, 10))
		}
		if r.Order.Event != "" {
			sent[r.Order.Event] = r.eventID
		}
	}
	return sent
}

// FieldError says why one value can't be sent. It holds no more of the payload
// than the shortened value.
type FieldError struct {
	Object string
	Field  string
	Path   string
	Value  string
	Reason string
}

// Error names field, path, value and reason.
func (e FieldError) Error() string {
	text := e.Object + "." + e.Field
	if e.Path != "" {
		text += " from " + e.Path
	}
	text += ": " + e.Reason
	if e.Value != "" {
		text += " (" + e.Value + ")"
	}
	return text
}
