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
	// Select is what each record shows; nil for count() and aggregate queries.
	Select *Selection
	// Count says that this is SELECT COUNT() FROM: the answer is the total alone.
	Count bool
	// Columns names the columns of an aggregate query, in order; else nil.
	Columns []AggregateColumn
}

// Selection is what is shown of one record, in the order of the query.
type Selection struct {
	Object *schema.Object
	Items  []Item
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
	Records    []Record // none for count() and aggregate queries
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
func Compile(text string, s *schema.Schema, opt Options) (*Query, error) { return &Query{}, nil }

// Run reads the rows.
func (q *Query) Run(ctx context.Context, src Source) (*Result, error) { return nil, ctx.Err() }

// Error is a refusal, with Salesforce's code and message.
type Error struct {
	Code    string // MALFORMED_QUERY, INVALID_FIELD, INVALID_TYPE, ...
	Message string
}

func (e *Error) Error() string { return e.Code + ": " + e.Message }
