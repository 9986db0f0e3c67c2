package formula

import (
	"time"

	"github.com/shopspring/decimal"
)

// call is a function as it stands in a formula.
type call struct {
	name string
	pos  int
	args []*node
}

// function is one function of the language; max < 0: no upper bound.
type function struct {
	min, max int
	compile  func(*call) (*node, error)
}

var functions = map[string]function{
	"AND": {1, -1, logicalCall(conjunction)},
	"OR":  {1, -1, logicalCall(disjunction)},
	"NOT": {1, 1, logicalCall(func(a []*node) *node { return not(a[0]) })},
	"IF":  {3, 3, compileIf}, "CASE": {4, -1, compileCase},

	"ISBLANK":    {1, 1, compileIsBlank(isBlank)},
	"ISNULL":     {1, 1, compileIsBlank(func(v any) bool { return v == nil })},
	"BLANKVALUE": {2, 2, compileBlankValue}, "NULLVALUE": {2, 2, compileBlankValue},

	"ISNEW":     {0, 0, simple(boolean, func(r *run) any { return r.IsNew })},
	"ISCHANGED": {1, 1, compileIsChanged}, "PRIORVALUE": {1, 1, compilePriorValue},

	"NOW":       {0, 0, simple(dateTime, func(r *run) any { return r.Now.UTC() })},
	"TODAY":     {0, 0, simple(date, func(r *run) any { return midnight(r.Now) })},
	"DATEVALUE": {1, 1, compileDateValue},

	"ISPICKVAL": {2, 2, compileIsPickVal}, "INCLUDES": {2, 2, compileIncludes},

	"TEXT": {1, 1, compileText}, "VALUE": {1, 1, compileValue},
	"LEN":   {1, 1, typed(number, length, text)},
	"UPPER": {1, 1, typed(text, upper, text)}, "LOWER": {1, 1, typed(text, lower, text)},
	"TRIM": {1, 1, typed(text, trim, text)},
	"LEFT": {2, 2, typed(text, left, text, number)}, "RIGHT": {2, 2, typed(text, right, text, number)},
	"BEGINS": {2, 2, typed(boolean, begins, text, text)}, "CONTAINS": {2, 2, typed(boolean, contains, text, text)},

	"ABS": {1, 1, typed(number, abs, number)}, "MOD": {2, 2, typed(number, mod, number, number)},
	"MAX": {1, -1, extreme(func(c int) bool { return c > 0 })},
	"MIN": {1, -1, extreme(func(c int) bool { return c < 0 })},
}

func (c *call) wrong(n *node, want string) error {
	if err := refusePicklist(n); err != nil {
		return err
	}
	return failf(n.pos, "Incorrect parameter type for function '%s()'. Expected %s, received %s", c.name, want, n.kind)
}

func simple(k kind, eval func(*run) any) func(*call) (*node, error) {
	return func(*call) (*node, error) { return &node{kind: k, eval: eval}, nil }
}

// typed makes a function of fixed argument types that works on values.
func typed(result kind, apply func(r *run, a []any) any, want ...kind) func(*call) (*node, error) {
	return func(c *call) (*node, error) {
		for i, n := range c.args {
			if n.kind != want[i] {
				return nil, c.wrong(n, want[i].String())
			}
		}
		args := c.args
		return &node{kind: result, eval: func(r *run) any {
			var values [2]any
			for i, n := range args {
				values[i] = n.eval(r)
			}
			return apply(r, values[:len(args)])
		}}, nil
	}
}

func logicalCall(join func([]*node) *node) func(*call) (*node, error) {
	return func(c *call) (*node, error) {
		for _, n := range c.args {
			if n.kind != boolean {
				return nil, c.wrong(n, "Boolean")
			}
		}
		return join(c.args), nil
	}
}

// common finds the one type of alternatives; null fits any.
func (c *call) common(alternatives ...*node) (kind, error) {
	k := null
	for _, n := range alternatives {
		switch {
		case n.kind == picklist || n.kind == multi:
			return null, refusePicklist(n)
		case k == null:
			k = n.kind
		case n.kind != k && n.kind != null:
			return null, c.wrong(n, k.String())
		}
	}
	return k, nil
}

func compileIf(c *call) (*node, error) {
	cond, then, otherwise := c.args[0], c.args[1], c.args[2]
	if cond.kind != boolean {
		return nil, c.wrong(cond, "Boolean")
	}
	k, err := c.common(then, otherwise)
	if err != nil {
		return nil, err
	}
	return &node{kind: k, eval: func(r *run) any {
		if cond.eval(r) == true {
			return then.eval(r)
		}
		return otherwise.eval(r)
	}}, nil
}

// compileCase reads CASE(expression, value, result, ..., else).
func compileCase(c *call) (*node, error) {
	if len(c.args)%2 != 0 {
		return nil, failf(c.pos, "Incorrect number of parameters for function 'CASE()'. Expected %d, received %d", len(c.args)+1, len(c.args))
	}
	subject, rest := c.args[0], c.args[1:]
	want := subject.kind
	if want == picklist {
		want = text
	}
	if want == boolean || want == multi || want == null {
		return nil, c.wrong(subject, "Text, Number, Date, DateTime, Picklist")
	}
	last := rest[len(rest)-1]
	results := []*node{last}
	for i := 0; i+1 < len(rest); i += 2 {
		if rest[i].kind != want && rest[i].kind != null {
			return nil, c.wrong(rest[i], want.String())
		}
		results = append(results, rest[i+1])
	}
	k, err := c.common(results...)
	if err != nil {
		return nil, err
	}
	return &node{kind: k, eval: func(r *run) any {
		v := subject.eval(r)
		for i := 0; i+1 < len(rest); i += 2 {
			if equal(v, rest[i].eval(r)) {
				return rest[i+1].eval(r)
			}
		}
		return last.eval(r)
	}}, nil
}

func midnight(t time.Time) time.Time {
	y, m, d := t.UTC().Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

func compileDateValue(c *call) (*node, error) {
	n := c.args[0]
	if n.kind != dateTime {
		return nil, c.wrong(n, "DateTime")
	}
	return &node{kind: date, eval: func(r *run) any {
		t, ok := n.eval(r).(time.Time)
		if !ok {
			return nil
		}
		return midnight(t)
	}}, nil
}

// extreme makes MAX and MIN.
func extreme(better func(cmp int) bool) func(*call) (*node, error) {
	return func(c *call) (*node, error) {
		for _, n := range c.args {
			if n.kind != number {
				return nil, c.wrong(n, "Number")
			}
		}
		return &node{kind: number, eval: func(r *run) any {
			var best any
			for _, n := range c.args {
				d, ok := n.eval(r).(decimal.Decimal)
				if !ok {
					return nil
				}
				if best == nil || better(d.Cmp(best.(decimal.Decimal))) {
					best = d
				}
			}
			return best
		}}, nil
	}
}
