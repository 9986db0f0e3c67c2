package org_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"sfbridge/salesforce/simorg/org"
	"sfbridge/salesforce/simorg/schema"
)

// model is the plainest form of the table: exact key to tag.
type model map[string]string

// Any sequence of statements and roll-backs leaves the table, and all of its
// indexes, as a plain map would be.
func TestTableEqualsPlainMap(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		d := setup(t)
		committed := model{}
		for range rapid.IntRange(1, 8).Draw(rt, "transactions") {
			want := maps.Clone(committed)
			tx := d.Begin()
			for range rapid.IntRange(1, 6).Draw(rt, "statements") {
				statement(rt, d, tx, want)
			}
			if rapid.Bool().Draw(rt, "commit") {
				tx.Commit()
				committed = want
			} else {
				tx.Rollback()
			}
			require.Equal(rt, committed, d.model())
			d.checkIndexes(rt)
		}
	})
}

var names = rapid.SampledFrom([]string{"a", "b", "c", "A"})

// statement runs one random statement against both.
func statement(rt *rapid.T, d *db, tx *org.Tx, want model) {
	exact := d.field("Parent__c", "Exact__c")
	key, tag := names.Draw(rt, "key"), names.Draw(rt, "tag")
	there := tx.Find(exact, key)
	_, exists := want[key]
	require.Equal(rt, exists, len(there) == 1)
	switch rapid.SampledFrom([]string{"insert", "upsert", "rename", "delete", "all or none"}).Draw(rt, "verb") {
	case "insert":
		res := tx.Do(org.DML{Verb: org.Insert, Records: []org.Record{d.rec("Parent__c", "Exact__c", key, "Tag__c", tag)}})
		require.Equal(rt, !exists, res[0].OK())
		if !exists {
			want[key] = tag
		}
	case "upsert":
		rec := d.rec("Parent__c", "Tag__c", tag)
		rec.Key = key
		res := tx.Do(org.DML{Verb: org.Upsert, Key: exact, Records: []org.Record{rec}})
		require.Equal(rt, !exists, res[0].Created)
		want[key] = tag
	case "rename":
		if !exists {
			return
		}
		rec := d.rec("Parent__c", "Exact__c", tag)
		rec.ID = there[0].ID()
		_, taken := want[tag]
		res := tx.Do(org.DML{Verb: org.Update, Records: []org.Record{rec}})
		require.Equal(rt, !taken || tag == key, res[0].OK())
		if !taken {
			want[tag] = want[key]
			delete(want, key)
		}
	case "delete":
		if exists {
			res := tx.Do(org.DML{Verb: org.Delete, Records: []org.Record{{Object: exact.Object, ID: there[0].ID()}}})
			require.True(rt, res[0].OK())
			delete(want, key)
		}
	case "all or none":
		res := tx.Do(org.DML{Verb: org.Insert, AllOrNone: true, Records: []org.Record{
			d.rec("Parent__c", "Exact__c", key, "Tag__c", tag), d.rec("Parent__c", "Exact__c", key, "Tag__c", tag)}})
		require.False(rt, res[0].OK() || res[1].OK())
	}
}

func (d *db) model() model {
	got := model{}
	key, tag := d.field("Parent__c", "Exact__c").Slot, d.field("Parent__c", "Tag__c").Slot
	for _, row := range d.rows("Parent__c") {
		k, _ := row[key].(string)
		got[k], _ = row[tag].(string)
	}
	return got
}

// checkIndexes compares what the indexes find with a scan.
func (d *db) checkIndexes(rt *rapid.T) {
	tx := d.Begin()
	defer tx.Rollback()
	for _, field := range []*schema.Field{d.field("Parent__c", "Exact__c"), d.field("Parent__c", "Tag__c")} {
		for _, v := range []string{"a", "b", "c", "A"} {
			var scanned, found []string
			for _, row := range d.rows("Parent__c") {
				if row[field.Slot] == v {
					scanned = append(scanned, row.ID())
				}
			}
			for _, row := range tx.Find(field, v) {
				found = append(found, row.ID())
			}
			slices.Sort(found)
			require.Equal(rt, scanned, found, field.Name+" "+v)
		}
	}
}
