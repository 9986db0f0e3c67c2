package schema

import (
	"fmt"
	"strings"

	"github.com/shopspring/decimal"
)

// customField checks one declared field and turns it into a Field; nil when
// something is wrong with it.
func (l *loader) customField(x located[xmlField]) *Field {
	before := len(l.problems)
	v := x.value
	f := &Field{
		Name: v.FullName, Label: v.Label, Type: Type(v.Type), Custom: true,
		Required: v.Required, Unique: v.Unique, CaseSensitive: v.CaseSensitive, ExternalID: v.ExternalID,
		Createable: true, Updateable: true,
	}
	t, known := traits[f.Type]
	switch {
	case v.Formula != nil:
		l.problem(x.file, "formula", "formula fields are not simulated")
		return nil
	case !known || f.Type == ID:
		l.problem(x.file, "type", "field type "+quote(v.Type)+" is not simulated")
		return nil
	case v.LookupFilter != nil:
		l.problem(x.file, "lookupFilter", "lookup filters are not simulated")
		return nil
	}
	if f.Label == "" {
		l.problem(x.file, "label", "is required")
	}
	if (f.Unique || f.ExternalID) && !t.unique {
		l.problem(x.file, "unique", "a "+v.Type+" field can be neither unique nor an external ID")
	}
	l.size(x, f, t)
	l.special(x, f)
	l.defaultValue(x, f)
	if len(l.problems) > before {
		return nil
	}
	return f
}

// size reads length, precision and scale.
func (l *loader) size(x located[xmlField], f *Field, t trait) {
	f.Length = t.length
	if t.max > 0 {
		if x.value.Length == nil || *x.value.Length < t.min || *x.value.Length > t.max {
			l.problem(x.file, "length", fmt.Sprintf("must be %d to %d for %s", t.min, t.max, f.Type))
			return
		}
		f.Length = *x.value.Length
	}
	if t.kind != KindNumber {
		return
	}
	p, s := x.value.Precision, x.value.Scale
	if p == nil || s == nil || *p < 1 || *p > 18 || *s < 0 || *s > *p {
		l.problem(x.file, "precision", "precision must be 1 to 18 and scale 0 to precision")
		return
	}
	f.Precision, f.Scale = *p, *s
}

// special reads what only some types have.
func (l *loader) special(x located[xmlField], f *Field) {
	switch f.Type {
	case Picklist, MultiPicklist:
		l.picklist(x, f)
	case Lookup, MasterDetail:
		l.reference(x, f)
	case AutoNumber:
		f.Createable, f.Updateable = false, false
		f.Format = x.value.DisplayFormat
		if err := checkFormat(f.Format); err != nil {
			l.problem(x.file, "displayFormat", err.Error())
		}
	}
}

func (l *loader) picklist(x located[xmlField], f *Field) {
	set := x.value.ValueSet
	switch {
	case set == nil:
		l.problem(x.file, "valueSet", "is required")
		return
	case set.Name != "":
		l.problem(x.file, "valueSetName", "global value sets are not simulated")
		return
	case set.ControllingField != nil:
		l.problem(x.file, "controllingField", "dependent picklists are not simulated")
		return
	}
	f.Restricted = set.Restricted
	for _, v := range set.Values {
		if _, twice := f.HasValue(v.FullName); v.FullName == "" || twice {
			l.problem(x.file, "valueSetDefinition", "value "+quote(v.FullName)+" is empty or there twice")
			return
		}
		p := PicklistValue{Value: v.FullName, Label: v.Label, Default: v.Default, Active: v.IsActive == nil || *v.IsActive}
		f.Picklist = append(f.Picklist, p)
		if p.Default && p.Active {
			f.Default = p.Value
		}
	}
}

func (l *loader) reference(x located[xmlField], f *Field) {
	v := x.value
	if len(v.ReferenceTo) != 1 {
		l.problem(x.file, "referenceTo", "exactly one object is required")
		return
	}
	f.ReferenceTo = v.ReferenceTo
	f.ChildName = v.RelationshipName
	f.Parent = strings.TrimSuffix(f.Name, "__c") + "__r"
	if f.Type == MasterDetail {
		f.Required, f.OnDelete = true, Cascade
		f.Updateable = v.Reparentable
		return
	}
	f.OnDelete = DeleteConstraint(v.DeleteConstraint)
	switch f.OnDelete {
	case "":
		f.OnDelete = SetNull
	case SetNull, Restrict, Cascade:
	default:
		l.problem(x.file, "deleteConstraint", quote(v.DeleteConstraint)+" is none of SetNull, Restrict, Cascade")
	}
	if f.Required && f.OnDelete == SetNull {
		l.problem(x.file, "deleteConstraint", "a required lookup can't be set to null when its parent is deleted")
	}
}

// defaultValue reads a literal: the default may be a formula on the platform,
// here it is a number, a quoted text, true or false.
func (l *loader) defaultValue(x located[xmlField], f *Field) {
	text := strings.TrimSpace(x.value.Default)
	if f.Type == Checkbox {
		f.Default = strings.EqualFold(text, "true")
		if text != "" && !strings.EqualFold(text, "true") && !strings.EqualFold(text, "false") {
			l.problem(x.file, "defaultValue", quote(text)+" is neither true nor false")
		}
		return
	}
	if text == "" {
		return
	}
	switch f.Kind() {
	case KindNumber:
		if d, err := decimal.NewFromString(text); err == nil {
			f.Default = d
			return
		}
	case KindText:
		if n := len(text); n > 2 && (text[0] == '"' || text[0] == '\'') && text[n-1] == text[0] && !strings.ContainsAny(text[1:n-1], `"'\`) {
			f.Default = text[1 : n-1]
			return
		}
	}
	l.problem(x.file, "defaultValue", quote(text)+" is no literal of this type; default formulas are not simulated")
}
