package org

import (
	"slices"
	"time"

	"sfbridge/salesforce/simorg/formula"
	"sfbridge/salesforce/simorg/schema"
)

// save carries out one record. The caller holds Org.mu for reading and the
// locks of the record.
func (tx *Tx) save(d *DML, w *work, now time.Time) {
	if w.err == nil {
		var errs []RowError
		switch {
		case d.Verb == Delete:
			w.err = tx.remove(w.table, w.id)
		case w.id == "":
			errs = tx.insert(d, w, now)
		default:
			errs = tx.update(d, w, now)
		}
		w.result.Errors = errs
	}
	if w.err != nil {
		w.result.Errors = []RowError{*w.err}
	}
	if w.result.OK() && w.result.ID == "" {
		w.result.ID = w.id
	}
}

func (tx *Tx) insert(d *DML, w *work, now time.Time) []RowError {
	row := w.table.obj.NewRow()
	for _, f := range w.table.obj.Fields {
		if f.Default != nil {
			row[f.Slot] = f.Default
		}
	}
	if errs := tx.assign(w, row, nil); errs != nil {
		return errs
	}
	tx.putKey(d, w, row)
	w.table.stamp(row, now, true)
	if errs := tx.check(w.table, row, nil, w.set); errs != nil {
		return errs
	}
	w.table.number(row, now)
	w.table.name(row)
	if errs := tx.obeyRules(w.table, formula.Env{New: row, IsNew: true, Now: now}); errs != nil {
		return errs
	}
	if err := tx.checkUnique(w.table, row, nil); err != nil {
		return []RowError{*err}
	}
	tx.write(w.table, row.ID(), nil, row)
	w.result.ID, w.result.Created = row.ID(), true
	return nil
}

// putKey gives a new row the external ID that an upsert names.
func (tx *Tx) putKey(d *DML, w *work, row schema.Row) {
	if d.Verb != Upsert || d.Key.Slot == schema.SlotID {
		return
	}
	if value, err := tx.org.store(d.Key, w.rec.Key); err == nil {
		row[d.Key.Slot] = value
	}
}

func (tx *Tx) update(d *DML, w *work, now time.Time) []RowError {
	current := tx.view(w.table, w.id)
	if current == nil {
		if d.Verb == Upsert && d.Key.Slot != schema.SlotID && !d.UpdateOnly {
			return tx.insert(d, w, now)
		}
		return []RowError{*tx.gone(w.table, w.id)}
	}
	row := slices.Clone(current)
	if errs := tx.assign(w, row, current); errs != nil {
		return errs
	}
	if errs := tx.check(w.table, row, current, w.set); errs != nil {
		return errs
	}
	w.table.stamp(row, now, false)
	w.table.name(row)
	if errs := tx.obeyRules(w.table, tx.ruleEnv(w, row, current, now)); errs != nil {
		return errs
	}
	if err := tx.checkUnique(w.table, row, current); err != nil {
		return []RowError{*err}
	}
	tx.write(w.table, w.id, current, row)
	return nil
}

// ruleEnv is what validation rules see of an update. With PriorUnlocked they
// see the row as it was loaded before the wait for its lock, unless this
// transaction has written it since.
func (tx *Tx) ruleEnv(w *work, row, current schema.Row, now time.Time) formula.Env {
	env := formula.Env{New: row, Old: current, Now: now}
	if _, own := tx.changes[w.id]; own || !tx.org.cfg.PriorUnlocked {
		return env
	}
	env.Old = w.found
	env.New = slices.Clone(w.found)
	for _, a := range w.set {
		env.New[a.Field.Slot] = row[a.Field.Slot]
	}
	return env
}

// assign puts the record's values into row.
func (tx *Tx) assign(w *work, row, current schema.Row) []RowError {
	var readOnly []*schema.Field
	var errs []RowError
	for _, a := range w.set {
		value, err := tx.org.store(a.Field, a.Value)
		if err != nil {
			errs = append(errs, *err)
			continue
		}
		if !writable(a.Field, value, current) {
			readOnly = append(readOnly, a.Field)
			continue
		}
		row[a.Field.Slot] = value
	}
	if readOnly != nil {
		return []RowError{*notWritable(readOnly...)}
	}
	return errs
}

