package org

import (
	"sfbridge/salesforce/simorg/schema"
)

// Tx is one transaction. It is used by one goroutine at a time and ends with
// Commit or Rollback.
type Tx struct {
	org     *Org
	changes map[string]change  // by id
	unique  map[lockKey]string // values of unique fields taken (by id) or freed ("")
	journal []undo             // how to go back
	locked  []lockKey          // guarded by locks.mu
	waits   lockKey            // guarded by locks.mu
}

// change is a row as the transaction left it; a nil row is deleted.
type change struct {
	table *table
	row   schema.Row
}

// undo puts one entry of changes or unique back.
type undo struct {
	id     string
	change change
	key    lockKey // set: the entry is of unique
	value  string
	had    bool
}

// Begin starts a transaction.
func (o *Org) Begin() *Tx {
	return &Tx{org: o, changes: map[string]change{}, unique: map[lockKey]string{}}
}

// view returns the row as the transaction sees it; nil if there is none.
// The caller holds Org.mu for reading.
func (tx *Tx) view(t *table, id string) schema.Row {
	if c, ok := tx.changes[id]; ok {
		return c.row
	}
	return t.get(id)
}

// visit calls visit for the rows whose indexed field has the key, as the
// transaction sees them. The caller holds Org.mu for reading.
func (tx *Tx) visit(t *table, f *schema.Field, key string, visit func(schema.Row) bool) bool {
	goOn := t.lookup(f, key, func(row schema.Row) bool {
		if _, changed := tx.changes[row.ID()]; changed {
			return true
		}
		return visit(row)
	})
	if !goOn {
		return false
	}
	return tx.changed(t, func(row schema.Row) bool {
		if k, ok := indexKey(f, row[f.Slot]); ok && k == key {
			return visit(row)
		}
		return true
	})
}

// changed visits the rows of a table the transaction has written, in the
// order in which it first wrote them.
func (tx *Tx) changed(t *table, visit func(schema.Row) bool) bool {
	if len(tx.changes) == 0 {
		return true
	}
	seen := make(map[string]struct{}, len(tx.changes))
	for i := range tx.journal {
		id := tx.journal[i].id
		c, ok := tx.changes[id]
		if _, again := seen[id]; !ok || again || c.table != t {
			continue
		}
		seen[id] = struct{}{}
		if c.row != nil && !visit(c.row) {
			return false
		}
	}
	return true
}

// holder returns the id of the row that has a unique value; "" if it is free.
// The caller holds Org.mu for reading.
func (tx *Tx) holder(t *table, f *schema.Field, key string) string {
	if id, ok := tx.unique[lockKey{t.obj.Name, f.Name, key}]; ok {
		return id
	}
	return t.indexes[f.Slot].one[key]
}

// write makes a row part of the transaction's view; a nil row deletes.
func (tx *Tx) write(t *table, id string, old, row schema.Row) {
	prev, had := tx.changes[id]
	tx.journal = append(tx.journal, undo{id: id, change: prev, had: had})
	tx.changes[id] = change{t, row}
	for _, f := range t.uniques {
		var from, to string
		var was, is bool
		if old != nil {
			from, was = indexKey(f, old[f.Slot])
		}
		if row != nil {
			to, is = indexKey(f, row[f.Slot])
		}
		if was == is && from == to {
			continue
		}
		if was && tx.holder(t, f, from) == id {
			tx.claim(lockKey{t.obj.Name, f.Name, from}, "")
		}
		if is {
			tx.claim(lockKey{t.obj.Name, f.Name, to}, id)
		}
	}
}

func (tx *Tx) claim(key lockKey, id string) {
	prev, had := tx.unique[key]
	tx.journal = append(tx.journal, undo{key: key, value: prev, had: had})
	tx.unique[key] = id
}

// savepoint is a place rollbackTo can return to.
func (tx *Tx) savepoint() int { return len(tx.journal) }

// rollbackTo takes back what was written since the savepoint. Locks stay.
func (tx *Tx) rollbackTo(savepoint int) {
	for i := len(tx.journal) - 1; i >= savepoint; i-- {
		u := tx.journal[i]
		switch {
		case u.key != lockKey{} && u.had:
			tx.unique[u.key] = u.value
		case u.key != lockKey{}:
			delete(tx.unique, u.key)
		case u.had:
			tx.changes[u.id] = u.change
		default:
			delete(tx.changes, u.id)
		}
	}
	tx.journal = tx.journal[:savepoint]
}

// Rollback ends the transaction without a trace.
func (tx *Tx) Rollback() {
	tx.org.locks.release(tx)
}

// Commit makes the transaction's writes visible to all, in one step.
func (tx *Tx) Commit() {
	if len(tx.changes) > 0 {
		tx.org.mu.Lock()
		tx.apply()
		tx.org.mu.Unlock()
	}
	tx.org.locks.release(tx)
}

func (tx *Tx) apply() {
	var removed []change
	done := make(map[string]struct{}, len(tx.changes))
	for i := range tx.journal {
		id := tx.journal[i].id
		c, ok := tx.changes[id]
		if _, again := done[id]; !ok || again {
			continue
		}
		done[id] = struct{}{}
		if c.row == nil {
			if old := c.table.get(id); old != nil {
				removed = append(removed, change{c.table, old})
			}
			c.table.remove(id)
			continue
		}
		c.table.put(tx.org.clearGone(c.table, c.row))
	}
	for _, c := range removed {
		tx.org.orphan(c)
	}
}

// clearGone empties lookups whose record another transaction has deleted
// since this one looked.
func (o *Org) clearGone(t *table, row schema.Row) schema.Row {
	copied := false
	for _, f := range t.references {
		id, ok := row[f.Slot].(string)
		if !ok || f.OnDelete != schema.SetNull || !f.Custom {
			continue
		}
		parent := o.cfg.Schema.ByID(id)
		if parent == nil {
			continue
		}
		if _, gone := o.tables[parent].deleted[id]; !gone {
			continue
		}
		if !copied {
			row, copied = append(schema.Row(nil), row...), true
		}
		row[f.Slot] = nil
	}
	return row
}

// orphan empties the lookups that point to a deleted row.
func (o *Org) orphan(c change) {
	for _, child := range c.table.obj.Children {
		if child.Field.OnDelete != schema.SetNull {
			continue
		}
		t := o.tables[child.Object]
		var rows []schema.Row
		t.lookup(child.Field, c.row.ID(), func(row schema.Row) bool {
			rows = append(rows, row)
			return true
		})
		for _, row := range rows {
			next := append(schema.Row(nil), row...)
			next[child.Field.Slot] = nil
			t.put(next)
		}
	}
}
