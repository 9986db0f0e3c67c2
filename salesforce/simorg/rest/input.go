package rest

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"sfbridge/salesforce/simorg/jsonin"
	"sfbridge/salesforce/simorg/org"
	"sfbridge/salesforce/simorg/schema"
)

// reader turns JSON records of one body into records of the database. What it
// refuses with an *apiError makes the whole call fail; what is wrong with one
// record only is left in Record.Bad.
type reader struct {
	api *API
	raw []byte // for positions in messages
}

func (rd reader) at(v *jsonin.Value) string {
	line, column := jsonin.Position(rd.raw, v.Offset)
	return fmt.Sprintf("at [line:%d, column:%d]", line, column)
}

func (rd reader) parserError(v *jsonin.Value, format string, args ...any) *apiError {
	return bad("JSON_PARSER_ERROR", fmt.Sprintf(format, args...)+" "+rd.at(v))
}

// field finds a field the API user may see.
func (a *API) field(obj *schema.Object, name string) *schema.Field {
	f := obj.Field(name)
	if f == nil || a.cfg.Hidden(f) {
		return nil
	}
	return f
}

func noColumn(obj *schema.Object, name string) *apiError {
	return bad("INVALID_FIELD", fmt.Sprintf("No such column '%s' on sobject of type %s", name, obj.Name))
}

// record reads the fields of one record. key, if set, is the external ID of an
// upsert; its value becomes Record.Key.
func (rd reader) record(obj *schema.Object, v *jsonin.Value, key *schema.Field) (org.Record, *apiError) {
	rec := org.Record{Object: obj}
	if v.Kind != jsonin.Object {
		return rec, rd.parserError(v, "Cannot deserialize instance of %s from %s value %s or request may be missing a required field",
			obj.Name, v.Token(), v.Literal())
	}
	rec.Set = make([]org.Assignment, 0, len(v.Members))
	for i := range v.Members {
		m := &v.Members[i]
		if m.Name == "attributes" {
			continue
		}
		if err := rd.member(&rec, m, key); err != nil {
			return rec, err
		}
	}
	refuseBoth(&rec)
	return rec, nil
}

// refuseBoth refuses a record that names one parent by id and by external ID.
func refuseBoth(rec *org.Record) {
	for i, a := range rec.Set {
		if _, byKey := a.Value.(*org.Ref); !byKey {
			continue
		}
		for j, other := range rec.Set {
			if j != i && other.Field == a.Field && rec.Bad == nil {
				rec.Bad = &org.RowError{Code: "INVALID_FIELD", Message: fmt.Sprintf(
					"cannot specify both an external ID reference %s and a salesforce id, %s", a.Field.Parent, a.Field.Name)}
			}
		}
	}
}

func (rd reader) member(rec *org.Record, m *jsonin.Member, key *schema.Field) *apiError {
	f := rd.api.field(rec.Object, m.Name)
	if f == nil {
		if parent := rec.Object.Relationship(m.Name); parent != nil && !rd.api.cfg.Hidden(parent) {
			return rd.reference(rec, parent, m)
		}
		return noColumn(rec.Object, m.Name)
	}
	value, err := rd.value(f, &m.Value)
	if err != nil {
		return err
	}
	switch {
	case f.Type == schema.ID:
		rec.ID, _ = value.(string)
		if key == f {
			rec.Key = value
		}
	case f == key:
		rec.Key = value
	default:
		rec.Set = append(rec.Set, org.Assignment{Field: f, Value: value})
	}
	return nil
}

// reference reads a lookup given by the parent's external ID.
func (rd reader) reference(rec *org.Record, f *schema.Field, m *jsonin.Member) *apiError {
	switch m.Value.Kind {
	case jsonin.Null:
		if rd.api.cfg.Unsure.NullReferenceClears {
			rec.Set = append(rec.Set, org.Assignment{Field: f})
		}
		return nil // a lookup is cleared by its own field
	case jsonin.Object:
	default:
		return rd.parserError(&m.Value, "Cannot deserialize instance of %s from %s value %s or request may be missing a required field",
			f.ReferenceTo[0], m.Value.Token(), m.Value.Literal())
	}
	parent, err := rd.parent(f, &m.Value)
	if err != nil {
		return err
	}
	named := fieldsOf(&m.Value)
	if len(named) != 1 {
		text := "More than 1 field provided in an external foreign key reference in entity: "
		if len(named) == 0 {
			text = "No external id provided in an external foreign key reference in entity: "
		}
		rec.Bad = &org.RowError{Code: "INVALID_FIELD", Message: text + parent.Name}
		return nil
	}
	ext := rd.api.field(parent, named[0].Name)
	if ext == nil {
		return noColumn(parent, named[0].Name)
	}
	if !ext.ExternalID && ext.Type != schema.ID {
		rec.Bad = &org.RowError{Code: "INVALID_FIELD", Message: fmt.Sprintf(
			"Field name provided, %s does not match an External ID, Salesforce Id, or indexed field for %s", ext.Name, parent.Name)}
		return nil
	}
	value, err := rd.value(ext, &named[0].Value)
	if err != nil {
		return err
	}
	rec.Set = append(rec.Set, org.Assignment{Field: f, Value: &org.Ref{Field: ext, Value: value}})
	return nil
}

