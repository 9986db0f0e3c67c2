package org

import (
	"slices"
	"strings"

	"sfbridge/salesforce/simorg/fault"
	"sfbridge/salesforce/simorg/schema"
)

// Verb is what a DML statement does.
type Verb int

// Verbs.
const (
	Insert Verb = iota
	Update
	Upsert
	Delete
)

// DML is one statement over a list of records.
type DML struct {
	Verb       Verb
	Key        *schema.Field // of an upsert: an external ID, or Id
	Records    []Record
	AllOrNone  bool
	UpdateOnly bool // an upsert that never creates

	// Strike says which rows a planted fault fails: keys holds the external ID
	// values of each row. It may be nil.
	Strike func(keys [][]string) map[int]fault.Kind
}

// Record is one record of a statement.
type Record struct {
	Object *schema.Object
	ID     string // of update and delete: as given
	Key    any    // of an upsert: the value of DML.Key; nil: not given
	Set    []Assignment
	Bad    *RowError // found while reading it; the record is refused
}

// Assignment gives a field a value: nil, string, bool, decimal.Decimal,
// time.Time, or a *Ref.
type Assignment struct {
	Field *schema.Field
	Value any
}

// Ref names the record a lookup shall point to by its external ID.
type Ref struct {
	Field *schema.Field // the external ID, or Id, of the other object
	Value any
}

// Result is what became of one record.
type Result struct {
	ID      string // also of a row that was rolled back later
	Created bool
	Errors  []RowError
	Matches []string // ids, where an external ID matched several rows
}

// OK reports success.
func (r Result) OK() bool { return len(r.Errors) == 0 }

// work is a record on its way.
type work struct {
	rec    *Record
	table  *table
	id     string     // of the row to change; empty: a new one
	found  schema.Row // the row as it was before waiting for its lock
	set    []Assignment
	err    *RowError
	locks  []lockKey
	result *Result
}

// maxSameID is how often one record may be in an update call.
const maxSameID = 5

// Do carries out a statement. Unless AllOrNone is set, each record succeeds or
// fails by itself.
func (tx *Tx) Do(d DML) []Result {
	results := make([]Result, len(d.Records))
	works := make([]work, len(d.Records))
	now := tx.org.now()
	tx.locate(&d, works, results)
	tx.lockAll(works)
	struck := tx.strike(&d, works)
	begin := tx.savepoint()
	failed := false
	tx.org.mu.RLock()
	for i := range works {
		if kind, ok := struck[i]; ok && works[i].err == nil {
			works[i].err = struckError(kind, &works[i])
		}
		tx.save(&d, &works[i], now)
		failed = failed || !results[i].OK()
	}
	tx.org.mu.RUnlock()
	if failed && d.AllOrNone {
		tx.rollbackTo(begin)
		rolledBack(results)
	}
	return results
}

// rolledBack marks the good rows of a statement that failed as a whole.
func rolledBack(results []Result) {
	for i := range results {
		if results[i].OK() {
			results[i].Created = false
			results[i].Errors = []RowError{{Code: CodeRolledBack,
				Message: "Record rolled back because not all records were valid and the request was using AllOrNone header"}}
		}
	}
}

// locate finds the rows the records are about and the records they refer to,
// as they are before the statement.
func (tx *Tx) locate(d *DML, works []work, results []Result) {
	tx.org.mu.RLock()
	defer tx.org.mu.RUnlock()
	twice := tx.repeated(d)
	times := map[string]int{}
	for i := range works {
		w := &works[i]
		w.rec, w.result = &d.Records[i], &results[i]
		w.table = tx.org.tables[w.rec.Object]
		switch {
		case w.rec.Bad != nil:
			w.err = w.rec.Bad
		case w.rec.Object != nil && w.rec.Object.Event && d.Verb != Insert:
			w.err = refuse("INVALID_TYPE_FOR_OPERATION", nil, "%s is a platform event: it can only be published", w.rec.Object.Name)
		case d.Verb == Upsert && d.Key.Slot != schema.SlotID:
			w.err = tx.locateKey(d, w, twice)
		case d.Verb == Insert || d.Verb == Upsert && w.rec.ID == "":
		default:
			if w.err = tx.locateID(w); w.err == nil && d.Verb != Delete {
				times[w.id]++
				w.err = tooOften(times[w.id], i)
			}
		}
		if w.err == nil {
			w.err = tx.resolve(w)
		}
		tx.plan(d, w)
	}
}

