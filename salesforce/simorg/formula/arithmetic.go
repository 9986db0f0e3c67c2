package formula

import (
	"time"

	"github.com/shopspring/decimal"
)

const quotientDigits = 18

var msPerDay = decimal.New(24*60*60*1000, 0)

func arithmetic(op token, l, r *node) (*node, error) {
	switch {
	case l.kind == text && r.kind == text && (op.text == "&" || op.text == "+"):
		return &node{kind: text, eval: func(run *run) any { return asText(l.eval(run)) + asText(r.eval(run)) }}, nil
	case op.text == "&":
		if l.kind == text {
			return nil, wrongOperand(op, "Text", r)
		}
		return nil, wrongOperand(op, "Text", l)
	case l.kind == number && r.kind == number:
		return numeric(op, l, r), nil
	case (op.text == "+" || op.text == "-") && isTime(l) && r.kind == number:
		return shift(op, l, r), nil
	case op.text == "+" && l.kind == number && isTime(r):
		return shift(op, r, l), nil
	case op.text == "-" && isTime(l) && l.kind == r.kind:
		return difference(l, r), nil
	case l.kind == number || isTime(l):
		return nil, wrongOperand(op, "Number", r)
	}
	return nil, wrongOperand(op, "Number, Date, DateTime", l)
}

func isTime(n *node) bool { return n.kind == date || n.kind == dateTime }

func numeric(op token, l, r *node) *node {
	return &node{kind: number, eval: func(run *run) any {
		a, ok1 := l.eval(run).(decimal.Decimal)
		b, ok2 := r.eval(run).(decimal.Decimal)
		if !ok1 || !ok2 {
			return nil
		}
		switch op.text {
		case "+":
			return a.Add(b)
		case "-":
			return a.Sub(b)
		case "*":
			return a.Mul(b)
		}
		if b.IsZero() {
			return run.fail("division by zero")
		}
		return a.DivRound(b, quotientDigits)
	}}
}

// shift moves a date by whole days, a date-time by days and their fractions.
func shift(op token, at, days *node) *node {
	return &node{kind: at.kind, eval: func(run *run) any {
		t, ok1 := at.eval(run).(time.Time)
		d, ok2 := days.eval(run).(decimal.Decimal)
		if !ok1 || !ok2 {
			return nil
		}
		if op.text == "-" {
			d = d.Neg()
		}
		if at.kind == date {
			d = d.Truncate(0)
		}
		ms := d.Mul(msPerDay).Round(0)
		if !ms.BigInt().IsInt64() || ms.Abs().Cmp(maxShift) > 0 {
			return run.fail("a date out of range")
		}
		return t.Add(time.Duration(ms.IntPart()) * time.Millisecond)
	}}
}

// maxShift keeps a shift within what a time.Duration holds.
var maxShift = decimal.New(int64(1<<63-1)/int64(time.Millisecond), 0)

// difference gives the days between two times.
func difference(l, r *node) *node {
	return &node{kind: number, eval: func(run *run) any {
		a, ok1 := l.eval(run).(time.Time)
		b, ok2 := r.eval(run).(time.Time)
		if !ok1 || !ok2 {
			return nil
		}
		ms := decimal.New(a.UnixMilli()-b.UnixMilli(), 0)
		return ms.DivRound(msPerDay, quotientDigits)
	}}
}
