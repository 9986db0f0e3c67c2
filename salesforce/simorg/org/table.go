package org

import (
	"slices"
	"strings"
	"sync/atomic"

	"github.com/shopspring/decimal"

	"sfbridge/salesforce/simorg/formula"
	"sfbridge/salesforce/simorg/schema"
)

// table holds the committed rows of one object. Org.mu guards it, but for the
// counters.
type table struct {
	obj   *schema.Object
	rules []compiledRule

	list    []schema.Row   // in the order of creation; nil: deleted
	place   map[string]int // id to position in list
	deleted map[string]struct{}
	indexes []*index // by slot; nil: not indexed

	uniques    []*schema.Field // unique fields
	externals  []*schema.Field // external IDs
	references []*schema.Field // lookups and master-details
	autos      []*schema.Field // auto numbers

	next atomic.Uint64 // last id and auto number given
	aud  audit
}

type compiledRule struct {
	schema.Rule
	formula *formula.Formula
}

// index finds the ids of the rows that have a value.
type index struct {
	field *schema.Field
	one   map[string]string              // unique field
	many  map[string]map[string]struct{} // any other
}

func newTable(obj *schema.Object) *table {
	t := &table{obj: obj}
	for _, f := range obj.Fields {
		if f.Unique {
			t.uniques = append(t.uniques, f)
		}
		if f.ExternalID {
			t.externals = append(t.externals, f)
		}
		if f.IsReference() {
			t.references = append(t.references, f)
		}
		if f.Type == schema.AutoNumber {
			t.autos = append(t.autos, f)
		}
	}
	slot := func(name string) int {
		if f := obj.Field(name); f != nil {
			return f.Slot
		}
		return -1
	}
	t.aud = audit{slot("CreatedDate"), slot("CreatedById"), slot("LastModifiedDate"), slot("LastModifiedById"),
		slot("SystemModstamp"), slot("OwnerId"), slot("Name"),
		slot("FirstName"), slot("LastName")}
	t.clear()
	return t
}

func (t *table) clear() {
	t.list, t.place, t.deleted = nil, map[string]int{}, map[string]struct{}{}
	t.indexes = make([]*index, len(t.obj.Fields))
	for _, f := range t.obj.Fields {
		if !f.Indexed() || f.Slot == schema.SlotID || namesUser(f) {
			continue
		}
		ix := &index{field: f}
		if f.Unique {
			ix.one = map[string]string{}
		} else {
			ix.many = map[string]map[string]struct{}{}
		}
		t.indexes[f.Slot] = ix
	}
	t.next.Store(0)
}

// namesUser tells owner and audit fields: with one user they hold the same
// value in all rows, so an index would cost much and find nothing.
func namesUser(f *schema.Field) bool { return !f.Custom && slices.Contains(f.ReferenceTo, "User") }

// indexKey is the form of a value in an index; ok is false for null.
func indexKey(f *schema.Field, v any) (key string, ok bool) {
	switch v := v.(type) {
	case string:
		return f.Fold(v), true
	case decimal.Decimal:
		return numberKey(v), true
	}
	return "", false
}

// numberKey is one text for all spellings of a number.
func numberKey(d decimal.Decimal) string {
	s := d.String()
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

func (t *table) get(id string) schema.Row {
	if at, ok := t.place[id]; ok {
		return t.list[at]
	}
	return nil
}

func (t *table) scan(visit func(schema.Row) bool) bool {
	for _, row := range t.list {
		if row != nil && !visit(row) {
			return false
		}
	}
	return true
}

// lookup visits the rows whose indexed field has the key.
func (t *table) lookup(f *schema.Field, key string, visit func(schema.Row) bool) bool {
	ix := t.indexes[f.Slot]
	switch {
	case ix == nil:
		return t.scan(func(row schema.Row) bool {
			k, ok := indexKey(f, row[f.Slot])
			return !ok || k != key || visit(row)
		})
	case ix.one != nil:
		id, ok := ix.one[key]
		return !ok || visit(t.get(id))
	}
	for id := range ix.many[key] {
		if !visit(t.get(id)) {
			return false
		}
	}
	return true
}

// put inserts or replaces a row.
func (t *table) put(row schema.Row) {
	id := row.ID()
	at, exists := t.place[id]
	var old schema.Row
	if exists {
		old = t.list[at]
		t.list[at] = row
	} else {
		t.place[id] = len(t.list)
		t.list = append(t.list, row)
	}
	for _, ix := range t.indexes {
		if ix != nil {
			ix.move(id, old, row)
		}
	}
}

func (t *table) remove(id string) {
	at, ok := t.place[id]
	if !ok {
		return
	}
	old := t.list[at]
	t.list[at] = nil
	delete(t.place, id)
	t.deleted[id] = struct{}{}
	for _, ix := range t.indexes {
		if ix != nil {
			ix.move(id, old, nil)
		}
	}
	t.compact()
}

// compact drops the places of deleted rows once they are the greater part.
func (t *table) compact() {
	if len(t.list) < 1024 || len(t.place)*2 > len(t.list) {
		return
	}
	kept := make([]schema.Row, 0, len(t.place))
	for _, row := range t.list {
		if row != nil {
			t.place[row.ID()] = len(kept)
			kept = append(kept, row)
		}
	}
	t.list = kept
}

func (ix *index) move(id string, old, row schema.Row) {
	var from, to string
	var had, has bool
	if old != nil {
		from, had = indexKey(ix.field, old[ix.field.Slot])
	}
	if row != nil {
		to, has = indexKey(ix.field, row[ix.field.Slot])
	}
	if had == has && from == to {
		return
	}
	if had {
		ix.drop(id, from)
	}
	if has {
		ix.add(id, to)
	}
}

func (ix *index) add(id, key string) {
	if ix.one != nil {
		ix.one[key] = id
		return
	}
	set := ix.many[key]
	if set == nil {
		set = map[string]struct{}{}
		ix.many[key] = set
	}
	set[id] = struct{}{}
}

// drop takes an entry out, unless another row has taken the value in the same
// transaction.
func (ix *index) drop(id, key string) {
	if ix.one != nil {
		if ix.one[key] == id {
			delete(ix.one, key)
		}
		return
	}
	set := ix.many[key]
	delete(set, id)
	if len(set) == 0 {
		delete(ix.many, key)
	}
}
