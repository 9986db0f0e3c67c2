package soql

import (
	"slices"
	"strconv"
	"strings"
)

// parser reads a statement by recursive descent.
type parser struct {
	query  string
	tokens []token
	at     int
	depth  int
}

func parse(query string) (*statement, error) {
	tokens, err := lex(query)
	if err != nil {
		return nil, err
	}
	p := &parser{query: query, tokens: tokens}
	return p.statement()
}

func (p *parser) peek() token { return p.tokens[p.at] }

func (p *parser) next() token {
	t := p.tokens[p.at]
	if t.kind != tokEnd {
		p.at++
	}
	return t
}

func (p *parser) isWord(words ...string) bool {
	t := p.peek()
	return t.kind == tokName && slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(w, t.text) })
}

func (p *parser) accept(word string) bool {
	if !p.isWord(word) {
		return false
	}
	p.at++
	return true
}

func (p *parser) acceptOp(op string) bool {
	if t := p.peek(); t.kind != tokOp || t.text != op {
		return false
	}
	p.at++
	return true
}

func (p *parser) unexpected() error {
	t := p.peek()
	text := t.text
	if t.kind == tokString {
		text = "'" + text + "'"
	}
	return errorAt(p.query, t.pos, MalformedQuery, "unexpected token: '%s'", text)
}

func (p *parser) expectWord(word string) error {
	if !p.accept(word) {
		return p.unexpected()
	}
	return nil
}

func (p *parser) expectOp(op string) error {
	if !p.acceptOp(op) {
		return p.unexpected()
	}
	return nil
}

var reserved = []string{
	"AND", "ASC", "DESC", "FROM", "GROUP", "HAVING", "IN", "LIKE", "LIMIT", "NOT", "NULL", "NULLS", "OFFSET", "OR",
	"ORDER", "SELECT", "TRUE", "FALSE", "USING", "WHERE", "WITH", "FOR", "ALL",
}

func isReserved(name string) bool { return slices.Contains(reserved, strings.ToUpper(name)) }

// name reads a field path, an object or an alias.
func (p *parser) name() (token, error) {
	if t := p.peek(); t.kind != tokName || isReserved(t.text) {
		return t, p.unexpected()
	}
	return p.next(), nil
}

func (p *parser) statement() (*statement, error) {
	st := &statement{limit: -1}
	steps := []func(*statement) error{p.selectClause, p.fromClause, p.whereClause, p.groupClause, p.orderClause, p.limits, p.ending}
	for _, step := range steps {
		if err := step(st); err != nil {
			return nil, err
		}
	}
	return st, nil
}

func (p *parser) selectClause(st *statement) error {
	if err := p.expectWord("SELECT"); err != nil {
		return err
	}
	for {
		col, err := p.column()
		if err != nil {
			return err
		}
		if t := p.peek(); col.function != "" && t.kind == tokName && !isReserved(t.text) {
			col.alias = p.next().text
		}
		st.fields = append(st.fields, col)
		if !p.acceptOp(",") {
			break
		}
	}
	if c := st.fields[0]; len(st.fields) == 1 && c.function == "COUNT" && c.path.text == "" {
		st.count = true
	}
	return nil
}

// column reads a field path or function(path).
func (p *parser) column() (selected, error) {
	t, err := p.name()
	if err != nil {
		return selected{}, err
	}
	if !p.acceptOp("(") {
		return selected{path: t, pos: t.pos}, nil
	}
	col := selected{function: strings.ToUpper(t.text), pos: t.pos}
	known := col.function == "FIELDS"
	for name := range aggregates {
		known = known || name == col.function
	}
	if !known {
		return col, errorAt(p.query, t.pos, MalformedQuery, "unexpected token: '('")
	}
	if col.function == "COUNT" && p.acceptOp(")") {
		return col, nil
	}
	if col.function == "FIELDS" && p.isWord("ALL") {
		col.path = p.next()
	} else if col.path, err = p.name(); err != nil {
		return col, err
	}
	return col, p.expectOp(")")
}

func (p *parser) fromClause(st *statement) (err error) {
	if err = p.expectWord("FROM"); err != nil {
		return err
	}
	if st.from, err = p.name(); err != nil {
		return err
	}
	if t := p.peek(); t.kind == tokName && !isReserved(t.text) {
		st.alias = p.next().text
	}
	return nil
}

func (p *parser) groupClause(st *statement) error {
	if !p.accept("GROUP") {
		return nil
	}
	if err := p.expectWord("BY"); err != nil {
		return err
	}
	for {
		t, err := p.name()
		if err != nil {
			return err
		}
		st.group = append(st.group, t)
		if !p.acceptOp(",") {
			return nil
		}
	}
}

func (p *parser) orderClause(st *statement) error {
	if !p.accept("ORDER") {
		return nil
	}
	if err := p.expectWord("BY"); err != nil {
		return err
	}
	for {
		term, err := p.orderTerm()
		if err != nil {
			return err
		}
		st.order = append(st.order, term)
		if !p.acceptOp(",") {
			return nil
		}
	}
}

func (p *parser) orderTerm() (orderTerm, error) {
	col, err := p.column()
	if err != nil {
		return orderTerm{}, err
	}
	term := orderTerm{column: col}
	if p.accept("DESC") {
		term.descending = true
	} else {
		p.accept("ASC")
	}
	term.nullsFirst = !term.descending
	if p.accept("NULLS") {
		switch {
		case p.accept("FIRST"):
			term.nullsFirst = true
		case p.accept("LAST"):
			term.nullsFirst = false
		default:
			return term, p.unexpected()
		}
	}
	return term, nil
}

func (p *parser) limits(st *statement) (err error) {
	if p.accept("LIMIT") {
		if st.limit, err = p.integer(); err != nil {
			return err
		}
	}
	if p.accept("OFFSET") {
		if st.offset, err = p.integer(); err != nil {
			return err
		}
		if st.offset > maxOffset {
			return plainError(OutsideRange, "Maximum SOQL offset allowed is %d", maxOffset)
		}
	}
	return nil
}

func (p *parser) integer() (int, error) {
	n, err := strconv.ParseUint(p.peek().text, 10, 31)
	if p.peek().kind != tokNumber || err != nil {
		return 0, p.unexpected()
	}
	p.at++
	return int(n), nil
}

func (p *parser) ending(*statement) error {
	if p.isWord("FOR") && p.at+1 < len(p.tokens) && strings.EqualFold(p.tokens[p.at+1].text, "UPDATE") {
		return errorAt(p.query, p.peek().pos, MalformedQuery, "FOR UPDATE is not allowed in API queries")
	}
	if p.peek().kind != tokEnd {
		return p.unexpected()
	}
	return nil
}
