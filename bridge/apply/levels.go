package apply

import (
	"maps"
	"slices"
	"strings"
)

// levels puts the objects of a batch into an order in which parents stand
// before what points to them. Objects that point to each other in a circle
// stand by name.
func levels(items []*item) map[string]int {
	parents := map[string]map[string]bool{}
	for _, it := range items {
		for _, rec := range it.records {
			object := strings.ToLower(rec.Object)
			if parents[object] == nil {
				parents[object] = map[string]bool{}
			}
			for _, p := range rec.Parents {
				if parent := strings.ToLower(p.Object); parent != object {
					parents[object][parent] = true
				}
			}
		}
	}
	out := map[string]int{}
	open := slices.Sorted(maps.Keys(parents))
	for len(open) > 0 {
		next := slices.IndexFunc(open, func(o string) bool {
			for parent := range parents[o] {
				_, done := out[parent]
				if _, here := parents[parent]; here && !done {
					return false
				}
			}
			return true
		})
		next = max(next, 0) // a circle: break it at the first by name
		out[open[next]] = len(out)
		open = slices.Delete(open, next, next+1)
	}
	return out
}
