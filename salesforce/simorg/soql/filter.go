package soql

import (
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"sfbridge/salesforce/simorg/schema"
)

// filter is a bound condition.
type filter interface {
	match(src Source, row schema.Row) bool
	// access says how the rows can be found by index; nil: only by a scan.
	access() *access
}

type allOf []filter

func (fs allOf) match(src Source, row schema.Row) bool {
	for _, f := range fs {
		if !f.match(src, row) {
			return false
		}
	}
	return true
}

type anyOf []filter

func (fs anyOf) match(src Source, row schema.Row) bool {
	for _, f := range fs {
		if f.match(src, row) {
			return true
		}
	}
	return false
}

type noneOf struct{ filter }

func (n noneOf) match(src Source, row schema.Row) bool { return !n.filter.match(src, row) }

// test compares one column.
type test struct {
	column *column
	op     string
	values []value // as bound; for the index
	holds  func(v any) bool
}

func (t *test) match(src Source, row schema.Row) bool { return t.holds(t.column.get(src, row)) }

func (b *binder) filter(e expr) (filter, error) {
	switch x := e.(type) {
	case *junction:
		var terms []filter
		for _, term := range x.terms {
			f, err := b.filter(term)
			if err != nil {
				return nil, err
			}
			terms = append(terms, f)
		}
		if x.or {
			return anyOf(terms), nil
		}
		return allOf(terms), nil
	case *negation:
		f, err := b.filter(x.term)
		return noneOf{f}, err
	}
	return b.test(e.(*comparison))
}

func (b *binder) test(c *comparison) (filter, error) {
	col, err := b.column(c.path)
	if err != nil {
		return nil, err
	}
	if err := b.usable(col, c.path.pos, "filtered"); err != nil {
		return nil, err
	}
	if err := b.operator(c, col.field); err != nil {
		return nil, err
	}
	t := &test{column: col, op: c.op}
	if c.op == "LIKE" {
		t.holds, err = b.like(col.field, c.values[0])
		return t, err
	}
	for _, l := range c.values {
		v, err := b.bindValue(col.field, l)
		if err != nil {
			return nil, err
		}
		t.values = append(t.values, v)
	}
	t.holds = holds(col.field, c.op, t.values)
	return t, nil
}

// operator refuses operators that the type of the field doesn't have.
func (b *binder) operator(c *comparison, f *schema.Field) error {
	kind := f.Kind()
	bad := false
	switch c.op {
	case "LIKE":
		bad = kind != schema.KindText && kind != schema.KindPicklist || f.Type == schema.MultiPicklist
	case "<", "<=", ">", ">=":
		bad = kind == schema.KindBool || f.IsReference() || f.Type == schema.MultiPicklist
	}
	if bad {
		return errorAt(b.query, c.opPos, InvalidOperator, "invalid operator on %s field", f.Type.SOAP())
	}
	return nil
}

func (b *binder) like(f *schema.Field, l literal) (func(any) bool, error) {
	if l.kind == tokName && strings.EqualFold(l.text, "null") {
		return func(v any) bool { return v == nil }, nil
	}
	if l.kind != tokString {
		return nil, b.wrongType(f, l)
	}
	p := compilePattern(l.like, !f.ExactCase())
	return func(v any) bool {
		s, ok := v.(string)
		return ok && p.match(s)
	}, nil
}

// holds makes the comparison of a stored value with bound ones.
func holds(f *schema.Field, op string, values []value) func(any) bool {
	switch op {
	case "=", "IN":
		return membership(f, values)
	case "!=", "NOT IN":
		in := membership(f, values)
		return func(v any) bool { return !in(v) }
	}
	fold, bound := !f.ExactCase(), values[0]
	if bound == nil {
		return func(any) bool { return false }
	}
	if s, ok := bound.(span); ok {
		return timeOrder(op, s)
	}
	return func(v any) bool {
		switch x := v.(type) {
		case string:
			return ordered(op, compareText(x, bound.(string), fold))
		case decimal.Decimal:
			return ordered(op, x.Cmp(bound.(decimal.Decimal)))
		}
		return false
	}
}

func ordered(op string, cmp int) bool {
	switch op {
	case "<":
		return cmp < 0
	case "<=":
		return cmp <= 0
	case ">":
		return cmp > 0
	}
	return cmp >= 0
}

// timeOrder compares with a span: before it, up to its end, and so on.
func timeOrder(op string, s span) func(any) bool {
	last := s.end
	if s.end.After(s.start) {
		last = s.end.Add(-1)
	}
	return func(v any) bool {
		t, ok := v.(time.Time)
		switch {
		case !ok:
			return false
		case op == "<":
			return t.Before(s.start)
		case op == ">=":
			return !t.Before(s.start)
		case op == "<=":
			return !t.After(last)
		}
		return t.After(last)
	}
}

// membership tells whether a value is one of the bound ones.
func membership(f *schema.Field, values []value) func(any) bool {
	null := false
	texts := &textSet{fold: !f.ExactCase(), values: map[string]struct{}{}}
	var others []value
	for _, v := range values {
		switch x := v.(type) {
		case nil:
			null = true
		case string:
			texts.values[x] = struct{}{}
		default:
			others = append(others, x)
		}
	}
	return func(v any) bool {
		switch x := v.(type) {
		case nil:
			return null
		case string:
			return texts.has(x)
		}
		for _, o := range others {
			if same(v, o) {
				return true
			}
		}
		return false
	}
}

func same(v any, bound value) bool {
	switch x := v.(type) {
	case decimal.Decimal:
		d, ok := bound.(decimal.Decimal)
		return ok && x.Equal(d)
	case time.Time:
		s, ok := bound.(span)
		return ok && (x.Equal(s.start) || x.After(s.start) && x.Before(s.end))
	}
	return v == bound
}
