package formula

import (
	"strings"

	"github.com/shopspring/decimal"

	"sfbridge/salesforce/simorg/schema"
)

// maxDepth bounds the nesting of a formula.
const maxDepth = 200

// node is a compiled piece of a formula with what the checks of its
// surroundings need to know.
type node struct {
	kind  kind
	eval  func(*run) any
	field *schema.Field // of a bare field reference
	text  *string       // of a text literal
	pos   int
}

// parser compiles while it reads: one token of look-ahead, one function per
// level of precedence.
type parser struct {
	src   string
	off   int
	tok   token
	obj   *schema.Object
	depth int
}

func (p *parser) advance() (err error) {
	p.tok, err = p.next()
	return err
}

func (p *parser) isOp(ops ...string) bool {
	if p.tok.kind != tokOp {
		return false
	}
	for _, op := range ops {
		if p.tok.text == op {
			return true
		}
	}
	return false
}

func (p *parser) expect(op string) error {
	if !p.isOp(op) {
		return failf(p.tok.pos, "Syntax error. Missing '%s'", op)
	}
	return p.advance()
}

// formula reads the whole source.
func (p *parser) formula() (*node, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	n, err := p.expression(0)
	if err != nil {
		return nil, err
	}
	if p.tok.kind != tokEnd {
		return nil, failf(p.tok.pos, "Syntax error. Extra '%s'", p.tok.text)
	}
	if n.kind != boolean {
		return nil, failf(n.pos, "Formula result is data type (%s), incompatible with expected data type (true or false).", n.kind)
	}
	return n, nil
}

// The binary operators by rising precedence.
var levels = [][]string{
	{"||"},
	{"&&"},
	{"=", "==", "<>", "!="},
	{"<", "<=", ">", ">="},
	{"+", "-", "&"},
	{"*", "/"},
}

func (p *parser) expression(level int) (*node, error) {
	if level == len(levels) {
		return p.unary()
	}
	left, err := p.expression(level + 1)
	for err == nil && p.isOp(levels[level]...) {
		op := p.tok
		if err = p.advance(); err != nil {
			break
		}
		var right *node
		if right, err = p.expression(level + 1); err != nil {
			break
		}
		left, err = binary(op, left, right)
	}
	return left, err
}

func (p *parser) unary() (*node, error) {
	if !p.isOp("!", "-", "+") {
		return p.primary()
	}
	op := p.tok
	if err := p.enter(op.pos); err != nil {
		return nil, err
	}
	defer p.leave()
	if err := p.advance(); err != nil {
		return nil, err
	}
	n, err := p.unary()
	if err != nil {
		return nil, err
	}
	want := number
	if op.text == "!" {
		want = boolean
	}
	if n.kind != want {
		return nil, failf(op.pos, "Incorrect parameter type for operator '%s'. Expected %s, received %s", op.text, want, n.kind)
	}
	switch op.text {
	case "!":
		return not(n), nil
	case "-":
		return negate(n), nil
	}
	return &node{kind: number, eval: n.eval, pos: op.pos}, nil
}

func (p *parser) enter(pos int) error {
	if p.depth++; p.depth > maxDepth {
		return failf(pos, "Formula is too complex: nested more than %d deep", maxDepth)
	}
	return nil
}

func (p *parser) leave() { p.depth-- }

func (p *parser) primary() (*node, error) {
	t := p.tok
	if err := p.enter(t.pos); err != nil {
		return nil, err
	}
	defer p.leave()
	if err := p.advance(); err != nil {
		return nil, err
	}
	switch {
	case t.kind == tokString:
		return textLiteral(t), nil
	case t.kind == tokNumber:
		d, err := decimal.NewFromString(t.text)
		if err != nil {
			return nil, failf(t.pos, "Syntax error. '%s' is no number", t.text)
		}
		return constant(number, d, t.pos), nil
	case t.kind == tokName && p.isOp("("):
		return p.call(t)
	case t.kind == tokName:
		return p.name(t)
	case t.kind == tokOp && t.text == "(":
		n, err := p.expression(0)
		if err != nil {
			return nil, err
		}
		inner := *n
		inner.pos = t.pos
		return &inner, p.expect(")")
	case t.kind == tokEnd:
		return nil, failf(t.pos, "Syntax error. Found end of formula")
	}
	return nil, failf(t.pos, "Syntax error. Found '%s'", t.text)
}

func constant(k kind, v any, pos int) *node {
	return &node{kind: k, eval: func(*run) any { return v }, pos: pos}
}

func textLiteral(t token) *node {
	n := constant(text, t.text, t.pos)
	n.text = &t.text
	return n
}

// name reads a literal word or a field.
func (p *parser) name(t token) (*node, error) {
	switch strings.ToLower(t.text) {
	case "true":
		return constant(boolean, true, t.pos), nil
	case "false":
		return constant(boolean, false, t.pos), nil
	case "null":
		return constant(null, nil, t.pos), nil
	}
	if strings.ContainsAny(t.text, ".$") {
		return nil, failf(t.pos, "Field %s: global variables and fields of other objects are not simulated", t.text)
	}
	f := p.obj.Field(t.text)
	if f == nil {
		return nil, failf(t.pos, "Field %s does not exist. Check spelling.", t.text)
	}
	if f.Type.Long() {
		return nil, failf(t.pos, "You can't use the long text area field %s in a formula.", f.Name)
	}
	slot := f.Slot
	return &node{kind: kindOf(f), field: f, pos: t.pos, eval: func(r *run) any { return r.New[slot] }}, nil
}

// call reads a function with its arguments.
func (p *parser) call(name token) (*node, error) {
	fn, ok := functions[strings.ToUpper(name.text)]
	if !ok {
		return nil, failf(name.pos, "Unknown function %s. Check spelling.", strings.ToUpper(name.text))
	}
	args, err := p.arguments()
	if err != nil {
		return nil, err
	}
	c := &call{name: strings.ToUpper(name.text), pos: name.pos, args: args}
	if len(args) < fn.min || fn.max >= 0 && len(args) > fn.max {
		want := fn.min
		if fn.max >= 0 && len(args) > fn.max {
			want = fn.max
		}
		return nil, failf(name.pos, "Incorrect number of parameters for function '%s()'. Expected %d, received %d", c.name, want, len(args))
	}
	n, err := fn.compile(c)
	if err != nil {
		return nil, err
	}
	n.pos = name.pos
	return n, nil
}

func (p *parser) arguments() ([]*node, error) {
	if err := p.expect("("); err != nil {
		return nil, err
	}
	var args []*node
	if p.isOp(")") {
		return nil, p.advance()
	}
	for {
		arg, err := p.expression(0)
		if err != nil {
			return nil, err
		}
		args = append(args, arg)
		if p.isOp(")") {
			return args, p.advance()
		}
		if err := p.expect(","); err != nil {
			return nil, err
		}
	}
}
