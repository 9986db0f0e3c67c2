package formula

import (
	"time"

	"github.com/shopspring/decimal"

	"sfbridge/salesforce/simorg/schema"
)

// kind is the type of an expression.
type kind int

const (
	text kind = iota
	number
	boolean
	date
	dateTime
	picklist
	multi // multi-select picklist
	null  // the literal null, which fits any type
)

func (k kind) String() string {
	return [...]string{"Text", "Number", "Boolean", "Date", "DateTime", "Picklist", "MultiPicklist", "Null"}[k]
}

func kindOf(f *schema.Field) kind {
	switch f.Kind() {
	case schema.KindNumber:
		return number
	case schema.KindBool:
		return boolean
	case schema.KindDate:
		return date
	case schema.KindDateTime:
		return dateTime
	case schema.KindPicklist:
		if f.Type == schema.MultiPicklist {
			return multi
		}
		return picklist
	}
	return text
}

// refusePicklist gives Salesforce's answer to a picklist where it can't be.
func refusePicklist(n *node) error {
	if n.kind != picklist && n.kind != multi {
		return nil
	}
	name := "The expression"
	if n.field != nil {
		name = "Field " + n.field.Name
	}
	return failf(n.pos, "%s is a picklist field. Picklist fields are only supported in certain functions.", name)
}

func asText(v any) string {
	s, _ := v.(string)
	return s
}

func isBlank(v any) bool { return v == nil || v == "" }

// equal compares two values of one type; two blanks are equal.
func equal(a, b any) bool {
	if isBlank(a) || isBlank(b) {
		return isBlank(a) && isBlank(b)
	}
	switch x := a.(type) {
	case decimal.Decimal:
		y, ok := b.(decimal.Decimal)
		return ok && x.Equal(y)
	case time.Time:
		y, ok := b.(time.Time)
		return ok && x.Equal(y)
	}
	return a == b
}

// order compares two numbers or times; ok is false when one is blank.
func order(a, b any) (cmp int, ok bool) {
	switch x := a.(type) {
	case decimal.Decimal:
		if y, ok := b.(decimal.Decimal); ok {
			return x.Cmp(y), true
		}
	case time.Time:
		if y, ok := b.(time.Time); ok {
			return x.Compare(y), true
		}
	}
	return 0, false
}

func not(n *node) *node {
	return &node{kind: boolean, pos: n.pos, eval: func(r *run) any { return n.eval(r) != true }}
}

func negate(n *node) *node {
	return &node{kind: number, pos: n.pos, eval: func(r *run) any {
		d, ok := n.eval(r).(decimal.Decimal)
		if !ok {
			return nil
		}
		return d.Neg()
	}}
}

func binary(op token, l, r *node) (*node, error) {
	for _, n := range []*node{l, r} {
		if err := refusePicklist(n); err != nil {
			return nil, err
		}
	}
	var n *node
	var err error
	switch op.text {
	case "&&", "||":
		n, err = logical(op, l, r)
	case "=", "==", "<>", "!=":
		n, err = equality(op, l, r)
	case "<", "<=", ">", ">=":
		n, err = ordering(op, l, r)
	default:
		n, err = arithmetic(op, l, r)
	}
	if err != nil {
		return nil, err
	}
	n.pos = l.pos
	return n, nil
}

func wrongOperand(op token, want string, n *node) error {
	return failf(op.pos, "Incorrect parameter type for operator '%s'. Expected %s, received %s", op.text, want, n.kind)
}

func logical(op token, l, r *node) (*node, error) {
	for _, n := range []*node{l, r} {
		if n.kind != boolean {
			return nil, wrongOperand(op, "Boolean", n)
		}
	}
	if op.text == "&&" {
		return conjunction([]*node{l, r}), nil
	}
	return disjunction([]*node{l, r}), nil
}

func conjunction(args []*node) *node {
	return &node{kind: boolean, eval: func(r *run) any {
		for _, a := range args {
			if a.eval(r) != true {
				return false
			}
		}
		return true
	}}
}

func disjunction(args []*node) *node {
	return &node{kind: boolean, eval: func(r *run) any {
		for _, a := range args {
			if a.eval(r) == true {
				return true
			}
		}
		return false
	}}
}

func equality(op token, l, r *node) (*node, error) {
	if l.kind != r.kind && l.kind != null && r.kind != null {
		return nil, wrongOperand(op, l.kind.String(), r)
	}
	want := op.text == "=" || op.text == "=="
	return &node{kind: boolean, eval: func(run *run) any {
		return equal(l.eval(run), r.eval(run)) == want
	}}, nil
}

func ordering(op token, l, r *node) (*node, error) {
	if l.kind != number && l.kind != date && l.kind != dateTime {
		return nil, wrongOperand(op, "Number, Date, DateTime", l)
	}
	if l.kind != r.kind {
		return nil, wrongOperand(op, l.kind.String(), r)
	}
	holds := map[string]func(int) bool{
		"<":  func(c int) bool { return c < 0 },
		"<=": func(c int) bool { return c <= 0 },
		">":  func(c int) bool { return c > 0 },
		">=": func(c int) bool { return c >= 0 },
	}[op.text]
	return &node{kind: boolean, eval: func(run *run) any {
		c, ok := order(l.eval(run), r.eval(run))
		return ok && holds(c)
	}}, nil
}
