package soql

import (
	"container/heap"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"sfbridge/salesforce/simorg/schema"
)

// sortKey is one bound term of ORDER BY.
type sortKey struct {
	column     *column
	aggregate  int // column of an aggregate query; -1: column counts
	fold       bool
	descending bool
	nullsFirst bool
}

func (b *binder) sortKey(q *Query, term orderTerm) (sortKey, error) {
	key := sortKey{aggregate: -1, fold: true, descending: term.descending, nullsFirst: term.nullsFirst}
	if q.Columns != nil {
		return key, b.aggregateKey(q, term.column, &key)
	}
	c := term.column
	if c.function != "" {
		return key, errorAt(b.query, c.pos, MalformedQuery, "unexpected token: '('")
	}
	col, err := b.column(c.path)
	if err != nil {
		return key, err
	}
	key.column, key.fold = col, !col.field.ExactCase()
	if col.field.Type == schema.MultiPicklist {
		return key, errorAt(b.query, c.pos, InvalidField, "field '%s' can not be sorted in a query call", col.field.Name)
	}
	return key, b.usable(col, c.pos, "sorted")
}

// aggregateKey finds the column of an aggregate query that is sorted by: an
// alias, a grouped field or a function as selected.
func (b *binder) aggregateKey(q *Query, c selected, key *sortKey) error {
	for i, col := range q.Columns {
		if c.function == "" && strings.EqualFold(col.Name, c.path.text) {
			key.aggregate = i
			return nil
		}
	}
	m, err := b.measure(q, c)
	if err != nil {
		return err
	}
	for i, other := range q.measure {
		if other.function == m.function && other.group == m.group && (other.column == m.column || other.column != nil && m.column != nil && other.column.same(m.column)) {
			key.aggregate = i
			return nil
		}
	}
	return errorAt(b.query, c.pos, MalformedQuery, "Ordered field must be grouped or aggregated and selected: %s", c.path.text)
}

// compare orders two values by the key.
func (k *sortKey) compare(a, b any) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil || b == nil:
		if (a == nil) == k.nullsFirst {
			return -1
		}
		return 1
	}
	cmp := compareValues(a, b, k.fold)
	if k.descending {
		return -cmp
	}
	return cmp
}

func compareValues(a, b any, fold bool) int {
	switch x := a.(type) {
	case string:
		return compareText(x, b.(string), fold)
	case decimal.Decimal:
		return x.Cmp(b.(decimal.Decimal))
	case time.Time:
		return x.Compare(b.(time.Time))
	case bool:
		switch {
		case x == b.(bool):
			return 0
		case x:
			return 1
		}
	}
	return -1
}

// ranked is a row with the values it is sorted by; seq keeps the order stable.
type ranked struct {
	row  schema.Row
	keys []any
	seq  int
}

// ranking holds the first rows in order: all of them, or the best few on a
// heap whose top is the worst.
type ranking struct {
	keys []sortKey
	max  int // -1: all
	rows []ranked
	seq  int
	tmp  []any
}

func (r *ranking) compare(a, b *ranked) int {
	for i := range r.keys {
		if c := r.keys[i].compare(a.keys[i], b.keys[i]); c != 0 {
			return c
		}
	}
	return a.seq - b.seq
}

func (r *ranking) Len() int           { return len(r.rows) }
func (r *ranking) Less(i, j int) bool { return r.compare(&r.rows[i], &r.rows[j]) > 0 }
func (r *ranking) Swap(i, j int)      { r.rows[i], r.rows[j] = r.rows[j], r.rows[i] }
func (r *ranking) Push(x any)         { r.rows = append(r.rows, x.(ranked)) }
func (r *ranking) Pop() any           { panic("the heap is only ever replaced at its top") }

// add takes a row in if it is among the best so far.
func (r *ranking) add(src Source, row schema.Row) {
	if r.max == 0 {
		return
	}
	r.tmp = r.tmp[:0]
	for i := range r.keys {
		r.tmp = append(r.tmp, r.keys[i].column.get(src, row))
	}
	r.seq++
	entry := ranked{row: row, keys: r.tmp, seq: r.seq}
	full := r.max >= 0 && len(r.rows) == r.max
	if full && r.compare(&entry, &r.rows[0]) > 0 {
		return
	}
	entry.keys = slices.Clone(r.tmp)
	switch {
	case full:
		r.rows[0] = entry
		heap.Fix(r, 0)
	case r.max < 0:
		r.rows = append(r.rows, entry)
	default:
		heap.Push(r, entry)
	}
}

// sorted returns the rows in order.
func (r *ranking) sorted() []schema.Row {
	slices.SortFunc(r.rows, func(a, b ranked) int { return r.compare(&a, &b) })
	out := make([]schema.Row, len(r.rows))
	for i := range r.rows {
		out[i] = r.rows[i].row
	}
	return out
}
