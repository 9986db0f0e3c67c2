package identify

import (
	"strings"

	"sfbridge/mapping/path"
)

// Unit says what an order value is.
type Unit string

const (
	UnixSeconds Unit = "unix_s"  // seconds since 1970, with or without a fraction
	UnixMillis  Unit = "unix_ms" // milliseconds since 1970
	RFC3339     Unit = "rfc3339" // a date and time with its offset
	Integer     Unit = "integer" // a version that counts up
	// UTCTime is a date and time in UTC that doesn't say so; with an offset it
	// is RFC3339. Presets only.
	UTCTime Unit = "utc"
)

// IsTime says whether order values of the unit are points in time.
func (u Unit) IsTime() bool { return u != Integer }

// Units lists the units.
func Units() []Unit { return []Unit{UnixSeconds, UnixMillis, RFC3339, Integer, UTCTime} }

// Order says where the order value of an event stands: the first of Paths that
// is present and not null.
type Order struct {
	Paths []path.Path
	As    Unit
}

// Condition holds when the text at Path is Is, which may end in "*" for any
// text that begins so.
type Condition struct {
	Path path.Path
	Is   string
}

func (c Condition) holds(scope path.Scope) bool {
	v, _ := c.Path.Get(scope)
	text, ok := path.Text(v)
	if lead, any := strings.CutSuffix(c.Is, "*"); any {
		return ok && strings.HasPrefix(text, lead)
	}
	return ok && text == c.Is
}

// Entity names the provider's object an event is about, and the order of its
// events.
type Entity struct {
	When   []Condition // all must hold
	Object path.Template
	Order  []Order // alternatives: the first that has a value
}

// TypeWhen is a type that counts when all of When holds.
type TypeWhen struct {
	When []Condition
	Type path.Template
}

// Identity says where the identity of an event stands. Of several alternatives
// the first counts whose values are all there.
type Identity struct {
	ID       []path.Template // with path.EventID escaping
	Type     []path.Template // with path.Identity escaping, as Object
	Entities []Entity        // the first whose Object is there
	Order    []Order         // of events that name none of the entities
	Delivery []path.Template // the id of this attempt to deliver, for logs
	Volatile []path.Path     // left out of the hash: they differ between deliveries of one event
	Split    path.List       // zero: one event a delivery; else one per element, which then is $

	// What only presets say. In a nested split, @ is the outer element.
	Kinds       []TypeWhen      // types under a condition, before Type
	Hashed      []path.Template // ids that need the hash of the content beside them, after ID
	ByHash      bool            // an event without any of these ids stands under its hash
	PerDelivery bool            // each delivery is an event of its own: the receive time is part of the id
	MoreSplits  []path.List     // further arrays of the same delivery
	Single      bool            // a delivery without the array is one event
	// Spread are arrays inside an element: it becomes one event for each of
	// their elements, with the array cut down to that one.
	Spread []path.Path

	object *path.Template // overrides of With
	order  *Order
}

// Override is what a mapping says about identity; nil means as it was.
type Override struct {
	ID       *path.Template
	Type     *path.Template
	Object   *path.Template
	Order    *Order
	Volatile []path.Path
	Split    *path.List
}

// With is the identity with parts of it replaced.
func (i Identity) With(o Override) Identity {
	if o.ID != nil {
		i.ID, i.Hashed, i.ByHash, i.PerDelivery = []path.Template{*o.ID}, nil, false, false
	}
	if o.Type != nil {
		i.Type, i.Kinds = []path.Template{*o.Type}, nil
	}
	if o.Object != nil {
		i.object = o.Object
	}
	if o.Order != nil {
		i.order = o.Order
	}
	if o.Volatile != nil {
		i.Volatile = o.Volatile
	}
	if o.Split != nil {
		i.Split, i.MoreSplits, i.Single, i.Spread = *o.Split, nil, false, nil
	}
	return i
}

// named says whether there is any way to an id.
func (i Identity) named() bool { return len(i.ID)+len(i.Hashed) > 0 || i.ByHash }

// firstOf expands the first template whose values are all there. With none,
// the error is that of the first one.
func firstOf(templates []path.Template, scope path.Scope) (string, bool, error) {
	var first error
	for _, t := range templates {
		text, present, err := t.Expand(scope)
		if present && text != "" {
			return text, true, nil
		}
		if first == nil {
			first = err
		}
	}
	return "", false, first
}

func hold(conditions []Condition, scope path.Scope) bool {
	for _, c := range conditions {
		if !c.holds(scope) {
			return false
		}
	}
	return true
}

// types are the alternatives for the type of an event.
func (i Identity) types(scope path.Scope) []path.Template {
	for _, k := range i.Kinds {
		if hold(k.When, scope) {
			return []path.Template{k.Type}
		}
	}
	return i.Type
}

// entity finds the object and the order alternatives of an event.
func (i Identity) entity(scope path.Scope) (object string, orders []Order, err error) {
	orders = i.Order
	for _, e := range i.Entities {
		if !hold(e.When, scope) {
			continue
		}
		text, present, problem := e.Object.Expand(scope)
		if problem != nil && err == nil {
			err = problem
		}
		if present && text != "" {
			object, orders, err = text, e.Order, nil
			break
		}
	}
	if i.object != nil {
		object, _, err = i.object.Expand(scope)
	}
	if i.order != nil {
		orders = []Order{*i.order}
	}
	return object, orders, err
}
