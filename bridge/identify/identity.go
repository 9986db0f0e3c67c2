package identify

import (
	"sfbridge/mapping/path"
)

// Unit says what an order value is.
type Unit string

const (
	UnixSeconds Unit = "unix_s"  // seconds since 1970, with or without a fraction
	UnixMillis  Unit = "unix_ms" // milliseconds since 1970
	RFC3339     Unit = "rfc3339" // a date and time with its offset
	Integer     Unit = "integer" // a version that counts up
)

// IsTime says whether order values of the unit are points in time.
func (u Unit) IsTime() bool { return u != Integer }

// Units lists the units.
func Units() []Unit { return []Unit{UnixSeconds, UnixMillis, RFC3339, Integer} }

// Order says where the order value of an event stands: the first of Paths that
// is present and not null.
type Order struct {
	Paths []path.Path
	As    Unit
}

// Entity names the provider's object an event is about, and the order of its
// events.
type Entity struct {
	Object path.Template
	Order  []Order // alternatives: the first that has a value
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
		i.ID = []path.Template{*o.ID}
	}
	if o.Type != nil {
		i.Type = []path.Template{*o.Type}
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
		i.Split = *o.Split
	}
	return i
}

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

// entity finds the object and the order alternatives of an event.
func (i Identity) entity(scope path.Scope) (object string, orders []Order, err error) {
	orders = i.Order
	for _, e := range i.Entities {
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
