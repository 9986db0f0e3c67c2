package apply

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"sfbridge/mapping"
	"sfbridge/salesforce"
	"sfbridge/salesforce/soql"
)

// maxKeys and maxKeyText bound one IN list: the number of keys, and their
// length, so that a query stays well below Salesforce's 100,000 characters.
const (
	maxKeys    = 200
	maxKeyText = 40_000
)

// probe is what is to be read of one object by one key field.
type probe struct {
	object, field string
	keys          map[string]string // folded -> as mapped
	columns       map[string]string // lower case -> as mapped
}

// probes gathers what the items' records need to know of their targets.
func (r *run) probes(items []*item) []*probe {
	byTarget := map[[2]string]*probe{}
	var all []*probe
	for _, it := range items {
		for _, rec := range it.records {
			name := [2]string{strings.ToLower(rec.Object), strings.ToLower(rec.Key.Field)}
			p := byTarget[name]
			if p == nil {
				p = &probe{object: rec.Object, field: rec.Key.Field, keys: map[string]string{}, columns: map[string]string{}}
				byTarget[name], all = p, append(all, p)
			}
			p.keys[r.keyOf(rec).key] = rec.Key.Value
			p.want(it.targets[rec.Spec], r.shape(rec.Object))
			p.add(it.watched(rec.Object)...)
		}
	}
	slices.SortFunc(all, func(a, b *probe) int { return strings.Compare(a.object+"."+a.field, b.object+"."+b.field) })
	return all
}

// want adds the columns that the decision about a record looks at: order,
// event id and state, and, when there is no order to tell by, every value.
func (p *probe) want(fixed mapping.Target, sh shape) {
	p.add(fixed.State)
	if o := fixed.Order; o != nil {
		p.add(o.Field, o.Event)
		return
	}
	if fixed.Action == mapping.Delete {
		return
	}
	for _, f := range fixed.Fields {
		p.add(f.Column)
		if f.Parent != "" && sh.plainLookup(f.Name) {
			p.add(f.Name + "." + f.By)
		}
	}
}

func (p *probe) add(columns ...string) {
	for _, column := range columns {
		if column != "" && !strings.EqualFold(column, "Id") && !strings.EqualFold(column, p.field) {
			p.columns[strings.ToLower(column)] = column
		}
	}
}

// questions are the queries of a probe.
func (p *probe) questions(r *run) []question {
	columns := []string{"Id", p.field}
	for _, lower := range slices.Sorted(maps.Keys(p.columns)) {
		columns = append(columns, p.columns[lower])
	}
	object := r.shape(p.object)
	kind := object.kindOf(p.field)
	var out []question
	for _, folded := range keyLists(askable(p.keys, kind)) {
		asked := map[targetKey]bool{}
		keys := make([]string, len(folded))
		for i, key := range folded {
			keys[i] = p.keys[key]
			if salesforce.IsNumber(kind) {
				keys[i] = key
			}
			asked[newTargetKey(p.object, p.field, key)] = true
		}
		out = append(out, question{
			object: p.object,
			query:  soql.Select(columns...).From(p.object).Where(isOneOf(p.field, kind, keys)),
			none: func() {
				for k := range asked {
					r.base.put(k, target{})
				}
			},
			take: func(rec salesforce.Record) {
				k := newTargetKey(p.object, p.field, object.fold(p.field, rec.String(p.field)))
				if asked[k] { // a field that is not unique is searched in any case, but matched exactly
					r.base.put(k, r.base.get(k).found(rec))
				}
			},
		})
	}
	return out
}

// found is the target with one more record that has its key.
func (t target) found(rec salesforce.Record) target {
	if t.exists {
		return target{exists: true, ambiguous: true}
	}
	t = target{exists: true, id: rec.ID(), values: map[string]any{}}
	for name, value := range rec {
		setValue(t.values, name, value)
	}
	return t
}

func newTargetKey(object, field, folded string) targetKey {
	return targetKey{object: strings.ToLower(object), field: strings.ToLower(field), key: folded}
}

// keyLists cuts the keys into lists that one query takes, in a stable order.
func keyLists(keys map[string]string) [][]string {
	var lists [][]string
	var list []string
	length := 0
	for _, folded := range slices.Sorted(maps.Keys(keys)) {
		n := len(keys[folded]) + 3
		if len(list) == maxKeys || length+n > maxKeyText && len(list) > 0 {
			lists, list, length = append(lists, list), nil, 0
		}
		list, length = append(list, folded), length+n
	}
	if len(list) > 0 {
		lists = append(lists, list)
	}
	return lists
}

// askable leaves out what can't be the value of a key field: a number field is
// asked for whole numbers only. Salesforce refuses the others when they are
// written.
func askable(keys map[string]string, kind string) map[string]string {
	if !salesforce.IsNumber(kind) {
		return keys
	}
	whole := maps.Clone(keys)
	maps.DeleteFunc(whole, func(folded, _ string) bool {
		_, err := strconv.ParseInt(folded, 10, 64)
		return err != nil
	})
	return whole
}

// isOneOf is the condition that a key field has one of the values.
func isOneOf(field, kind string, keys []string) soql.Cond {
	if !salesforce.IsNumber(kind) {
		return soql.In(field, keys)
	}
	any := make([]soql.Cond, len(keys))
	for i, k := range keys {
		any[i] = soql.Eq(field, json.Number(k))
	}
	return soql.Or(any...)
}
