package soql

import "strings"

func (p *parser) whereClause(st *statement) (err error) {
	if p.accept("WHERE") {
		st.where, err = p.condition()
	}
	return err
}

// condition reads terms joined by AND or by OR; the platform wants parentheses
// where both meet.
func (p *parser) condition() (expr, error) {
	if p.depth++; p.depth > maxNesting {
		return nil, plainError(TooComplicated, "Query is either selecting too many fields or the filter conditions are too complicated.")
	}
	defer func() { p.depth-- }()
	first, err := p.term()
	if err != nil || !p.isWord("AND", "OR") {
		return first, err
	}
	word := strings.ToUpper(p.peek().text)
	j := &junction{or: word == "OR", terms: []expr{first}}
	for p.accept(word) {
		t, err := p.term()
		if err != nil {
			return nil, err
		}
		j.terms = append(j.terms, t)
	}
	if p.isWord("AND", "OR") {
		return nil, p.unexpected()
	}
	return j, nil
}

func (p *parser) term() (expr, error) {
	if p.accept("NOT") {
		if p.depth++; p.depth > maxNesting {
			return nil, plainError(TooComplicated, "Query is either selecting too many fields or the filter conditions are too complicated.")
		}
		defer func() { p.depth-- }()
		t, err := p.term()
		return &negation{t}, err
	}
	if p.acceptOp("(") {
		c, err := p.condition()
		if err != nil {
			return nil, err
		}
		return c, p.expectOp(")")
	}
	return p.comparison()
}

func (p *parser) comparison() (expr, error) {
	path, err := p.name()
	if err != nil {
		return nil, err
	}
	c := &comparison{path: path, opPos: p.peek().pos}
	switch t := p.peek(); {
	case t.kind == tokOp:
		switch t.text {
		case "=", "!=", "<", "<=", ">", ">=":
			c.op = t.text
		case "<>":
			c.op = "!="
		default:
			return nil, p.unexpected()
		}
		p.at++
	case p.accept("LIKE"):
		c.op = "LIKE"
	case p.accept("IN"):
		c.op = "IN"
	case p.accept("NOT"):
		c.op = "NOT IN"
		if err := p.expectWord("IN"); err != nil {
			return nil, err
		}
	default:
		return nil, p.unexpected()
	}
	if c.op == "IN" || c.op == "NOT IN" {
		c.values, err = p.list()
		return c, err
	}
	v, err := p.literal()
	c.values = []literal{v}
	return c, err
}

func (p *parser) list() ([]literal, error) {
	if err := p.expectOp("("); err != nil {
		return nil, err
	}
	var values []literal
	for {
		v, err := p.literal()
		if err != nil {
			return nil, err
		}
		values = append(values, v)
		if p.acceptOp(")") {
			return values, nil
		}
		if err := p.expectOp(","); err != nil {
			return nil, err
		}
	}
}

// literal reads a value. Words are null, true, false and relative dates.
func (p *parser) literal() (literal, error) {
	t := p.peek()
	switch t.kind {
	case tokString, tokNumber, tokDate, tokDateTime:
		p.at++
		return literal{token: t}, nil
	case tokName:
		word := strings.ToUpper(t.text)
		if word == "NULL" || word == "TRUE" || word == "FALSE" {
			p.at++
			return literal{token: t}, nil
		}
		if rel, ok := relativeDates[word]; ok {
			p.at++
			l := literal{token: t}
			if !rel.counted {
				return l, nil
			}
			if err := p.expectOp(":"); err != nil {
				return l, err
			}
			n, err := p.integer()
			l.number = n
			return l, err
		}
	}
	return literal{}, p.unexpected()
}
