package soql

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"sfbridge/salesforce/simorg/schema"
)

// measure is one bound column of an aggregate query: a grouped field, or a
// function over the rows of a group.
type measure struct {
	group    int // which of the grouped fields; -1: function
	function string
	column   *column // nil for COUNT()
}

// accumulator gathers one function over the rows of a group.
type accumulator struct {
	count int64
	sum   decimal.Decimal
	best  any
	seen  map[string]struct{}
}

// aggregates holds the functions by name: how a value that is not null is
// taken in, and what comes out.
var aggregates = map[string]struct {
	add    func(*accumulator, any, bool)
	result func(*accumulator) any
}{
	"COUNT": {func(*accumulator, any, bool) {}, func(a *accumulator) any { return decimal.NewFromInt(a.count) }},
	"COUNT_DISTINCT": {func(a *accumulator, v any, fold bool) {
		if a.seen == nil {
			a.seen = map[string]struct{}{}
		}
		a.seen[valueKey(v, fold)] = struct{}{}
	}, func(a *accumulator) any { return decimal.NewFromInt(int64(len(a.seen))) }},
	"SUM": {addUp, func(a *accumulator) any { return a.orNil(a.sum) }},
	"AVG": {addUp, func(a *accumulator) any {
		if a.count == 0 {
			return nil
		}
		return a.sum.DivRound(decimal.NewFromInt(a.count), 18)
	}},
	"MIN": {keep(-1), func(a *accumulator) any { return a.best }},
	"MAX": {keep(1), func(a *accumulator) any { return a.best }},
}

func addUp(a *accumulator, v any, _ bool) { a.sum = a.sum.Add(v.(decimal.Decimal)) }

func (a *accumulator) orNil(v any) any {
	if a.count == 0 {
		return nil
	}
	return v
}

// keep holds on to the greatest (sign 1) or least (-1) value.
func keep(sign int) func(*accumulator, any, bool) {
	return func(a *accumulator, v any, fold bool) {
		if a.best == nil || compareValues(v, a.best, fold)*sign > 0 {
			a.best = v
		}
	}
}

// valueKey names a value so that equal ones have one key.
func valueKey(v any, fold bool) string {
	switch x := v.(type) {
	case nil:
		return "n"
	case string:
		if fold {
			return "s" + strings.ToLower(x)
		}
		return "s" + x
	case decimal.Decimal:
		return "d" + x.String()
	case time.Time:
		return "t" + x.Format(time.RFC3339Nano)
	}
	return fmt.Sprintf("b%v", v)
}

// group is one row of an aggregate answer in the making.
type group struct {
	values []any
	cells  []accumulator
}

// aggregate runs an aggregate query.
func (q *Query) aggregate(ctx context.Context, src Source) (*Result, error) {
	byKey := map[string]*group{}
	var groups []*group
	if len(q.groups) == 0 { // without GROUP BY there is one row, even over nothing
		groups = []*group{{cells: make([]accumulator, len(q.measure))}}
		byKey[""] = groups[0]
	}
	err := q.each(ctx, src, func(row schema.Row) bool {
		values, key := q.groupOf(src, row)
		g := byKey[key]
		if g == nil {
			g = &group{values: values, cells: make([]accumulator, len(q.measure))}
			byKey[key], groups = g, append(groups, g)
		}
		q.gather(src, row, g)
		return true
	})
	if err != nil {
		return nil, err
	}
	rows := make([][]any, len(groups))
	for i, g := range groups {
		rows[i] = q.cells(g)
	}
	slices.SortStableFunc(rows, func(a, b []any) int {
		for i := range q.order {
			k := &q.order[i]
			if c := k.compare(a[k.aggregate], b[k.aggregate]); c != 0 {
				return c
			}
		}
		return 0
	})
	rows = rows[min(q.offset, len(rows)):]
	if q.limit >= 0 {
		rows = rows[:min(q.limit, len(rows))]
	}
	return &Result{Total: len(rows), Aggregates: rows}, nil
}

func (q *Query) groupOf(src Source, row schema.Row) (values []any, key string) {
	if len(q.groups) == 0 {
		return nil, ""
	}
	var b strings.Builder
	for _, c := range q.groups {
		v := c.get(src, row)
		values = append(values, v)
		k := valueKey(v, !c.field.ExactCase())
		fmt.Fprintf(&b, "%d:%s", len(k), k)
	}
	return values, b.String()
}

// gather takes a row into a group.
func (q *Query) gather(src Source, row schema.Row, g *group) {
	for i := range q.measure {
		m := &q.measure[i]
		switch {
		case m.group >= 0:
		case m.column == nil:
			g.cells[i].count++
		default:
			if v := m.column.get(src, row); v != nil {
				g.cells[i].count++
				aggregates[m.function].add(&g.cells[i], v, !m.column.field.ExactCase())
			}
		}
	}
}

// cells gives the finished row of a group.
func (q *Query) cells(g *group) []any {
	row := make([]any, len(q.measure))
	for i, m := range q.measure {
		if m.group >= 0 {
			row[i] = g.values[m.group]
		} else {
			row[i] = aggregates[m.function].result(&g.cells[i])
		}
	}
	return row
}
