package schema

import (
	"slices"
	"strings"
)

// SlotID is the slot of Id in the rows of every object.
const SlotID = 0

// Row holds the values of one record by Field.Slot.
type Row []any

// ID returns the record's id.
func (r Row) ID() string {
	id, _ := r[SlotID].(string)
	return id
}

// Schema is the objects of an org. It doesn't change once loaded.
type Schema struct {
	objects []*Object
	byName  map[string]*Object // lower case
	prefix  map[string]*Object
}

// Object finds an object by API name, in any case; nil if there is none.
func (s *Schema) Object(name string) *Object {
	if o, ok := s.byName[name]; ok {
		return o
	}
	return s.byName[strings.ToLower(name)]
}

// Objects returns all objects ordered by name.
func (s *Schema) Objects() []*Object { return slices.Clone(s.objects) }

// ByID finds the object that an id belongs to; nil if there is none.
func (s *Schema) ByID(id string) *Object {
	if len(id) < 3 {
		return nil
	}
	return s.prefix[id[:3]]
}

// Object is one sObject type.
type Object struct {
	Name, Label, PluralLabel string
	KeyPrefix                string // first three characters of its ids
	Custom                   bool
	Event                    bool // a platform event: rows are published, not kept for queries
	Fields                   []*Field
	Rules                    []Rule  // active validation rules, ordered by name
	Children                 []Child // lookups and master-details that point here

	byName   map[string]*Field // lower case and as spelled
	byParent map[string]*Field // relationship names
}

// Field finds a field by API name, in any case; nil if there is none.
func (o *Object) Field(name string) *Field {
	if f, ok := o.byName[name]; ok {
		return f
	}
	return o.byName[strings.ToLower(name)]
}

// Relationship finds the lookup whose parent is reached under name
// (Customer__r, Owner), in any case; nil if there is none.
func (o *Object) Relationship(name string) *Field {
	if f, ok := o.byParent[name]; ok {
		return f
	}
	return o.byParent[strings.ToLower(name)]
}

// NewRow returns a row of nulls, checkboxes false.
func (o *Object) NewRow() Row {
	row := make(Row, len(o.Fields))
	for i, f := range o.Fields {
		if f.Type == Checkbox {
			row[i] = false
		}
	}
	return row
}

// Rule is an active validation rule. Its formula says when a row is refused.
type Rule struct {
	Name         string
	Formula      string
	Message      string
	DisplayField string // the field an error names; empty: top of the page
	File         string // where it came from, for messages
}

// Child is one lookup seen from its parent.
type Child struct {
	Object *Object
	Field  *Field
	Name   string // Payments__r; empty when the relationship has no name
}

// PicklistValue is one entry of a picklist.
type PicklistValue struct {
	Value, Label string
	Default      bool
	Active       bool
}

// DeleteConstraint is what becomes of a lookup when its parent is deleted.
type DeleteConstraint string

const (
	SetNull  DeleteConstraint = "SetNull"
	Restrict DeleteConstraint = "Restrict"
	Cascade  DeleteConstraint = "Cascade" // also of every master-detail
)

// Field is one field of an object.
type Field struct {
	Object *Object
	Name   string
	Label  string
	Type   Type
	Slot   int // its place in a Row
	Custom bool

	Length           int // of text, in characters
	Precision, Scale int // of numbers: digits in all, digits after the point

	Required      bool // null is refused
	Unique        bool
	CaseSensitive bool // of a unique field
	ExternalID    bool
	Createable    bool // callers may set it on insert
	Updateable    bool // callers may set it on update
	Default       any  // value of a new row that doesn't name the field

	Picklist   []PicklistValue
	Restricted bool // only the values of Picklist

	ReferenceTo []string // objects a lookup may point to
	Parent      string   // relationship name upwards: Customer__r, Owner
	ChildName   string   // relationship name downwards, without __r
	OnDelete    DeleteConstraint

	Format string // of auto numbers: IE-{0000}

	targets []*Object
}

// Targets returns the objects of ReferenceTo.
func (f *Field) Targets() []*Object { return f.targets }

// Kind returns how the field's values are held and compared.
func (f *Field) Kind() Kind { return f.Type.Kind() }

// IsReference says whether the field points to another record.
func (f *Field) IsReference() bool { return f.Type == Lookup || f.Type == MasterDetail }

// Indexed says whether rows are found by the field without a scan: ids,
// unique fields, external IDs, lookups.
func (f *Field) Indexed() bool {
	return f.Type == ID || f.Unique || f.ExternalID || f.IsReference()
}

// Filterable says whether the field may stand in a filter, an order or a group.
func (f *Field) Filterable() bool { return !f.Type.Long() }

// HasValue says whether a picklist knows the value, in any case, and returns
// its own spelling.
func (f *Field) HasValue(v string) (string, bool) {
	for _, p := range f.Picklist {
		if p.Active && p.Value == v {
			return p.Value, true
		}
	}
	for _, p := range f.Picklist {
		if p.Active && strings.EqualFold(p.Value, v) {
			return p.Value, true
		}
	}
	return "", false
}

// ExactCase says that case counts when the field is compared in a query or
// for uniqueness.
func (f *Field) ExactCase() bool {
	return f.Kind() == KindID || f.Unique && f.CaseSensitive
}

// Fold returns the form of v in which two values are equal exactly when a
// query, and a unique index, take them as equal.
func (f *Field) Fold(v string) string {
	if f.ExactCase() {
		return v
	}
	return strings.ToLower(v)
}

// UpsertFold is Fold for matching by external ID: case counts unless the field
// is unique and not case sensitive.
func (f *Field) UpsertFold(v string) string {
	if f.Unique && !f.CaseSensitive {
		return strings.ToLower(v)
	}
	return v
}
