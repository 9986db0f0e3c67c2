package path

import (
	"maps"
	"slices"
)

// Put is the tree with v in p's place. The tree itself stays as it is; objects
// on the way that are missing or null are made. ok is false where the path
// leads through something else, or through an element that isn't there.
func (p Path) Put(tree, v any) (changed any, ok bool) {
	return put(tree, p.steps, v)
}

func put(tree any, steps []step, v any) (any, bool) {
	if len(steps) == 0 {
		return v, true
	}
	s, rest := steps[0], steps[1:]
	switch t := tree.(type) {
	case nil:
		if s.isIndex {
			return nil, false
		}
		inner, ok := put(nil, rest, v)
		return map[string]any{s.name: inner}, ok
	case map[string]any:
		if s.isIndex {
			return nil, false
		}
		inner, ok := put(t[s.name], rest, v)
		out := maps.Clone(t)
		out[s.name] = inner
		return out, ok
	case []any:
		old, found := element(t, s.index)
		if !s.isIndex || !found {
			return nil, false
		}
		inner, ok := put(old, rest, v)
		out := slices.Clone(t)
		out[(s.index+len(t))%len(t)] = inner
		return out, ok
	}
	return nil, false
}
