package soql

import (
	"fmt"
	"strings"

	"sfbridge/salesforce/simorg/schema"
)

// bind turns a statement into a query.
func (b *binder) bind(st *statement) (*Query, error) {
	b.object = b.schema.Object(st.from.text)
	if b.object == nil || b.object.Event {
		return nil, errorAt(b.query, st.from.pos, InvalidType, "sObject type '%s' is not supported. "+
			"If you are attempting to use a custom object, be sure to append the '__c' after the entity name. "+
			"Please reference your WSDL or the describe call for the appropriate names.", st.from.text)
	}
	q := &Query{Object: b.object, Count: st.count, limit: st.limit, offset: st.offset}
	if err := b.columns(q, st); err != nil {
		return nil, err
	}
	if st.where != nil {
		f, err := b.filter(st.where)
		if err != nil {
			return nil, err
		}
		q.where, q.access = f, f.access()
	}
	for _, term := range st.order {
		key, err := b.sortKey(q, term)
		if err != nil {
			return nil, err
		}
		q.order = append(q.order, key)
	}
	return q, nil
}

// columns binds what is selected: the count, aggregates, or fields.
func (b *binder) columns(q *Query, st *statement) error {
	if st.count {
		if len(st.group) > 0 || len(st.order) > 0 {
			return plainError(MalformedQuery, "COUNT() can be combined with neither GROUP BY nor ORDER BY")
		}
		return nil
	}
	aggregate := len(st.group) > 0
	for _, c := range st.fields {
		aggregate = aggregate || c.function != "" && c.function != "FIELDS"
	}
	if aggregate {
		return b.aggregates(q, st)
	}
	q.Select = &Selection{Object: b.object}
	for _, c := range st.fields {
		var err error
		if c.function == "FIELDS" {
			err = b.allFields(q.Select, c, st.limit)
		} else {
			err = b.selectField(q.Select, c.path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *binder) selectField(sel *Selection, path token) error {
	c, err := b.column(path)
	if err != nil {
		return err
	}
	for _, lookup := range c.parents {
		sel = sel.parent(lookup)
	}
	for _, item := range sel.Items {
		if item.Parent == nil && item.Field == c.field {
			return errorAt(b.query, path.pos, InvalidField, "duplicate field selected: %s", c.field.Name)
		}
	}
	sel.Items = append(sel.Items, Item{Name: c.field.Name, Field: c.field})
	return nil
}

// parent finds or adds the selection of a parent record.
func (sel *Selection) parent(lookup *schema.Field) *Selection {
	for _, item := range sel.Items {
		if item.Parent != nil && item.Field == lookup {
			return item.Parent
		}
	}
	p := &Selection{Object: lookup.Targets()[0]}
	sel.Items = append(sel.Items, Item{Name: lookup.Parent, Field: lookup, Parent: p, Slot: sel.parents})
	sel.parents++
	return p
}

// allFields expands FIELDS(ALL), FIELDS(STANDARD) and FIELDS(CUSTOM).
func (b *binder) allFields(sel *Selection, c selected, limit int) error {
	which := strings.ToUpper(c.path.text)
	if which != "ALL" && which != "STANDARD" && which != "CUSTOM" {
		return errorAt(b.query, c.path.pos, MalformedQuery, "unexpected token: '%s'", c.path.text)
	}
	if which != "STANDARD" && (limit < 0 || limit > 200) {
		return plainError(MalformedQuery, "The SOQL FIELDS function must have a LIMIT of at most 200")
	}
	for _, f := range b.object.Fields {
		if which == "ALL" || f.Custom == (which == "CUSTOM") {
			if !b.visible(f) {
				continue
			}
			if err := b.selectField(sel, token{text: f.Name, pos: c.pos}); err != nil {
				return err
			}
		}
	}
	return nil
}

// aggregates binds the columns of an aggregate query.
func (b *binder) aggregates(q *Query, st *statement) error {
	for _, g := range st.group {
		c, err := b.column(g)
		if err != nil {
			return err
		}
		if err := b.usable(c, g.pos, "grouped"); err != nil {
			return err
		}
		q.groups = append(q.groups, c)
	}
	unnamed := 0
	for _, c := range st.fields {
		m, err := b.measure(q, c)
		if err != nil {
			return err
		}
		name := c.alias
		switch {
		case name != "":
		case c.function == "":
			name = m.column.field.Name
		default:
			name = fmt.Sprintf("expr%d", unnamed)
			unnamed++
		}
		col := AggregateColumn{Name: name}
		if m.column != nil && !strings.HasPrefix(c.function, "COUNT") {
			col.Field = m.column.field
		}
		for _, other := range q.Columns {
			if strings.EqualFold(other.Name, name) {
				return errorAt(b.query, c.pos, MalformedQuery, "duplicate alias: %s", name)
			}
		}
		q.Columns, q.measure = append(q.Columns, col), append(q.measure, m)
	}
	return nil
}

// measure binds one column of an aggregate query.
func (b *binder) measure(q *Query, c selected) (measure, error) {
	if c.function == "FIELDS" {
		return measure{}, errorAt(b.query, c.pos, MalformedQuery, "The SOQL FIELDS function is not supported in aggregate queries")
	}
	if c.function == "COUNT" && c.path.text == "" {
		return measure{group: -1, function: "COUNT"}, nil
	}
	col, err := b.column(c.path)
	if err != nil {
		return measure{}, err
	}
	if c.function == "" {
		for i, g := range q.groups {
			if g.same(col) {
				return measure{group: i, column: col}, nil
			}
		}
		return measure{}, errorAt(b.query, c.pos, MalformedQuery, "Field must be grouped or aggregated: %s", col.field.Name)
	}
	numeric := c.function == "SUM" || c.function == "AVG"
	extreme := c.function == "MIN" || c.function == "MAX"
	if !col.field.Filterable() || numeric && col.field.Kind() != schema.KindNumber || extreme && col.field.Kind() == schema.KindBool {
		return measure{}, errorAt(b.query, c.pos, MalformedQuery, "field %s does not support aggregate operator %s", col.field.Name, c.function)
	}
	return measure{group: -1, function: c.function, column: col}, nil
}

// same says whether two columns are one.
func (c *column) same(other *column) bool {
	if c.field != other.field || len(c.parents) != len(other.parents) {
		return false
	}
	for i := range c.parents {
		if c.parents[i] != other.parents[i] {
			return false
		}
	}
	return true
}
