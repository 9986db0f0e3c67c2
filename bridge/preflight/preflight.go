package preflight

import (
	"context"
	"fmt"
	"strings"

	"sfbridge/bridge/event"
	"sfbridge/mapping"
	"sfbridge/salesforce"
)

// Org tells about objects.
type Org interface {
	Describe(ctx context.Context, object string) (*salesforce.Object, error)
	ValidationRules(ctx context.Context, object string) ([]salesforce.ValidationRule, error)
}

// Finding is one thing that doesn't fit.
type Finding struct {
	Where   string `json:"where"` // object.field
	What    string `json:"what"`
	Do      string `json:"do"`
	Mapping string `json:"mapping,omitempty"` // the first file and route that it concerns
	Warning bool   `json:"warning,omitempty"` // it runs all the same
}

func (f Finding) String() string {
	s := f.Where + ": " + f.What + ": " + f.Do
	if f.Mapping != "" {
		s += " (" + f.Mapping + ")"
	}
	return s
}

// Check compares the mappings with the org. Its error is a call that failed for
// another reason than the object's absence.
func Check(ctx context.Context, org Org, files []*mapping.File) ([]Finding, error) {
	c := &checker{ctx: ctx, org: org, objects: map[string]*salesforce.Object{}, seen: map[Finding]bool{}, ruled: map[string]bool{}}
	c.staging()
	for _, f := range files {
		for _, route := range f.Routes {
			c.who = f.Name + " route " + route.Name
			targets := route.Targets()
			for _, t := range targets {
				c.target(t, targets)
			}
			c.effects(route)
		}
	}
	return c.findings, c.err
}

type checker struct {
	ctx      context.Context
	org      Org
	who      string                        // file and route that are looked at
	objects  map[string]*salesforce.Object // nil: absent
	ruled    map[string]bool               // objects whose rules were looked at
	seen     map[Finding]bool              // without Mapping
	findings []Finding
	err      error
}

// problem is what Salesforce will refuse.
func (c *checker) problem(where, what, do string) {
	c.add(Finding{Where: where, What: what, Do: do})
}

// warn is what may surprise.
func (c *checker) warn(where, what, do string) {
	c.add(Finding{Where: where, What: what, Do: do, Warning: true})
}

// add keeps a finding that routes share once.
func (c *checker) add(f Finding) {
	if c.seen[f] {
		return
	}
	c.seen[f] = true
	f.Mapping = c.who
	c.findings = append(c.findings, f)
}

// failed keeps the first call that failed.
func (c *checker) failed(doing, object string, err error) {
	if c.err == nil {
		c.err = fmt.Errorf("%s %s: %w", doing, object, err)
	}
}

// object describes an object once. nil when it is absent or can't be asked for.
func (c *checker) object(name string) *salesforce.Object {
	key := strings.ToLower(name)
	if o, known := c.objects[key]; known {
		return o
	}
	o, err := c.org.Describe(c.ctx, name)
	if err != nil {
		if salesforce.Hidden(err) {
			c.problem(name, "the object doesn't exist or the integration user has no access to it",
				"check the spelling, deploy it, or give the user a permission set that reads it")
		} else {
			c.failed("describing", name, err)
		}
		o = nil
	}
	c.objects[key] = o
	return o
}

// field finds a field of an object; see tells where to look when it isn't there.
func (c *checker) field(o *salesforce.Object, name, see string) (salesforce.Field, bool) {
	f, ok := o.Field(name)
	if !ok {
		c.problem(o.Name+"."+name, "the field doesn't exist or the integration user can't see it", see+alike(o, name))
	}
	return f, ok
}

const assign = "assign the permission set Bridge_Integration to the integration user"

// staging checks the objects of the Apex package.
func (c *checker) staging() {
	o := c.object(event.Object)
	if o == nil {
		return
	}
	for _, name := range event.AllFields() {
		c.field(o, name, assign)
	}
	if id, ok := o.Field(event.FieldID); ok && (!id.Unique || !id.CaseSensitive) {
		c.problem(event.Object+"."+event.FieldID, "the field is not unique and case sensitive: ids that differ in letter case would be one event",
			"deploy the field as shipped")
	}
	if !o.Createable || !o.Updateable {
		c.problem(o.Name, "the integration user may not create and edit events", assign)
	}
	c.rule(o.Name, "Refuse_Old_Revision", event.TokenRevision)
	for _, name := range []string{event.QueueObject, event.ChunkObject} {
		if other := c.object(name); other != nil && !other.Createable {
			c.problem(other.Name, "the integration user may not create its records", assign)
		}
	}
}

// rule looks for an active validation rule whose message holds the token that
// the bridge tells its refusals by.
func (c *checker) rule(object, name, token string) {
	if c.ruled[object] {
		return
	}
	c.ruled[object] = true
	where := object + "." + name
	rules, err := c.org.ValidationRules(c.ctx, object)
	switch {
	case salesforce.Hidden(err):
		c.warn(where, "the integration user may not see validation rules, so whether this one guards the object can't be told",
			"look under Setup, Object Manager, "+object+", Validation Rules: it must be active with "+token+" in its message")
		return
	case err != nil:
		c.failed("asking for the validation rules of", object, err)
		return
	}
	inactive := false
	for _, r := range rules {
		if strings.Contains(r.Message, token) {
			if r.Active {
				return
			}
			inactive = true
		}
	}
	if inactive {
		c.problem(where, "the validation rule is not active: a decision made on an old read would be written", "activate it")
		return
	}
	c.problem(where, "no validation rule with "+token+" in its message: a decision made on an old read would be written",
		"deploy the rule "+name)
}
