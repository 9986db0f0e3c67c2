package scaffold

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"sfbridge/mapping"
)

// need is what mappings need of one object. Names of fields keep their
// spelling; sets are keyed by lower case.
type need struct {
	object               string
	create, edit, remove bool
	keys                 map[string]string
	orders               map[string]string // number fields
	ids                  map[string]string // text fields that hold event ids
	guards               map[string]guard  // by prior
	columns              map[string]column
}

// guard is a pair of fields that a rule Refuse_Moved compares.
type guard struct{ event, prior string }

// column is a field that is read or written.
type column struct {
	name string
	edit bool
}

// needs gathers what the mappings need, by object.
type needs map[string]*need

func gather(files []*mapping.File) []*need {
	all := needs{}
	for _, f := range files {
		for _, r := range f.Routes {
			for _, t := range r.Targets() {
				all.target(t)
			}
		}
		for _, e := range f.Effects() {
			all.effect(e)
		}
	}
	list := slices.Collect(maps.Values(all))
	slices.SortFunc(list, func(a, b *need) int { return cmp.Compare(strings.ToLower(a.object), strings.ToLower(b.object)) })
	return list
}

func (all needs) of(object string) *need {
	key := strings.ToLower(object)
	if all[key] == nil {
		all[key] = &need{
			object: object, keys: map[string]string{}, orders: map[string]string{}, ids: map[string]string{},
			guards: map[string]guard{}, columns: map[string]column{},
		}
	}
	return all[key]
}

func (all needs) target(t mapping.Target) {
	n := all.of(t.Object)
	n.create = n.create || t.Action == mapping.Upsert
	n.edit = true // the first step of a delete writes the order fields
	n.remove = n.remove || t.Action == mapping.Delete
	n.key(t.KeyField, t.Action == mapping.Upsert)
	n.order(t.Order)
	all.fields(n, t.Fields)
}

// effect adds what a record or platform event of an effect needs; a request to
// somebody else needs nothing of the org.
func (all needs) effect(e mapping.EffectTarget) {
	if e.Kind == mapping.EffectPost {
		return
	}
	n := all.of(e.Object)
	n.create = true
	n.edit = n.edit || e.Kind == mapping.EffectRecord
	if e.Kind == mapping.EffectRecord {
		n.key(e.KeyField, true)
	}
	all.fields(n, e.Fields)
}

// fields adds what is written, and the keys of the parents that it leads to.
func (all needs) fields(n *need, fields []mapping.TargetField) {
	for _, f := range fields {
		n.column(f.Column, true)
		if f.Parent != "" {
			all.of(f.Parent).key(f.By, false)
		}
	}
}

func (n *need) key(field string, edit bool) {
	if strings.EqualFold(field, "Id") {
		return
	}
	add(n.keys, field)
	n.column(field, edit)
}

func (n *need) order(o *mapping.OrderFields) {
	if o == nil {
		return
	}
	add(n.orders, o.Field)
	n.column(o.Field, true)
	for _, name := range []string{o.Event, o.Prior} {
		if name != "" {
			add(n.ids, name)
			n.column(name, true)
		}
	}
	if o.Prior != "" {
		n.guards[strings.ToLower(o.Prior)] = guard{o.Event, o.Prior}
	}
}

func (n *need) column(name string, edit bool) {
	key := strings.ToLower(name)
	c, known := n.columns[key]
	if !known {
		c.name = name
	}
	c.edit = c.edit || edit
	n.columns[key] = c
}

// add keeps the first spelling.
func add(set map[string]string, name string) {
	if _, known := set[strings.ToLower(name)]; !known {
		set[strings.ToLower(name)] = name
	}
}

// ordered are the values of a map in the order of its keys.
func ordered[V any](m map[string]V) []V {
	out := make([]V, 0, len(m))
	for _, key := range slices.Sorted(maps.Keys(m)) {
		out = append(out, m[key])
	}
	return out
}
