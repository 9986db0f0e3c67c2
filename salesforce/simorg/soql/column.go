package soql

import (
	"strings"

	"sfbridge/salesforce/simorg/schema"
)

// column is a field of the queried object or of a parent.
type column struct {
	parents []*schema.Field // the lookups that lead there
	field   *schema.Field
}

// get reads the column of a row; nil where a lookup on the way is null.
func (c *column) get(src Source, row schema.Row) any {
	for _, lookup := range c.parents {
		if row = parentOf(src, lookup, row); row == nil {
			return nil
		}
	}
	return row[c.field.Slot]
}

// parentOf follows a lookup; nil when it is null or the parent is gone.
func parentOf(src Source, lookup *schema.Field, row schema.Row) schema.Row {
	id, ok := row[lookup.Slot].(string)
	if !ok {
		return nil
	}
	for _, obj := range lookup.Targets() {
		if parent, ok := src.Get(obj, id); ok {
			return parent
		}
	}
	return nil
}

// binder checks a statement against the schema.
type binder struct {
	query  string
	schema *schema.Schema
	opt    Options
	object *schema.Object
	alias  string
}

func (b *binder) visible(f *schema.Field) bool {
	return f != nil && (b.opt.Visible == nil || b.opt.Visible(f))
}

// column resolves a path of up to five relationships and a field.
func (b *binder) column(path token) (*column, error) {
	parts := strings.Split(path.text, ".")
	if len(parts) > 1 && (strings.EqualFold(parts[0], b.alias) || strings.EqualFold(parts[0], b.object.Name)) {
		parts = parts[1:]
	}
	c := &column{}
	obj := b.object
	for _, name := range parts[:len(parts)-1] {
		lookup := obj.Relationship(name)
		if !b.visible(lookup) {
			return nil, errorAt(b.query, path.pos, InvalidField, "Didn't understand relationship '%s' in field path. "+
				"If you are attempting to use a custom relationship, be sure to append the '__r' after the custom relationship name. "+
				"Please reference your WSDL or the describe call for the appropriate names.", name)
		}
		c.parents = append(c.parents, lookup)
		obj = lookup.Targets()[0]
	}
	if len(c.parents) > maxRelationships {
		return nil, errorAt(b.query, path.pos, InvalidField,
			"SOQL relationship queries may not traverse more than %d levels of parent relationships", maxRelationships)
	}
	name := parts[len(parts)-1]
	if c.field = obj.Field(name); !b.visible(c.field) {
		return nil, errorAt(b.query, path.pos, InvalidField, "No such column '%s' on entity '%s'. "+
			"If you are attempting to use a custom field, be sure to append the '__c' after the custom field name. "+
			"Please reference your WSDL or the describe call for the appropriate names.", name, obj.Name)
	}
	return c, nil
}

// usable refuses long text where it can't be.
func (b *binder) usable(c *column, pos int, use string) error {
	if c.field.Filterable() {
		return nil
	}
	return errorAt(b.query, pos, InvalidField, "field '%s' can not be %s in a query call", c.field.Name, use)
}
