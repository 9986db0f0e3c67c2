package identify

import (
	"errors"
	"fmt"
	"time"

	"sfbridge/bridge/event"
	"sfbridge/mapping/path"
)

// Listed is an object that was read from the provider's own list, from which an
// event is made.
type Listed struct {
	Object any
	Type   string
	Into   path.Path // where events of the source hold the object
	Order  *Order    // $ is the event, @ the object; nil: ReadAt
	ReadAt time.Time // when the list was asked for
	Sweep  time.Time // when the comparison began; part of the event's id
}

// Make makes the event of a listed object. Without an order of its own it stands
// where the list was asked for, rounded down to what the source's events can
// tell apart, so that a later event never looks older.
func (i *Identifier) Make(l Listed) (Identified, error) {
	tree, ok := l.Into.Put(map[string]any{}, l.Object)
	if !ok {
		return Identified{}, errors.New("the object can't be put at " + l.Into.String())
	}
	tree = i.typed(tree, l.Type)
	scope := path.Scope{Event: tree, Element: l.Object}
	object, orders, err := i.identity.entity(scope)
	if err != nil {
		return Identified{}, fmt.Errorf("the event's object: %w", err)
	}
	if object == "" {
		return Identified{}, errors.New("the object has no id where events of the source have it")
	}
	at, err := l.place(orders, scope)
	if err != nil {
		return Identified{}, err
	}
	raw, err := path.AppendJSON(nil, tree)
	if err != nil {
		return Identified{}, err
	}
	hash, err := event.HashJSON(tree, i.volatile)
	if err != nil {
		return Identified{}, err
	}
	id := event.RepairID(i.source, storable(path.EscapeEventID(object)), *at.order, l.Sweep.UnixMilli())
	return Identified{Value: tree, Scope: path.Scope{Event: tree}, Event: event.Event{
		ID: id, Source: i.source, Type: l.Type, ObjectID: event.ShapeObjectID(storable(object)),
		Payload: raw, Hash: hash, Context: []byte("{}"), Order: at.order, SourceTime: sourceTime(at, l.ReadAt), ReceivedAt: l.ReadAt,
		Trust: event.AuthenticatedCaller,
	}}, nil
}

// Versioned says whether every event of the source is ordered by a version, so
// that the time of a look at the provider gives no place among them.
func (i *Identifier) Versioned() bool {
	orders := i.identity.Order
	for _, e := range i.identity.Entities {
		orders = append(orders[:len(orders):len(orders)], e.Order...)
	}
	if i.identity.order != nil {
		orders = []Order{*i.identity.order}
	}
	for _, o := range orders {
		if o.As.IsTime() {
			return false
		}
	}
	return len(orders) > 0
}

// typed writes the type where the source's events hold it alone.
func (i *Identifier) typed(tree any, kind string) any {
	if len(i.identity.Type) == 0 {
		return tree
	}
	t := i.identity.Type[0]
	paths := t.Paths()
	if len(paths) != 1 || paths[0].Root() != path.RootEvent || t.String() != "{"+paths[0].String()+"}" && t.String() != paths[0].String() {
		return tree
	}
	if _, taken := paths[0].In(tree); taken {
		return tree
	}
	if changed, ok := paths[0].Put(tree, kind); ok {
		return changed
	}
	return tree
}

// place is where the event stands among those of its object.
func (l Listed) place(orders []Order, scope path.Scope) (placed, error) {
	if l.Order == nil {
		return l.read(orders)
	}
	at, err := place([]Order{*l.Order}, scope)
	if err != nil {
		return placed{}, fmt.Errorf("the object's order: %w", err)
	}
	if at.order == nil {
		return placed{}, errors.New("the object has no order value where reconcile.order says")
	}
	return at, nil
}

// read is the place of what was read at a time. Events with times in text may
// leave the fraction out.
func (l Listed) read(orders []Order) (placed, error) {
	step := int64(1)
	for _, o := range orders {
		switch {
		case !o.As.IsTime():
			return placed{}, errors.New("events of the source are ordered by a version: say with reconcile.order where the object holds it")
		case o.As != UnixMillis:
			step = 1000
		}
	}
	ms := l.ReadAt.UnixMilli() / step * step
	return placed{order: &ms, isTime: true}, nil
}
