package soql

import (
	"strings"

	"github.com/shopspring/decimal"

	"sfbridge/salesforce/simorg/schema"
)

// value is a literal brought to the type of the field it is compared with:
// nil, a folded string, bool, decimal, or for times a span (of length zero for
// a plain literal).
type value any

// bindValue checks a literal against the field.
func (b *binder) bindValue(f *schema.Field, l literal) (value, error) {
	if l.kind == tokName && strings.EqualFold(l.text, "null") {
		return nil, nil
	}
	switch f.Kind() {
	case schema.KindNumber:
		if l.kind == tokNumber {
			d, err := decimal.NewFromString(l.text)
			if err == nil {
				return d, nil
			}
		}
	case schema.KindBool:
		if l.kind == tokName && (strings.EqualFold(l.text, "true") || strings.EqualFold(l.text, "false")) {
			return strings.EqualFold(l.text, "true"), nil
		}
	case schema.KindDate, schema.KindDateTime:
		return b.bindTime(f, l)
	case schema.KindID:
		return b.bindID(f, l)
	default:
		if l.kind == tokString {
			return b.bindText(f, l)
		}
	}
	return nil, b.wrongType(f, l)
}

func (b *binder) bindText(f *schema.Field, l literal) (value, error) {
	if l.wild {
		return nil, plainError(MalformedQuery, "Illegal character sequence '\\%%' or '\\_' in string literal: only LIKE takes it.")
	}
	if l.text == "" {
		return nil, nil
	}
	return f.Fold(l.text), nil
}

func (b *binder) bindID(f *schema.Field, l literal) (value, error) {
	if l.kind != tokString {
		return nil, b.wrongType(f, l)
	}
	id, ok := schema.ID18(l.text)
	if !ok {
		return nil, errorAt(b.query, l.pos, InvalidOperator, "invalid ID field: %s", l.text)
	}
	return id, nil
}

func (b *binder) bindTime(f *schema.Field, l literal) (value, error) {
	if rel, ok := relativeDates[strings.ToUpper(l.text)]; ok && l.kind == tokName {
		return rel.span(startOfDay(b.opt.Now), l.number), nil
	}
	want := tokDateTime
	if f.Kind() == schema.KindDate {
		want = tokDate
	}
	if l.kind != want {
		return nil, b.wrongType(f, l)
	}
	text := l.text
	if want == tokDate {
		text += "T00:00:00Z"
	}
	t, ok := parseDateTime(text)
	if !ok {
		return nil, errorAt(b.query, l.pos, MalformedQuery, "invalid date: %s", l.text)
	}
	return span{t, t}, nil
}

var typeNames = map[schema.Kind]string{
	schema.KindNumber: "double", schema.KindBool: "boolean", schema.KindDate: "date", schema.KindDateTime: "dateTime",
}

func (b *binder) wrongType(f *schema.Field, l literal) error {
	name, quoted := "string", "should be enclosed in quotes"
	if n, ok := typeNames[f.Kind()]; ok {
		name, quoted = n, "should not be enclosed in quotes"
	}
	if f.Kind() == schema.KindID {
		name = "id"
	}
	return errorAt(b.query, l.pos, InvalidField, "value of filter criterion for field '%s' must be of type %s and %s", f.Name, name, quoted)
}
