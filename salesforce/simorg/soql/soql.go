package soql

import (
	"context"
	"time"

	"sfbridge/salesforce/simorg/schema"
)

// Source gives a query its rows. All calls of one Run must see one state, and
// a row, once given out, must never change (copy on write).
type Source interface {
	// Scan visits every row of the object until visit returns false.
	Scan(obj *schema.Object, visit func(schema.Row) bool)
	// Lookup visits the rows whose field, an Indexed one, has one of the
	// values, until visit returns false. Values are distinct and come as the
	// index holds them: texts in the form of field.Fold, ids with 18
	// characters, numbers as decimal.Decimal.
	Lookup(field *schema.Field, values []any, visit func(schema.Row) bool)
	// Get returns the row of an id of the object.
	Get(obj *schema.Object, id string) (schema.Row, bool)
}

// Options of Compile. The zero value is valid.
type Options struct {
	// Visible says whether the user may see a field; nil: all of them. A
	// hidden field looks as if it did not exist.
	Visible func(*schema.Field) bool
	// Now is the time that TODAY and its kin speak of.
	Now time.Time
}

// Query is a compiled query. It is safe for concurrent use.
type Query struct {
	// Object is the object after FROM.
	Object *schema.Object
	// Select is what each record shows; nil for COUNT() and aggregate queries.
	Select *Selection
	// Count says that this is SELECT COUNT() FROM: the answer is the total alone.
	Count bool
	// Columns names the columns of an aggregate query, in order; else nil.
	Columns []AggregateColumn

	where   filter // nil: all rows
	access  *access
	order   []sortKey
	limit   int // -1: none
	offset  int
	measure []measure // of the aggregate columns
	groups  []*column
}

// Selection is what is shown of one record, in the order of the query.
type Selection struct {
	Object *schema.Object
	Items  []Item

	parents int
}

// Item is one member of a record: a field, or a parent record with members of
// its own.
type Item struct {
	Name   string        // as the schema spells it: Amount__c, Customer__r
	Field  *schema.Field // the field; for a parent the lookup that leads to it
	Parent *Selection    // nil for a field
	Slot   int           // of a parent: its place in Record.Parents
}

// AggregateColumn is one column of an aggregate query.
type AggregateColumn struct {
	Name  string        // alias, field name, or expr0, expr1, ...
	Field *schema.Field // whose type the value has; nil for counts
}

// Result is what a query gives.
type Result struct {
	Total      int      // the rows found, after LIMIT and OFFSET
	Records    []Record // none for COUNT() and aggregate queries
	Aggregates [][]any  // rows of an aggregate query by column; counts are decimal.Decimal
}

// Record is one row with the parents its selection shows.
type Record struct {
	Row     schema.Row
	Parents []Parent // by Item.Slot
}

// Parent is a record reached over a lookup; Row is nil when the lookup is.
type Parent struct {
	Object *schema.Object // the one it is of, among those the lookup may point to
	Record
}

// Compile parses a query and checks it against the schema. The error is an
// *Error.
func Compile(text string, s *schema.Schema, opt Options) (*Query, error) {
	st, err := parse(text)
	if err != nil {
		return nil, err
	}
	b := &binder{query: text, schema: s, opt: opt, alias: st.alias}
	return b.bind(st)
}

// Run reads the rows. The error is the context's.
func (q *Query) Run(ctx context.Context, src Source) (*Result, error) {
	if q.Columns != nil {
		return q.aggregate(ctx, src)
	}
	rows, err := q.rows(ctx, src)
	if err != nil {
		return nil, err
	}
	result := &Result{Total: len(rows)}
	if q.Count {
		return result, nil
	}
	result.Records = make([]Record, len(rows))
	for i, row := range rows {
		result.Records[i] = record(src, q.Select, row)
	}
	return result, nil
}

// record gathers the parents that a selection shows.
func record(src Source, sel *Selection, row schema.Row) Record {
	r := Record{Row: row}
	if sel.parents == 0 || row == nil {
		return r
	}
	r.Parents = make([]Parent, sel.parents)
	for _, item := range sel.Items {
		if item.Parent == nil {
			continue
		}
		parent := Parent{Object: item.Parent.Object}
		parent.Record = record(src, item.Parent, parentOf(src, item.Field, row))
		r.Parents[item.Slot] = parent
	}
	return r
}
