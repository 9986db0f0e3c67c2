package org_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/salesforce/simorg/org"
	"sfbridge/salesforce/simorg/schema"
)

func TestDeletes(t *testing.T) {
	t.Parallel()
	d := setup(t)
	parent := d.insert("Parent__c", "Exact__c", "p")
	d.insert("Detail__c", "Parent__c", parent)
	d.insert("Detail__c", "Parent__c", parent)
	d.insert("Loose__c", "Parent__c", parent)
	bound := d.insert("Bound__c", "Parent__c", parent)

	assert.Equal(t, []string{"DELETE_FAILED"}, d.remove("Parent__c", parent), "a bound child holds it")
	assert.Equal(t, map[string]int{"Parent__c": 1, "Detail__c": 2, "Loose__c": 1, "Bound__c": 1}, d.Counts(), "details stay too")
	assert.Equal(t, []string{""}, d.remove("Bound__c", bound))
	assert.Equal(t, []string{"", "ENTITY_IS_DELETED"}, d.remove("Parent__c", parent, parent))
	assert.Equal(t, map[string]int{"Loose__c": 1}, d.Counts(), "details go along")
	assert.Nil(t, d.value("Loose__c", "Parent__c"), "a loose child is cut off")
	assert.Equal(t, []string{"ENTITY_IS_DELETED", "INVALID_CROSS_REFERENCE_KEY", "MALFORMED_ID"},
		d.remove("Parent__c", parent, schema.NewID(d.Schema().Object("Parent__c").KeyPrefix, 999), "x"))
	assert.True(t, d.upsert("Exact__c", "p")[0].Created, "a deleted row frees its unique value")
}

func TestReferences(t *testing.T) {
	t.Parallel()
	d := setup(t)
	parent := d.insert("Parent__c", "Exact__c", "p")
	other := d.insert("Parent__c", "Exact__c", "q")
	ref := func(value string) *org.Ref { return &org.Ref{Field: d.field("Parent__c", "Exact__c"), Value: value} }
	detail := d.insert("Detail__c", "Parent__c", ref("p"))
	update := func(value any) []string {
		r := d.rec("Detail__c", "Parent__c", value)
		r.ID = detail
		return codes(d.do(org.DML{Verb: org.Update, Records: []org.Record{r}}))
	}
	assert.Equal(t, []string{""}, update(parent), "the same master may be named again")
	assert.Equal(t, []string{"INVALID_FIELD_FOR_INSERT_UPDATE"}, update(other), "but not changed")
	res := d.do(org.DML{Verb: org.Insert, Records: []org.Record{d.rec("Detail__c"), d.rec("Loose__c", "Parent__c", ref("none")),
		d.rec("Loose__c", "Parent__c", detail), d.rec("Loose__c", "Parent__c", schema.NewID(parent[:3], 777)), d.rec("Loose__c", "Parent__c", "x")}})
	assert.Equal(t, []string{"REQUIRED_FIELD_MISSING", "INVALID_FIELD", "MALFORMED_ID", "INVALID_CROSS_REFERENCE_KEY", "MALFORMED_ID"}, codes(res))

	both := d.do(org.DML{Verb: org.Insert, Records: []org.Record{d.rec("Parent__c", "Exact__c", "new"), d.rec("Loose__c", "Parent__c", ref("new"))}})
	assert.Equal(t, []string{"", "INVALID_FIELD"}, codes(both), "a parent of the same statement is not there yet")
}

// A child's writer holds its parent, if the lookup is one that locks it.
func TestWhichLookupsLockTheirParent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		child   string
		lookups bool
		want    string
	}{
		{"Detail__c", false, "UNABLE_TO_LOCK_ROW"}, {"Bound__c", false, "UNABLE_TO_LOCK_ROW"},
		{"Loose__c", false, ""}, {"Loose__c", true, "UNABLE_TO_LOCK_ROW"},
	} {
		d := setup(t, func(cfg *org.Config) { cfg.LockWait, cfg.LookupsLock = time.Nanosecond, c.lookups })
		parent := d.insert("Parent__c")
		tx := d.Begin()
		require.Equal(t, []string{""}, codes(tx.Do(org.DML{Verb: org.Insert, Records: []org.Record{d.rec(c.child, "Parent__c", parent[:15])}})))
		update := d.rec("Parent__c", "Tag__c", "x")
		update.ID = parent
		assert.Equal(t, []string{c.want}, codes(d.do(org.DML{Verb: org.Update, Records: []org.Record{update}})), c.child)
		tx.Rollback()
	}
}
