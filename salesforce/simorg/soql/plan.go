package soql

import (
	"github.com/shopspring/decimal"

	"sfbridge/salesforce/simorg/schema"
)

// access is a way to find a superset of the rows by index.
type access struct {
	lookups []lookup
	rank    int // how few rows a value is likely to have: smaller is better
	size    int // values looked up
}

type lookup struct {
	field  *schema.Field
	values []any
}

// Ranks of indexes.
const (
	byID = iota
	byUnique
	byMany
)

func (a *access) betterThan(b *access) bool {
	if b == nil {
		return a != nil
	}
	return a != nil && (a.rank < b.rank || a.rank == b.rank && a.size < b.size)
}

// access of a conjunction is its best term's.
func (fs allOf) access() *access {
	var best *access
	for _, f := range fs {
		if a := f.access(); a.betterThan(best) {
			best = a
		}
	}
	return best
}

// access of a disjunction joins those of all terms.
func (fs anyOf) access() *access {
	all := &access{}
	for _, f := range fs {
		a := f.access()
		if a == nil {
			return nil
		}
		all.lookups = append(all.lookups, a.lookups...)
		all.rank = max(all.rank, a.rank)
		all.size += a.size
	}
	return all
}

func (noneOf) access() *access { return nil }

func (t *test) access() *access {
	f := t.column.field
	if len(t.column.parents) > 0 || !f.Indexed() || t.op != "=" && t.op != "IN" {
		return nil
	}
	l := lookup{field: f}
	seen := map[string]bool{}
	for _, v := range t.values {
		if v == nil {
			return nil // nulls are in no index
		}
		key, ok := v.(string)
		if d, isNumber := v.(decimal.Decimal); isNumber {
			key, ok = d.String(), true
		}
		if !ok {
			return nil
		}
		if !seen[key] {
			seen[key] = true
			l.values = append(l.values, v)
		}
	}
	a := &access{lookups: []lookup{l}, rank: byMany, size: len(l.values)}
	switch {
	case f.Type == schema.ID:
		a.rank = byID
	case f.Unique:
		a.rank = byUnique
	}
	return a
}
