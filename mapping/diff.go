package mapping

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// ChangeKind says how a value differs between two mappings.
type ChangeKind string

// The kinds of change.
const (
	Added   ChangeKind = "added"
	Removed ChangeKind = "removed"
	Changed ChangeKind = "changed"
)

// Difference is one value that another mapping makes otherwise.
type Difference struct {
	Record string     `json:"record,omitempty"` // object and key; "" for the event itself
	Field  string     `json:"field,omitempty"`  // "" for the record as a whole
	Change ChangeKind `json:"change"`
	Old    any        `json:"old"`
	New    any        `json:"new"`
}

// Diff compares what two mappings make of one event; nil is an event that one
// of them doesn't find. Records are told by object and key.
func Diff(old, changed *DryResult) []Difference {
	switch {
	case old == nil && changed == nil:
		return nil
	case old == nil:
		return []Difference{{Field: "event", Change: Added, New: changed.EventID}}
	case changed == nil:
		return []Difference{{Field: "event", Change: Removed, Old: old.EventID}}
	}
	out := diffFields("", old.facts(), changed.facts())
	before, after := named(old.Records), named(changed.Records)
	for _, name := range slices.Sorted(maps.Keys(union(before, after))) {
		b, had := before[name]
		a, has := after[name]
		switch {
		case !had:
			out = append(out, Difference{Record: name, Change: Added, New: a.Fields})
		case !has:
			out = append(out, Difference{Record: name, Change: Removed, Old: b.Fields})
		default:
			out = append(out, diffFields(name, b.Fields, a.Fields)...)
			if a.Action != b.Action {
				out = append(out, Difference{Record: name, Field: "action", Change: Changed, Old: b.Action, New: a.Action})
			}
		}
	}
	return out
}

// facts are the values of the event itself, absent ones left out.
func (d *DryResult) facts() map[string]any {
	facts := map[string]any{"outcome": string(d.Outcome)}
	for name, text := range map[string]*string{
		"event_id": d.EventID, "type": d.Type, "object_id": d.ObjectID, "hash": d.Hash, "route": d.Route,
	} {
		if text != nil {
			facts[name] = *text
		}
	}
	if d.Order != nil {
		facts["order"] = *d.Order
	}
	for _, e := range d.Errors {
		name := "error"
		if e.Field != nil {
			name += " in " + *e.Field
		}
		reasons, _ := facts[name].(string)
		facts[name] = strings.TrimPrefix(reasons+"; "+e.Reason, "; ")
	}
	return facts
}

// named gives each record a name of its own.
func named(records []DryRecord) map[string]DryRecord {
	out := map[string]DryRecord{}
	for _, r := range records {
		first := fmt.Sprintf("%s %s", r.Object, r.Key.Value)
		name := first
		for n := 2; ; n++ {
			if _, taken := out[name]; !taken {
				break
			}
			name = fmt.Sprintf("%s (%d)", first, n)
		}
		out[name] = r
	}
	return out
}

func diffFields(record string, old, changed map[string]any) []Difference {
	var out []Difference
	for _, name := range slices.Sorted(maps.Keys(union(old, changed))) {
		b, had := old[name]
		a, has := changed[name]
		d := Difference{Record: record, Field: name, Change: Changed, Old: b, New: a}
		switch {
		case !had:
			d.Change = Added
		case !has:
			d.Change = Removed
		case reflect.DeepEqual(a, b):
			continue
		}
		out = append(out, d)
	}
	return out
}

// union has the keys of both.
func union[V any](a, b map[string]V) map[string]bool {
	all := make(map[string]bool, len(a)+len(b))
	for name := range a {
		all[name] = true
	}
	for name := range b {
		all[name] = true
	}
	return all
}
