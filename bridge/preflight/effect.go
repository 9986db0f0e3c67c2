package preflight

import (
	"sfbridge/bridge/event"
	"sfbridge/mapping"
)

// effects checks where the effects of a route go, and the outbox they wait in.
func (c *checker) effects(route *mapping.Route) {
	targets := route.EffectTargets()
	if len(targets) == 0 {
		return
	}
	if outbox := c.object(event.EffectObject); outbox != nil && (!outbox.Createable || !outbox.Updateable) {
		c.problem(outbox.Name, "the integration user may not create and edit effects", assign)
	}
	for _, t := range targets {
		switch t.Kind {
		case mapping.EffectRecord:
			c.effectRecord(t)
		case mapping.EffectPublished:
			c.effectEvent(t)
		}
	}
}

// effectRecord is a record of its own, by an external ID.
func (c *checker) effectRecord(e mapping.EffectTarget) {
	t := mapping.Target{Object: e.Object, Action: mapping.Upsert, KeyField: e.KeyField, Fields: e.Fields}
	c.target(t, []mapping.Target{t})
}

// effectEvent is a platform event, which is published once and never edited.
func (c *checker) effectEvent(e mapping.EffectTarget) {
	o := c.object(e.Object)
	if o == nil {
		return
	}
	if !o.Createable {
		c.problem(o.Name, "the integration user may not publish the event", "give it create by a permission set")
	}
	t := mapping.Target{Object: e.Object, Action: mapping.Upsert}
	for _, f := range e.Fields {
		f.On = mapping.OnCreate
		t.Fields = append(t.Fields, f)
		c.mapped(o, t, f)
	}
	c.unmapped(o, t, []mapping.Target{t})
}
