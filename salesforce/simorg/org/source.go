package org

import (
	"context"

	"sfbridge/salesforce/simorg/schema"
	"sfbridge/salesforce/simorg/soql"
)

// Query runs a query over what the transaction sees at this moment.
func (tx *Tx) Query(ctx context.Context, q *soql.Query) (*soql.Result, error) {
	tx.org.mu.RLock()
	defer tx.org.mu.RUnlock()
	return q.Run(ctx, source{tx})
}

// Get returns a row by id; nil if there is none.
func (tx *Tx) Get(obj *schema.Object, id string) schema.Row {
	tx.org.mu.RLock()
	defer tx.org.mu.RUnlock()
	return tx.view(tx.org.tables[obj], id)
}

// Deleted reports whether a row of that id was there once.
func (tx *Tx) Deleted(obj *schema.Object, id string) bool {
	tx.org.mu.RLock()
	defer tx.org.mu.RUnlock()
	_, gone := tx.org.tables[obj].deleted[id]
	return gone
}

// Find returns the rows that an external ID, or Id, matches as an upsert does.
func (tx *Tx) Find(f *schema.Field, value any) []schema.Row {
	tx.org.mu.RLock()
	defer tx.org.mu.RUnlock()
	return tx.match(tx.org.tables[f.Object], f, value)
}

// match finds rows by an indexed field. Case counts as Field.UpsertFold says.
// The caller holds Org.mu for reading.
func (tx *Tx) match(t *table, f *schema.Field, value any) []schema.Row {
	if f.Slot == schema.SlotID {
		id, _ := value.(string)
		if row := tx.view(t, id); row != nil {
			return []schema.Row{row}
		}
		return nil
	}
	key, ok := indexKey(f, value)
	if !ok {
		return nil
	}
	if f.Unique {
		if id := tx.holder(t, f, key); id != "" {
			return []schema.Row{tx.view(t, id)}
		}
		return nil
	}
	var rows []schema.Row
	tx.visit(t, f, key, func(row schema.Row) bool {
		stored, isText := row[f.Slot].(string)
		if given, _ := value.(string); !isText || f.UpsertFold(stored) == f.UpsertFold(given) {
			rows = append(rows, row)
		}
		return true
	})
	return rows
}

// source shows the transaction's view to a query. Org.mu is held for reading.
type source struct{ tx *Tx }

func (s source) Scan(obj *schema.Object, visit func(schema.Row) bool) {
	t := s.tx.org.tables[obj]
	goOn := t.scan(func(row schema.Row) bool {
		if _, changed := s.tx.changes[row.ID()]; changed {
			return true
		}
		return visit(row)
	})
	if goOn {
		s.tx.changed(t, visit)
	}
}

func (s source) Lookup(f *schema.Field, values []any, visit func(schema.Row) bool) {
	t := s.tx.org.tables[f.Object]
	for _, v := range values {
		if f.Slot == schema.SlotID {
			id, _ := v.(string)
			if row := s.tx.view(t, id); row != nil && !visit(row) {
				return
			}
			continue
		}
		if key, ok := indexKey(f, v); ok && !s.tx.visit(t, f, key, visit) {
			return
		}
	}
}

func (s source) Get(obj *schema.Object, id string) (schema.Row, bool) {
	row := s.tx.view(s.tx.org.tables[obj], id)
	return row, row != nil
}
