package soql

import (
	"context"

	"sfbridge/salesforce/simorg/schema"
)

// checkEvery is how many rows are read between two looks at the context.
const checkEvery = 4096

// each visits the matching rows until visit returns false.
func (q *Query) each(ctx context.Context, src Source, visit func(schema.Row) bool) error {
	read := 0
	step := func(row schema.Row) bool {
		if read++; read%checkEvery == 0 && ctx.Err() != nil {
			return false
		}
		if q.where != nil && !q.where.match(src, row) {
			return true
		}
		return visit(row)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if q.access == nil {
		src.Scan(q.Object, step)
		return ctx.Err()
	}
	if len(q.access.lookups) > 1 {
		step = once(step)
	}
	more := true
	for _, l := range q.access.lookups {
		src.Lookup(l.field, l.values, func(row schema.Row) bool {
			more = step(row)
			return more
		})
		if !more {
			break
		}
	}
	return ctx.Err()
}

// once keeps a row that several indexes find from being visited twice.
func once(visit func(schema.Row) bool) func(schema.Row) bool {
	seen := map[string]struct{}{}
	return func(row schema.Row) bool {
		if _, again := seen[row.ID()]; again {
			return true
		}
		seen[row.ID()] = struct{}{}
		return visit(row)
	}
}

// rows returns the rows of the answer in order.
func (q *Query) rows(ctx context.Context, src Source) ([]schema.Row, error) {
	want := -1
	if q.limit >= 0 {
		want = q.offset + q.limit
	}
	if q.limit == 0 {
		return nil, ctx.Err()
	}
	var rows []schema.Row
	var err error
	if len(q.order) > 0 {
		r := &ranking{keys: q.order, max: want}
		err = q.each(ctx, src, func(row schema.Row) bool {
			r.add(src, row)
			return true
		})
		rows = r.sorted()
	} else {
		err = q.each(ctx, src, func(row schema.Row) bool {
			rows = append(rows, row)
			return len(rows) != want
		})
	}
	return rows[min(q.offset, len(rows)):], err
}
