// Package preflight compares what the bridge is going to send with what the
// org takes, by describe: the staging object and the targets of the mappings.
// It finds before the first event what Salesforce would refuse afterwards.
package preflight

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"sfbridge/bridge/event"
	"sfbridge/mapping"
	"sfbridge/salesforce"
)

// Org describes objects.
type Org interface {
	Describe(ctx context.Context, object string) (*salesforce.Object, error)
}

// Finding is one thing that doesn't fit.
type Finding struct {
	Where   string `json:"where"` // object.field
	What    string `json:"what"`
	Do      string `json:"do"`
	Warning bool   `json:"warning,omitempty"` // it runs all the same
}

func (f Finding) String() string { return f.Where + ": " + f.What + ": " + f.Do }

// Check compares the mappings with the org. Its error is a call that failed for
// another reason than the object's absence.
func Check(ctx context.Context, org Org, files []*mapping.File) ([]Finding, error) {
	c := &checker{ctx: ctx, org: org, objects: map[string]*salesforce.Object{}}
	c.staging()
	for _, f := range files {
		for _, route := range f.Routes {
			for _, target := range route.Targets() {
				c.target(f, route, target)
			}
		}
	}
	return slices.Compact(c.findings), c.err
}

type checker struct {
	ctx      context.Context
	org      Org
	objects  map[string]*salesforce.Object // nil: absent
	findings []Finding
	err      error
}

func (c *checker) find(where, what, do string) {
	c.findings = append(c.findings, Finding{Where: where, What: what, Do: do})
}

// object describes an object once. nil when it is absent or can't be asked for.
func (c *checker) object(name string) *salesforce.Object {
	if o, known := c.objects[name]; known {
		return o
	}
	o, err := c.org.Describe(c.ctx, name)
	if err != nil {
		if e, ok := salesforce.AsError(err); ok && e.Status == 404 {
			c.find(name, "the object doesn't exist or the integration user has no access to it",
				"deploy it, or give the user a permission set that reads it")
		} else if c.err == nil {
			c.err = fmt.Errorf("describing %s: %w", name, err)
		}
		o = nil
	}
	c.objects[name] = o
	return o
}

// staging checks the objects of the Apex package.
func (c *checker) staging() {
	o := c.object(event.Object)
	if o == nil {
		return
	}
	for _, name := range event.AllFields() {
		c.field(o, name, "assign the permission set Bridge_Integration to the integration user")
	}
	if id, ok := o.Field(event.FieldID); ok && (!id.Unique || !id.CaseSensitive) {
		c.find(event.Object+"."+event.FieldID, "the field is not unique and case sensitive: ids that differ in letter case would be one event",
			"deploy the field as shipped")
	}
	c.object(event.QueueObject)
	c.object(event.ChunkObject)
}

func (c *checker) field(o *salesforce.Object, name, do string) (salesforce.Field, bool) {
	f, ok := o.Field(name)
	if !ok {
		c.find(o.Name+"."+name, "the field doesn't exist or the integration user can't see it", do)
	}
	return f, ok
}

// target checks one record of a route.
func (c *checker) target(file *mapping.File, route *mapping.Route, t mapping.Target) {
	o := c.object(t.Object)
	if o == nil {
		return
	}
	c.access(o, t)
	c.key(o, t)
	for _, f := range t.Fields {
		c.mapped(o, f)
	}
	if t.Order != nil {
		c.order(o, t)
	}
	if t.Action == mapping.Upsert {
		c.unmapped(o, t, file.Name+" route "+route.Name)
	}
}

func (c *checker) access(o *salesforce.Object, t mapping.Target) {
	switch {
	case t.Action == mapping.Upsert && !(o.Createable && o.Updateable):
		c.find(o.Name, "the integration user may not create and edit records", "give it both by a permission set")
	case t.Action == mapping.Update && !o.Updateable:
		c.find(o.Name, "the integration user may not edit records", "give it edit by a permission set")
	case t.Action == mapping.Delete && !(o.Deletable && o.Updateable):
		c.find(o.Name, "the integration user may not edit and delete records", "give it both by a permission set")
	}
}

func (c *checker) key(o *salesforce.Object, t mapping.Target) {
	const see = "check the spelling, the box External ID, and field-level security"
	f, ok := c.field(o, t.KeyField, see)
	if !ok {
		return
	}
	where := o.Name + "." + f.Name
	switch {
	case !f.ExternalID && !f.IDLookup:
		c.find(where, "the key is no external ID", "tick External ID and Unique on the field")
	case !f.Unique:
		c.find(where, "the key is not unique: two records could share it", "tick Unique on the field")
	case f.Type == "string" && !f.CaseSensitive:
		c.findings = append(c.findings, Finding{Where: where, Warning: true,
			What: "the key folds letter case: provider ids that differ only in case would be one record",
			Do:   "tick case sensitive unless the ids are all of one case"})
	}
}

// mapped checks a field that the mapping writes.
func (c *checker) mapped(o *salesforce.Object, t mapping.TargetField) {
	f, ok := c.field(o, t.Column, "check the spelling and field-level security")
	if !ok {
		return
	}
	where := o.Name + "." + f.Name
	if t.On != mapping.OnUpdate && !f.Createable {
		c.find(where, "the field can't be set when a record is created", "give edit access, or limit it with on: update")
	}
	if t.On != mapping.OnCreate && !f.Updateable {
		c.find(where, "the field can't be changed when a record exists", "give edit access, or limit it with on: create")
	}
	if t.Parent == "" {
		return
	}
	if f.Type != "reference" || !slices.ContainsFunc(f.ReferenceTo, func(to string) bool { return strings.EqualFold(to, t.Parent) }) {
		c.find(where, "the field is no lookup to "+t.Parent, "name the object it points to: "+strings.Join(f.ReferenceTo, ", "))
		return
	}
	if parent := c.object(t.Parent); parent != nil {
		if by, ok := c.field(parent, t.By, "check the spelling and field-level security"); ok && !by.ExternalID && !by.IDLookup {
			c.find(parent.Name+"."+by.Name, "the lookup's key is no external ID", "tick External ID and Unique on the field")
		}
	}
}

// order checks the fields of the stale guard.
func (c *checker) order(o *salesforce.Object, t mapping.Target) {
	const do = "run bridge scaffold, or add the field and give the integration user edit access"
	for _, name := range []string{t.Order.Field, t.Order.Event, t.Order.Prior} {
		if name == "" {
			continue
		}
		if f, ok := c.field(o, name, do); ok && !f.Updateable {
			c.find(o.Name+"."+f.Name, "the integration user may not edit the field of the stale guard", do)
		}
	}
}

// unmapped names required fields that no event of the route sets.
func (c *checker) unmapped(o *salesforce.Object, t mapping.Target, who string) {
	for _, f := range o.Fields {
		set := strings.EqualFold(f.Name, t.KeyField) || slices.ContainsFunc(t.Fields, func(m mapping.TargetField) bool {
			return strings.EqualFold(m.Column, f.Name)
		})
		if f.Required() && !set {
			c.find(o.Name+"."+f.Name, "the field is required but "+who+" doesn't set it", "map it, or give the field a default")
		}
	}
}