// writable says whether a caller may set the field. A master that can't be
// changed may be named again.
func writable(f *schema.Field, value any, current schema.Row) bool {
	if current == nil {
		return f.Createable
	}
	return f.Updateable || f.Type == schema.MasterDetail && current[f.Slot] == value
}

// check holds a row against the field definitions.
func (tx *Tx) check(t *table, row, current schema.Row, set []Assignment) []RowError {
	var blank []string
	for _, f := range t.obj.Fields {
		if f.Required && f.Createable && row[f.Slot] == nil && (current == nil || current[f.Slot] != nil) {
			blank = append(blank, f.Name)
		}
	}
	if blank != nil {
		return []RowError{*missing(blank)}
	}
	var errs []RowError
	for _, a := range set {
		if !a.Field.IsReference() {
			continue
		}
		if err := tx.checkReference(a.Field, row[a.Field.Slot]); err != nil {
			errs = append(errs, *err)
		}
	}
	return errs
}

func (tx *Tx) checkReference(f *schema.Field, value any) *RowError {
	id, ok := value.(string)
	if !ok {
		return nil
	}
	obj := tx.org.cfg.Schema.ByID(id)
	if obj == nil || !slices.ContainsFunc(f.ReferenceTo, func(name string) bool { return name == obj.Name }) {
		return malformedID(f.Label, id, f.Name)
	}
	if tx.view(tx.org.tables[obj], id) == nil {
		return badReference()
	}
	return nil
}

// obeyRules asks the validation rules; all that refuse are reported.
func (tx *Tx) obeyRules(t *table, env formula.Env) []RowError {
	var errs []RowError
	for _, rule := range t.rules {
		refused, err := rule.formula.True(env)
		if err != nil {
			errs = append(errs, *refuse("FIELD_CUSTOM_VALIDATION_EXCEPTION", nil,
				"The formula of validation rule %s could not be evaluated: %s", rule.Name, err))
			continue
		}
		if !refused {
			continue
		}
		var fields []string
		if rule.DisplayField != "" {
			fields = []string{rule.DisplayField}
		}
		errs = append(errs, RowError{Code: "FIELD_CUSTOM_VALIDATION_EXCEPTION", Message: rule.Message, Fields: fields})
	}
	return errs
}

func (tx *Tx) checkUnique(t *table, row, current schema.Row) *RowError {
	for _, f := range t.uniques {
		key, ok := indexKey(f, row[f.Slot])
		if !ok {
			continue
		}
		if current != nil && current[f.Slot] == row[f.Slot] {
			continue
		}
		if id := tx.holder(t, f, key); id != "" && id != row.ID() {
			return tx.org.duplicateValue(f, id)
		}
	}
	return nil
}

// remove deletes a row and what belongs to it. Locks were taken before; a
// child that came since and is locked by another can't be waited for here.
func (tx *Tx) remove(t *table, id string) *RowError {
	row := tx.view(t, id)
	if row == nil {
		return tx.gone(t, id)
	}
	begin := tx.savepoint()
	tx.write(t, id, row, nil)
	for _, child := range t.obj.Children {
		if err := tx.removeChildren(child, id); err != nil {
			tx.rollbackTo(begin)
			return err
		}
	}
	return nil
}

func (tx *Tx) removeChildren(child schema.Child, parent string) *RowError {
	if child.Field.OnDelete == schema.SetNull {
		return nil // done when the transaction commits
	}
	t := tx.org.tables[child.Object]
	for _, id := range tx.childIDs(child, parent) {
		if child.Field.OnDelete == schema.Restrict {
			return refuse("DELETE_FAILED", nil,
				"Your attempt to delete this record could not be completed because it is associated with the following %s: %s", child.Object.Label, id)
		}
		if !tx.org.locks.try(tx, lockKey{object: t.obj.Name, value: id}) {
			return rowLocked(id)
		}
		if err := tx.remove(t, id); err != nil && err.Code != CodeDeleted {
			return err
		}
	}
	return nil
}
