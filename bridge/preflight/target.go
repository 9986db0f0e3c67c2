package preflight

import (
	"slices"
	"strings"

	"sfbridge/bridge/event"
	"sfbridge/mapping"
	"sfbridge/salesforce"
)

const (
	spelling = "check the spelling and field-level security"
	scaffold = "add the fields of the stale guard (bridge scaffold writes them) and give the integration user edit access"
)

// target checks one record of a route; all are those of the whole route.
func (c *checker) target(t mapping.Target, all []mapping.Target) {
	o := c.object(t.Object)
	if o == nil {
		return
	}
	c.access(o, t)
	c.key(o, t)
	c.states(o, t)
	for _, f := range t.Fields {
		c.mapped(o, t, f)
	}
	c.uncut(o, t)
	if t.Order != nil {
		c.order(o, t)
	}
	if t.Action == mapping.Upsert {
		c.unmapped(o, t, all)
	}
}

func (c *checker) access(o *salesforce.Object, t mapping.Target) {
	switch {
	case t.Action == mapping.Upsert && (!o.Createable || !o.Updateable):
		c.problem(o.Name, "the integration user may not create and edit records", "give it both by a permission set")
	case t.Action == mapping.Update && !o.Updateable:
		c.problem(o.Name, "the integration user may not edit records", "give it edit by a permission set")
	case t.Action == mapping.Delete && (!o.Deletable || !o.Updateable):
		c.problem(o.Name, "the integration user may not edit and delete records", "give it both by a permission set")
	}
}

func (c *checker) key(o *salesforce.Object, t mapping.Target) {
	f, ok := c.field(o, t.KeyField, "check the spelling and field-level security, or add it with External ID, Unique and case sensitive (bridge scaffold writes it)")
	if !ok {
		return
	}
	c.externalID(o.Name+"."+f.Name, f, idOf{role: "key", paths: t.KeyPaths})
	if t.Action == mapping.Upsert && !f.Createable {
		c.problem(o.Name+"."+f.Name, "the key can't be set when a record is created", "give the integration user edit access to the field")
	}
}

// mapped checks a field that the mapping writes.
func (c *checker) mapped(o *salesforce.Object, t mapping.Target, m mapping.TargetField) {
	f, ok := c.field(o, m.Column, spelling)
	if !ok {
		return
	}
	where := o.Name + "." + f.Name
	c.writable(where, f, writes{create: t.Action == mapping.Upsert && m.On != mapping.OnUpdate, update: m.On != mapping.OnCreate})
	if m.Parent != "" {
		c.lookup(where, f, m)
		return
	}
	c.types(where, f, m)
	c.values(where, f, m)
	c.length(where, f, m)
}

// writes says when a field is sent.
type writes struct{ create, update bool }

func (c *checker) writable(where string, f salesforce.Field, w writes) {
	switch {
	case f.Calculated:
		c.problem(where, "the field is a formula and can't be written", "map the fields that it is made of")
	case f.AutoNumber:
		c.problem(where, "the field numbers itself and can't be written", "leave it out of the mapping")
	case w.create && !f.Createable:
		c.problem(where, "the field can't be set when a record is created", "give edit access, or limit it with on: update")
	case w.update && !f.Updateable && !f.Createable:
		c.problem(where, "the integration user may not edit the field", "give edit access")
	case w.update && !f.Updateable:
		c.problem(where, "the field can't be changed when a record exists", "give edit access, or limit it with on: create")
	}
}

// order checks the fields of the stale guard.
func (c *checker) order(o *salesforce.Object, t mapping.Target) {
	w := writes{create: t.Action == mapping.Upsert, update: true}
	if f, ok := c.guardField(o, t.Order.Field, w); ok {
		where := o.Name + "." + f.Name
		switch k := kindOf(f); {
		case k != kindNumber && k != kindWhole:
			c.problem(where, "the order value is a number, and the field is of type "+f.Type, "make it Number(18, 0)")
		case k == kindNumber && f.Precision > 0 && f.Precision-f.Scale < orderDigits:
			c.problem(where, "the field is too small for an order value in milliseconds", "make it Number(18, 0)")
		}
	}
	for _, name := range []string{t.Order.Event, t.Order.Prior} {
		if name == "" {
			continue
		}
		if f, ok := c.guardField(o, name, w); ok && (kindOf(f) != kindText || f.Length < eventIDLength) {
			c.problem(o.Name+"."+f.Name, "the field keeps an event id, which is text of up to 255 characters", "make it Text(255)")
		}
	}
	if t.Order.Prior != "" {
		c.rule(o.Name, "Refuse_Moved", event.TokenMoved)
	}
}

const (
	orderDigits   = 16 // of 2^53, the largest order value
	eventIDLength = 255
)

func (c *checker) guardField(o *salesforce.Object, name string, w writes) (salesforce.Field, bool) {
	f, ok := c.field(o, name, scaffold)
	if ok {
		c.writable(o.Name+"."+f.Name, f, w)
	}
	return f, ok
}

// unmapped names required fields that no record of the route gives a new
// record of the object.
func (c *checker) unmapped(o *salesforce.Object, t mapping.Target, all []mapping.Target) {
	set := map[string]bool{}
	for _, other := range all {
		if strings.EqualFold(other.Object, t.Object) && strings.EqualFold(other.KeyField, t.KeyField) {
			onCreate(other, set)
		}
	}
	for _, f := range o.Fields {
		if f.Required() && !set[strings.ToLower(f.Name)] {
			c.problem(o.Name+"."+f.Name, "the field is required and a new record doesn't get it", "map it, or give the field a default")
		}
	}
}

// onCreate adds the columns, in lower case, that a target gives a new record.
func onCreate(t mapping.Target, set map[string]bool) {
	names := []string{t.KeyField}
	if t.Order != nil {
		names = append(names, t.Order.Field, t.Order.Event)
	}
	for _, f := range t.Fields {
		if f.On != mapping.OnUpdate {
			names = append(names, f.Column)
		}
	}
	for _, name := range names {
		set[strings.ToLower(name)] = true
	}
}

// alike names fields that differ from a name only in case, underscores or the
// suffix of custom fields.
func alike(o *salesforce.Object, name string) string {
	plain := func(s string) string {
		s = strings.ToLower(s)
		for _, suffix := range []string{"__c", "__r"} {
			s = strings.TrimSuffix(s, suffix)
		}
		return strings.ReplaceAll(s, "_", "")
	}
	i := slices.IndexFunc(o.Fields, func(f salesforce.Field) bool { return plain(f.Name) == plain(name) })
	if i < 0 {
		return ""
	}
	return "; did you mean " + o.Fields[i].Name + "?"
}
