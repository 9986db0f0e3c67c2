package path

import (
	"strings"
)

// Root says where a path is looked up.
type Root uint8

// The roots of paths.
const (
	RootEvent    Root = iota + 1 // $
	RootElement                  // @
	RootDelivery                 // $$
	RootHeader                   // header.NAME
)

const headerPrefix = "header."

// Outer gives the values of $$ and header paths, which lie outside the event.
type Outer interface {
	Get(p Path) (v any, present bool)
}

// Scope is what the roots of paths stand for while one record is built. A nil
// Outer has no values.
type Scope struct {
	Event   any
	Element any
	Outer   Outer
}

// Path names one value. The zero Path names nothing and is always missing.
type Path struct {
	text   string
	root   Root
	header string
	steps  []step
}

// step is one member name or index of a path.
type step struct {
	name    string
	index   int
	isIndex bool
}

// String returns the path as it was written.
func (p Path) String() string { return p.text }

// IsZero reports whether p is the zero Path.
func (p Path) IsZero() bool { return p.root == 0 }

// Root says where p is looked up.
func (p Path) Root() Root { return p.root }

// Header returns the header's name in lower case, "" for other roots.
func (p Path) Header() string { return p.header }

// Contextual reports whether p's value lies outside the event and so must be
// kept at receipt.
func (p Path) Contextual() bool { return p.root == RootDelivery || p.root == RootHeader }

// ContextKey is the member of the stored context that holds p's value: the
// path as written, header names in lower case.
func (p Path) ContextKey() string {
	if p.root == RootHeader {
		return headerPrefix + p.header
	}
	return p.text
}

// Get returns p's value and whether it is there at all; a null is there.
func (p Path) Get(s Scope) (v any, present bool) {
	switch p.root {
	case RootEvent:
		return p.In(s.Event)
	case RootElement:
		return p.In(s.Element)
	case RootDelivery, RootHeader:
		if s.Outer != nil {
			return s.Outer.Get(p)
		}
	}
	return nil, false
}

// In follows p from tree, whatever p's root is.
func (p Path) In(tree any) (v any, present bool) {
	return follow(tree, p.steps)
}

func follow(v any, steps []step) (any, bool) {
	for _, s := range steps {
		var ok bool
		if s.isIndex {
			v, ok = element(v, s.index)
		} else {
			v, ok = member(v, s.name)
		}
		if !ok {
			return nil, false
		}
	}
	return v, true
}

func member(v any, name string) (any, bool) {
	m, ok := v.(map[string]any)
	if !ok {
		return nil, false
	}
	v, ok = m[name]
	return v, ok
}

func element(v any, index int) (any, bool) {
	a, ok := v.([]any)
	if !ok {
		return nil, false
	}
	if index < 0 {
		index += len(a)
	}
	if index < 0 || index >= len(a) {
		return nil, false
	}
	return a[index], true
}

func isHeaderPath(s string) bool {
	return len(s) >= len(headerPrefix) && strings.EqualFold(s[:len(headerPrefix)], headerPrefix)
}
