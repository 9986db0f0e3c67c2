package reconcile

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"sync"
	"time"

	"sfbridge/salesforce"
)

// shapes remember what the org says of its objects, for a while.
type shapes struct {
	org interface {
		Describe(ctx context.Context, object string) (*salesforce.Object, error)
	}
	mu    sync.Mutex
	known map[string]shape
}

type shape struct {
	*salesforce.Object
	read time.Time
}

const shapeAge = time.Hour

func (s *shapes) of(ctx context.Context, object string, now time.Time) (shape, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known, ok := s.known[object]; ok && now.Sub(known.read) < shapeAge {
		return known, nil
	}
	o, err := s.org.Describe(ctx, object)
	if err != nil {
		return shape{}, fmt.Errorf("describing %s: %w", object, err)
	}
	s.known[object] = shape{Object: o, read: now}
	return s.known[object], nil
}

func (s shape) field(name string) (salesforce.Field, bool) {
	at := slices.IndexFunc(s.Fields, func(f salesforce.Field) bool { return strings.EqualFold(f.Name, name) })
	if at < 0 {
		return salesforce.Field{}, false
	}
	return s.Fields[at], true
}

// fold writes a key so that two that the field takes for one are equal.
func (s shape) fold(field, key string) string {
	f, known := s.field(field)
	if known && salesforce.IsNumber(f.Type) {
		if n, ok := salesforce.Exact(key); ok {
			return n.RatString()
		}
	}
	if known && f.Unique && !f.CaseSensitive {
		return strings.ToLower(key)
	}
	return key
}

// same compares a value to send with the one that stands there. Numbers are
// stored with the field's decimals, several choices in the field's own order.
func (s shape) same(field string, sent, read any) bool {
	f, _ := s.field(field)
	if salesforce.Same(f.Type, sent, read) {
		return true
	}
	switch {
	case salesforce.IsNumber(f.Type):
		a, okA := salesforce.Exact(fmt.Sprint(sent))
		b, okB := salesforce.Exact(fmt.Sprint(read))
		return okA && okB && rounded(a, f.Scale) == rounded(b, f.Scale)
	case f.Type == "multipicklist":
		a, okA := sent.(string)
		b, okB := read.(string)
		return okA && okB && slices.Equal(choices(a), choices(b))
	case f.Type == "email":
		a, okA := sent.(string)
		b, okB := read.(string)
		return okA && okB && strings.EqualFold(a, b)
	}
	return false
}

func rounded(n *big.Rat, scale int) string { return n.FloatString(max(0, scale)) }

func choices(s string) []string {
	list := strings.Split(s, ";")
	slices.Sort(list)
	return list
}