func tooOften(times, row int) *RowError {
	if times <= maxSameID {
		return nil
	}
	return refuse("DUPLICATE_VALUE", nil,
		"Maximum number of duplicate updates in one batch (%d allowed). Attempt to update Id more than once in this API call: %d.", maxSameID, row)
}

// repeated counts the keys of an upsert: all rows that share one are refused.
func (tx *Tx) repeated(d *DML) map[string]int {
	if d.Verb != Upsert || d.Key.Slot == schema.SlotID {
		return nil
	}
	count := make(map[string]int, len(d.Records))
	for i := range d.Records {
		if key, ok := tx.callKey(d.Key, d.Records[i].Key); ok {
			count[key]++
		}
	}
	return count
}

func (tx *Tx) callKey(f *schema.Field, v any) (string, bool) {
	if text, ok := v.(string); ok {
		text = tidy(text)
		if tx.org.cfg.FoldNoKeys {
			return text, text != ""
		}
		return f.UpsertFold(text), text != ""
	}
	return indexKey(f, v)
}

func (tx *Tx) locateKey(d *DML, w *work, count map[string]int) *RowError {
	key, ok := tx.callKey(d.Key, w.rec.Key)
	if !ok {
		return refuse("MISSING_ARGUMENT", nil, "%s not specified", d.Key.Name)
	}
	if count[key] > 1 {
		return refuse("DUPLICATE_VALUE", []string{d.Key.Name}, "Duplicate external id specified: %v", w.rec.Key)
	}
	value, err := tx.org.store(d.Key, w.rec.Key)
	if err != nil {
		return err
	}
	rows := tx.match(w.table, d.Key, value)
	switch {
	case len(rows) == 1:
		w.id, w.found = rows[0].ID(), rows[0]
	case len(rows) > 1:
		for _, row := range rows {
			w.result.Matches = append(w.result.Matches, row.ID())
		}
		slices.Sort(w.result.Matches)
		return refuse(CodeDuplicateID, nil, "%s: more than one record found for external id field: [%s]",
			d.Key.Label, strings.Join(w.result.Matches, ", "))
	case d.UpdateOnly:
		return refuse(CodeNotFound, nil, "The requested resource does not exist")
	}
	return nil
}

func (tx *Tx) locateID(w *work) *RowError {
	id, ok := schema.ID18(w.rec.ID)
	switch {
	case w.rec.ID == "":
		return refuse("MISSING_ARGUMENT", nil, "Id not specified in an update call")
	case !ok || tx.org.cfg.Schema.ByID(id) != w.rec.Object:
		return malformedID(w.rec.Object.Label, w.rec.ID, "Id")
	}
	w.id, w.found = id, tx.view(w.table, id)
	if w.found != nil {
		return nil
	}
	return tx.gone(w.table, id)
}

// gone says why a row can't be found. The caller holds Org.mu for reading.
func (tx *Tx) gone(t *table, id string) *RowError {
	_, deleted := t.deleted[id]
	if _, here := tx.changes[id]; here || deleted {
		return isDeleted()
	}
	return badReference()
}

// resolve replaces references by external ID by record ids.
func (tx *Tx) resolve(w *work) *RowError {
	w.set = w.rec.Set
	for i, a := range w.set {
		ref, ok := a.Value.(*Ref)
		if !ok {
			continue
		}
		id, err := tx.referenced(ref)
		if err != nil {
			return err
		}
		if &w.set[0] == &w.rec.Set[0] {
			w.set = slices.Clone(w.set)
		}
		w.set[i].Value = id
	}
	return nil
}

func (tx *Tx) referenced(ref *Ref) (string, *RowError) {
	value, err := tx.org.store(ref.Field, ref.Value)
	if err != nil {
		return "", err
	}
	rows := tx.match(tx.org.tables[ref.Field.Object], ref.Field, value)
	switch len(rows) {
	case 1:
		return rows[0].ID(), nil
	case 0:
		if value == nil {
			return "", refuse("MISSING_ARGUMENT", nil, "%s not specified", ref.Field.Name)
		}
		return "", refuse("INVALID_FIELD", nil, "Foreign key external ID: %v not found for field %s in entity %s",
			ref.Value, ref.Field.Name, ref.Field.Object.Name)
	}
	return "", refuse(CodeDuplicateID, nil, "%s: more than one record found for external id field", ref.Field.Label)
}
