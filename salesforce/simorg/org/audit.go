package org

import (
	"time"

	"sfbridge/salesforce/simorg/schema"
)

// audit is the slots of the fields that the org itself keeps; -1: absent.
type audit struct {
	created, createdBy, modified, modifiedBy, stamp, owner, name, first, last int
}

// stamp sets the audit fields of a row.
func (t *table) stamp(row schema.Row, now time.Time, created bool) {
	set := func(slot int, v any) {
		if slot >= 0 {
			row[slot] = v
		}
	}
	set(t.aud.modified, now)
	set(t.aud.modifiedBy, UserID)
	set(t.aud.stamp, now)
	if !created {
		return
	}
	set(t.aud.created, now)
	set(t.aud.createdBy, UserID)
	if t.aud.owner >= 0 && row[t.aud.owner] == nil {
		row[t.aud.owner] = UserID
	}
}

// number gives the row its id and its auto numbers.
func (t *table) number(row schema.Row, now time.Time) {
	n := t.next.Add(1)
	row[schema.SlotID] = schema.NewID(t.obj.KeyPrefix, n)
	for _, f := range t.autos {
		row[f.Slot] = f.Number(int64(n), now)
	}
}

// name fills a Name that callers leave to the org: people have one made of
// first and last name, anything else without a name is called by its id.
func (t *table) name(row schema.Row) {
	first, last := t.aud.first, t.aud.last
	switch {
	case t.aud.name < 0:
	case first >= 0 && last >= 0:
		text, _ := row[last].(string)
		if given, ok := row[first].(string); ok {
			text = given + " " + text
		}
		row[t.aud.name] = text
	case row[t.aud.name] == nil:
		row[t.aud.name] = row.ID()
	}
}
