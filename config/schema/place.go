package schema

import (
	"slices"

	"sfbridge/internal/strictyaml"
)

// place is what the loader asks at one place of the format, over all samples
// and all items of a list.
type place struct {
	kinds   []strictyaml.Asked // each kind once
	members map[string]*place  // of a map with known keys
	needed  map[string]int     // how many of the maps need the key
	maps    int                // how many maps there were
	entry   *place             // of a map with keys of any name
	item    *place             // of a list
	shared  string             // name of the key whose places are all this one
}

// merger adds the outlines of samples to places.
type merger struct {
	*strictyaml.Outline
	shared map[string]*place // by key: the places of such a key are one
}

// merge adds what was asked at a node, and below it. A nil node is a key that
// was left out.
func (p *place) merge(m merger, n *strictyaml.Node, path string) {
	for _, a := range m.Asked[path] {
		p.add(a)
		switch a.Kind {
		case strictyaml.WantMap:
			p.maps++
			p.mergeMembers(m, n, path, a.Keys)
		case strictyaml.WantAnyMap:
			for _, e := range n.Members() {
				p.entry = made(p.entry)
				p.entry.merge(m, e.Value, e.Value.Path)
			}
		}
	}
	if n == nil {
		return
	}
	for _, item := range n.Items {
		p.item = made(p.item)
		p.item.merge(m, item, item.Path)
	}
}

func (p *place) mergeMembers(m merger, n *strictyaml.Node, path string, keys []string) {
	if p.members == nil {
		p.members, p.needed = map[string]*place{}, map[string]int{}
	}
	values := map[string]*strictyaml.Node{}
	for _, e := range n.Members() {
		values[e.Key] = e.Value
	}
	for _, key := range keys {
		child := strictyaml.ChildPath(path, key)
		if one := m.shared[key]; one != nil {
			p.members[key] = one
		} else {
			p.members[key] = made(p.members[key])
		}
		p.members[key].merge(m, values[key], child)
		if m.Needed[child] {
			p.needed[key]++
		}
	}
}

// add keeps each kind once, with its default from wherever it was left out.
func (p *place) add(a strictyaml.Asked) {
	i := slices.IndexFunc(p.kinds, func(b strictyaml.Asked) bool { return b.Kind == a.Kind })
	if i < 0 {
		p.kinds = append(p.kinds, a)
		return
	}
	if p.kinds[i].Default == nil {
		p.kinds[i].Default = a.Default
	}
}

// silent says that nothing is asked here.
func (p *place) silent() bool { return len(p.kinds) == 0 && p.item == nil }

func made(p *place) *place {
	if p == nil {
		return &place{}
	}
	return p
}
