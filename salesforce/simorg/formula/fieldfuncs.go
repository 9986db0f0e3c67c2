package formula

import (
	"slices"
	"strings"

	"sfbridge/salesforce/simorg/schema"
)

// compileIsBlank makes ISBLANK and ISNULL. Text is never null, only empty.
func compileIsBlank(blank func(any) bool) func(*call) (*node, error) {
	return func(c *call) (*node, error) {
		n := c.args[0]
		if err := refusePicklist(n); err != nil {
			return nil, err
		}
		if c.name == "ISNULL" && n.kind == text {
			return constant(boolean, false, n.pos), nil
		}
		return &node{kind: boolean, eval: func(r *run) any { return blank(n.eval(r)) }}, nil
	}
}

// compileBlankValue makes BLANKVALUE and NULLVALUE, which differ on text alone.
func compileBlankValue(c *call) (*node, error) {
	value, substitute := c.args[0], c.args[1]
	k, err := c.common(value, substitute)
	if err != nil {
		return nil, err
	}
	if c.name == "NULLVALUE" && value.kind == text {
		return &node{kind: text, eval: value.eval}, nil
	}
	return &node{kind: k, eval: func(r *run) any {
		if v := value.eval(r); !isBlank(v) {
			return v
		}
		return substitute.eval(r)
	}}, nil
}

// fieldOf returns the field an argument must be.
func (c *call) fieldOf(n *node) (*schema.Field, error) {
	if n.field == nil {
		return nil, failf(n.pos, "Function %s requires a field as its first argument", c.name)
	}
	return n.field, nil
}

func compileIsChanged(c *call) (*node, error) {
	f, err := c.fieldOf(c.args[0])
	if err != nil {
		return nil, err
	}
	slot := f.Slot
	return &node{kind: boolean, eval: func(r *run) any {
		return !r.IsNew && !equal(r.New[slot], r.Old[slot])
	}}, nil
}

func compilePriorValue(c *call) (*node, error) {
	f, err := c.fieldOf(c.args[0])
	if err != nil {
		return nil, err
	}
	slot := f.Slot
	return &node{kind: kindOf(f), eval: func(r *run) any {
		if r.IsNew {
			return r.New[slot]
		}
		return r.Old[slot]
	}}, nil
}

func compileIsPickVal(c *call) (*node, error) {
	n, want := c.args[0], c.args[1]
	if n.kind != picklist {
		return nil, failf(n.pos, "Incorrect parameter type for function 'ISPICKVAL()'. Expected Picklist, received %s", n.kind)
	}
	if want.text == nil {
		return nil, failf(want.pos, "Function ISPICKVAL requires a text literal as its second argument")
	}
	value := *want.text
	return &node{kind: boolean, eval: func(r *run) any { return asText(n.eval(r)) == value }}, nil
}

func compileIncludes(c *call) (*node, error) {
	n, want := c.args[0], c.args[1]
	if n.kind != multi {
		return nil, failf(n.pos, "Incorrect parameter type for function 'INCLUDES()'. Expected MultiPicklist, received %s", n.kind)
	}
	if want.text == nil {
		return nil, failf(want.pos, "Function INCLUDES requires a text literal as its second argument")
	}
	value := *want.text
	return &node{kind: boolean, eval: func(r *run) any {
		return slices.Contains(strings.Split(asText(n.eval(r)), ";"), value)
	}}, nil
}
