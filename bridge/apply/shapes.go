package apply

import (
	"context"
	"strings"
	"sync"
	"time"

	"sfbridge/salesforce"
)

// shape is what apply needs to know of an object: how its keys compare and
// how its values read. The zero shape is that of an object that no record
// writes: nothing is known.
type shape struct {
	object *salesforce.Object
	read   time.Time
}

// shapes keeps the describes of objects for a while.
type shapes struct {
	org Org
	now func() time.Time
	ttl time.Duration

	mu     sync.Mutex
	known  map[string]shape
	asking map[string]chan struct{} // closed when the answer is there
}

func newShapes(cfg Config) *shapes {
	return &shapes{
		org: cfg.Org, now: cfg.Now, ttl: cfg.DescribeFor,
		known: map[string]shape{}, asking: map[string]chan struct{}{},
	}
}

// of gives an object's shape. Lanes that ask at once make one call; if it
// fails, the next of them asks.
func (s *shapes) of(ctx context.Context, object string) (shape, error) {
	name := strings.ToLower(object)
	for {
		sh, wait := s.look(name)
		switch {
		case sh.object != nil:
			return sh, nil
		case wait == nil:
			return s.ask(ctx, object)
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return shape{}, ctx.Err()
		}
	}
}

// look gives what is known of an object, or what to wait for; neither makes
// the caller the one who asks.
func (s *shapes) look(name string) (shape, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if sh, ok := s.known[name]; ok && s.now().Sub(sh.read) < s.ttl {
		return sh, nil
	}
	if wait, ok := s.asking[name]; ok {
		return shape{}, wait
	}
	s.asking[name] = make(chan struct{})
	return shape{}, nil
}

func (s *shapes) ask(ctx context.Context, object string) (shape, error) {
	name := strings.ToLower(object)
	o, err := s.org.Describe(ctx, object)
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.asking[name])
	delete(s.asking, name)
	if err != nil {
		return shape{}, err
	}
	s.known[name] = shape{object: o, read: s.now()}
	return s.known[name], nil
}

// forget makes the next look at an object ask the org.
func (s *shapes) forget(object string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.known, strings.ToLower(object))
}

// foldsCase says whether an external ID field takes "A" and "a" for one value:
// only unique fields that are not case sensitive do.
func (s shape) foldsCase(field string) bool {
	f, known := s.field(field)
	return known && f.Unique && !f.CaseSensitive
}

// fold writes a key so that two that the field takes for one are equal.
func (s shape) fold(field, key string) string {
	if salesforce.IsNumber(s.kindOf(field)) {
		if n, ok := salesforce.Exact(key); ok {
			return n.RatString()
		}
	}
	if s.foldsCase(field) {
		return strings.ToLower(key)
	}
	return key
}

// kindOf is the type of a column, "" for one that is unknown or can't be read.
func (s shape) kindOf(column string) string {
	f, known := s.field(column)
	if !known {
		return ""
	}
	return f.Type
}

// plainLookup says whether a relationship leads to one object only, so that a
// query may select its fields.
func (s shape) plainLookup(relationship string) bool {
	f, known := s.object.Relationship(relationship)
	return known && len(f.ReferenceTo) == 1
}

func (s shape) field(name string) (salesforce.Field, bool) {
	if s.object == nil {
		return salesforce.Field{}, false
	}
	return s.object.Field(name)
}
