package org

import (
	"cmp"
	"slices"

	"sfbridge/salesforce/simorg/fault"
	"sfbridge/salesforce/simorg/schema"
)

// plan lists what a record needs locked: its row, the unique values it takes
// and frees, its parents, and what a delete takes along. The caller holds
// Org.mu for reading.
func (tx *Tx) plan(d *DML, w *work) {
	if w.err != nil {
		return
	}
	if w.id != "" {
		w.locks = append(w.locks, lockKey{object: w.table.obj.Name, value: w.id})
	} else if d.Verb == Upsert && d.Key.Unique {
		tx.planUnique(w, Assignment{d.Key, w.rec.Key})
	}
	if d.Verb == Delete {
		tx.planChildren(w, w.table, w.id)
	}
	for _, a := range w.set {
		f := a.Field
		switch {
		case f.Unique:
			tx.planUnique(w, a)
		case tx.org.locksParent(f):
			tx.planParent(w, a)
		}
	}
}

// locksParent says whether a write of the field locks the record it points to.
// Lookups that a delete of the parent would only empty do not.
func (o *Org) locksParent(f *schema.Field) bool {
	return f.IsReference() && f.Custom && (f.OnDelete != schema.SetNull || o.cfg.LookupsLock)
}

func (tx *Tx) planParent(w *work, a Assignment) {
	text, _ := a.Value.(string)
	id, ok := schema.ID18(text)
	if parent := tx.org.cfg.Schema.ByID(id); ok && parent != nil {
		w.locks = append(w.locks, lockKey{object: parent.Name, value: id})
	}
}

func (tx *Tx) planChildren(w *work, t *table, id string) {
	for _, child := range t.obj.Children {
		if child.Field.OnDelete != schema.Cascade {
			continue
		}
		of := tx.org.tables[child.Object]
		for _, childID := range tx.childIDs(child, id) {
			w.locks = append(w.locks, lockKey{object: of.obj.Name, value: childID})
			tx.planChildren(w, of, childID)
		}
	}
}

// childIDs lists the rows whose lookup points to a parent, oldest first. The
// caller holds Org.mu for reading.
func (tx *Tx) childIDs(child schema.Child, parent string) []string {
	var ids []string
	tx.visit(tx.org.tables[child.Object], child.Field, parent, func(row schema.Row) bool {
		ids = append(ids, row.ID())
		return true
	})
	slices.Sort(ids)
	return ids
}

func (tx *Tx) planUnique(w *work, a Assignment) {
	value, err := tx.org.store(a.Field, a.Value)
	if err != nil {
		return // the save will say so
	}
	to, has := indexKey(a.Field, value)
	var from string
	var had bool
	if w.found != nil {
		from, had = indexKey(a.Field, w.found[a.Field.Slot])
	}
	if has == had && from == to {
		return
	}
	if has {
		w.locks = append(w.locks, lockKey{w.table.obj.Name, a.Field.Name, to})
	}
	if had {
		w.locks = append(w.locks, lockKey{w.table.obj.Name, a.Field.Name, from})
	}
}

// lockAll takes all locks of a statement in one order, so that statements over
// the same records wait for each other without a deadlock. A record whose lock
// can't be had fails, the others go on.
func (tx *Tx) lockAll(works []work) {
	type need struct {
		key  lockKey
		work *work
	}
	var needs []need
	for i := range works {
		for _, key := range works[i].locks {
			needs = append(needs, need{key, &works[i]})
		}
	}
	slices.SortFunc(needs, func(a, b need) int {
		return cmp.Or(cmp.Compare(a.key.object, b.key.object), cmp.Compare(a.key.field, b.key.field),
			cmp.Compare(a.key.value, b.key.value))
	})
	for _, n := range needs {
		if n.work.err == nil && !tx.org.locks.acquire(tx, n.key) {
			n.work.err = rowLocked(n.key.row()...)
		}
	}
}

// strike asks which rows a planted fault fails.
func (tx *Tx) strike(d *DML, works []work) map[int]fault.Kind {
	if d.Strike == nil {
		return nil
	}
	keys := make([][]string, len(works))
	for i := range works {
		keys[i] = works[i].keys(d)
	}
	return d.Strike(keys)
}

// keys lists the external ID values of a record: those it brings and those of
// the row it is about.
func (w *work) keys(d *DML) []string {
	var keys []string
	if key, ok := w.rec.Key.(string); ok && d.Verb == Upsert {
		keys = append(keys, key)
	}
	for _, a := range w.set {
		if text, ok := a.Value.(string); ok && a.Field.ExternalID {
			keys = append(keys, text)
		}
	}
	if w.found != nil {
		for _, f := range w.table.externals {
			if text, ok := w.found[f.Slot].(string); ok {
				keys = append(keys, text)
			}
		}
	}
	return keys
}

// struckError is the refusal a row fault stands for.
func struckError(kind fault.Kind, w *work) *RowError {
	id := w.id
	if id == "" {
		id = schema.NewID(w.table.obj.KeyPrefix, uint64(1)<<40)
	}
	switch kind {
	case fault.LockRow:
		return rowLocked(id)
	case fault.LockNested:
		return refuse("CANNOT_INSERT_UPDATE_ACTIVATE_ENTITY", nil,
			"SimulatedTrigger: execution of AfterUpdate\n\ncaused by: System.DmlException: Update failed. First exception on row 0 with id %s; first error: UNABLE_TO_LOCK_ROW, unable to obtain exclusive access to this record or 1 records: %s: []\n\nTrigger.SimulatedTrigger: line 1, column 1", id, id)
	case fault.Validation:
		return refuse("FIELD_CUSTOM_VALIDATION_EXCEPTION", nil, "A simulated validation rule refuses this record.")
	case fault.StorageFull:
		return refuse("STORAGE_LIMIT_EXCEEDED", nil, "storage limit exceeded")
	default:
		field := "Id"
		for _, f := range w.table.uniques {
			field = f.Name
			break
		}
		return refuse("DUPLICATE_VALUE", nil, "duplicate value found: %s duplicates value on record with id: %s", field, id[:15])
	}
}
