package path

// List names the elements of an array: a path of the event or the delivery
// followed by [*], and once more for one nested level: "$.orders[*].lines[*]".
type List struct {
	text  string
	outer Path   // up to the first [*]
	inner []step // between the first and the second [*]
	depth int    // how many [*]
}

// String returns the list as it was written.
func (l List) String() string { return l.text }

// IsZero reports whether l is the zero List, which has no elements.
func (l List) IsZero() bool { return l.depth == 0 }

// Path returns the path of the outer array.
func (l List) Path() Path { return l.outer }

// Elements returns the elements in order. An array that is missing, null or
// empty has none. A value that isn't an array, and a null element, is a
// [*ValueError].
func (l List) Elements(s Scope) ([]any, error) {
	if l.depth == 0 {
		return nil, nil
	}
	v, _ := l.outer.Get(s)
	outer, err := l.array(v)
	if err != nil || l.depth == 1 {
		return outer, err
	}
	var all []any
	for _, e := range outer {
		v, _ := follow(e, l.inner)
		inner, err := l.array(v)
		if err != nil {
			return nil, err
		}
		all = append(all, inner...)
	}
	return all, nil
}

func (l List) array(v any) ([]any, error) {
	if v == nil {
		return nil, nil
	}
	a, ok := v.([]any)
	if !ok {
		return nil, &ValueError{Path: l.text, Reason: "is " + Kind(v) + ", not an array"}
	}
	for _, e := range a {
		if e == nil {
			return nil, &ValueError{Path: l.text, Reason: "has an element that is null"}
		}
	}
	return a, nil
}