// fieldsOf lists the members of a record that name fields.
func fieldsOf(v *jsonin.Value) []*jsonin.Member {
	var named []*jsonin.Member
	for i := range v.Members {
		if m := &v.Members[i]; m.Name != "attributes" {
			named = append(named, m)
		}
	}
	return named
}

// parent says which object a reference means: one of several must be named.
func (rd reader) parent(f *schema.Field, v *jsonin.Value) (*schema.Object, *apiError) {
	name := f.ReferenceTo[0]
	if attributes := v.Get("attributes"); attributes != nil {
		if given := attributes.StringAt("type"); given != "" {
			name = given
		}
	} else if len(f.ReferenceTo) > 1 {
		return nil, bad("INVALID_FIELD", "The type of a polymorphic reference must be given for "+f.Parent)
	}
	obj := rd.api.cfg.Org.Schema().Object(name)
	if obj == nil {
		return nil, invalidType(name)
	}
	return obj, nil
}

func invalidType(name string) *apiError {
	return bad("INVALID_TYPE", fmt.Sprintf("sObject type '%s' is not supported. If you are attempting to use a custom object, be sure to append the '__c' after the entity name. Please reference your WSDL or the describe call for the appropriate names.", name))
}

// value reads one value as the field's type.
func (rd reader) value(f *schema.Field, v *jsonin.Value) (any, *apiError) {
	if v.Kind == jsonin.Null {
		return nil, nil
	}
	var out any
	valid := false
	switch f.Kind() {
	case schema.KindNumber:
		if v.Kind == jsonin.Number || v.Kind == jsonin.String {
			out, valid = parseNumber(v.Text)
		}
	case schema.KindBool:
		out, valid = parseBool(v)
	case schema.KindDate:
		if v.Kind == jsonin.String {
			out, valid = parseDate(v.Text)
		}
	case schema.KindDateTime:
		if v.Kind == jsonin.String {
			out, valid = parseDateTime(v.Text)
		}
	default:
		out, valid = v.Text, v.Kind == jsonin.String
	}
	if !valid {
		return nil, rd.parserError(v, "Cannot deserialize instance of %s from %s value %s or request may be missing a required field",
			inputType(f), v.Token(), v.Literal())
	}
	return out, nil
}

// inputType names a field's type as the org's parser does.
func inputType(f *schema.Field) string {
	switch f.Kind() {
	case schema.KindText, schema.KindPicklist, schema.KindID:
		return "string"
	}
	return f.Type.SOAP()
}

var numberText = regexp.MustCompile(`^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?$`)

func parseNumber(text string) (any, bool) {
	if len(text) > 400 || !numberText.MatchString(text) {
		return nil, false
	}
	d, err := decimal.NewFromString(strings.TrimPrefix(text, "+"))
	return d, err == nil
}

func parseBool(v *jsonin.Value) (any, bool) {
	switch {
	case v.Kind == jsonin.Bool:
		return v.Bool, true
	case v.Kind == jsonin.String && strings.EqualFold(v.Text, "true"):
		return true, true
	case v.Kind == jsonin.String && strings.EqualFold(v.Text, "false"):
		return false, true
	}
	return nil, false
}

func parseDate(text string) (any, bool) {
	t, err := time.Parse("2006-01-02", text)
	return t, err == nil
}

// dateTimeText is what the org reads: a zone with a colon, or one without
// after milliseconds.
var dateTimeText = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$|^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d{4}$`)

func parseDateTime(text string) (any, bool) {
	if !dateTimeText.MatchString(text) {
		return nil, false
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.000-0700", "2006-01-02T15:04Z07:00"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), true
		}
	}
	return nil, false
}

// parseBody reads the body of a request as JSON.
func parseBody(raw []byte) (*jsonin.Value, *apiError) {
	v, err := jsonin.Parse(raw)
	if err != nil {
		return nil, &apiError{http.StatusBadRequest, "JSON_PARSER_ERROR", err.Error()}
	}
	return &v, nil
}
