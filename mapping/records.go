package mapping

import (
	"errors"

	"sfbridge/mapping/path"
	"sfbridge/mapping/transform"
)

// Records maps an event to the records of its route, in file order and, within
// a record with each, in the order of the list. With any error there are no
// records: an event is written whole or not at all. Errors come in the order of
// the records, within a record the key first and then the fields by name.
func (r *Route) Records(in Input) ([]Record, []FieldError) {
	m := mapper{in: in}
	for i, s := range r.records {
		m.spec(s, i)
	}
	if len(m.errors) > 0 {
		return nil, m.errors
	}
	return m.records, nil
}

// mapper gathers what one event gives.
type mapper struct {
	in      Input
	records []Record
	errors  []FieldError
}

func (m *mapper) spec(s *spec, position int) {
	scope := m.in.Scope
	if s.each == nil {
		m.record(s, position, scope)
		return
	}
	elements, err := s.each.Elements(scope)
	if err != nil {
		m.fail(s, s.target.KeyField, s.each.String(), err)
		return
	}
	for _, element := range elements {
		scope.Element = element
		m.record(s, position, scope)
	}
}

func (m *mapper) record(s *spec, position int, scope path.Scope) {
	t := &s.target
	r := Record{
		Object: t.Object, Action: t.Action, Key: Key{Field: t.KeyField},
		Fields: make(map[string]any, len(s.fields)),
		Order:  t.Order, Coalesce: t.Coalesce, Each: t.Each, Guard: t.Guard, Spec: position,
		eventID: m.in.EventID, order: m.in.Order,
	}
	if value, source, err := s.key.value(scope); err != nil {
		m.fail(s, t.KeyField, source, err)
	} else {
		r.Key.Value = value
	}
	if t.Machine != nil {
		r.State = &StateValue{Field: t.State, Machine: t.Machine}
	}
	for i := range s.fields {
		m.field(s, &s.fields[i], &r, scope)
	}
	m.records = append(m.records, r)
}

// field puts one value where it belongs.
func (m *mapper) field(s *spec, f *field, r *Record, scope path.Scope) {
	value, present, err := f.source.Resolve(scope)
	if err == nil {
		value, present, err = f.transform.Apply(value, present, scope)
	}
	if key, ok := value.(string); ok && err == nil && f.Parent != "" {
		err = path.CheckKey(f.source.String(), key)
	}
	if err != nil {
		m.fail(s, f.Name, f.source.String(), err)
		return
	}
	if !present {
		return
	}
	if r.State != nil && f.Name == r.State.Field {
		if text, ok := path.Text(value); ok {
			r.State.Value = &text
		}
	}
	r.put(f, value)
}

// put sets a field; a lookup becomes the parent's external ID under its
// relationship, or null under its column.
func (r *Record) put(f *field, value any) {
	into := r.values(f.On)
	text, isText := path.Text(value)
	if f.Parent == "" || !isText {
		into[f.Column] = value
		return
	}
	into[f.Name] = map[string]any{f.By: value}
	r.Parents = append(r.Parents, Ref{Object: f.Parent, Field: f.By, Value: text, Lookup: f.Name})
}

// values is the map that a field of the given on: goes to.
func (r *Record) values(on string) map[string]any {
	switch on {
	case OnCreate:
		if r.OnCreate == nil {
			r.OnCreate = map[string]any{}
		}
		return r.OnCreate
	case OnUpdate:
		if r.OnUpdate == nil {
			r.OnUpdate = map[string]any{}
		}
		return r.OnUpdate
	default:
		return r.Fields
	}
}

// value is the key's text, never empty and never cut, and the path or template
// it came from.
func (k key) value(scope path.Scope) (text, source string, err error) {
	t := k.template
	if t.IsZero() {
		t = path.TemplateOf(k.choose(scope), path.Key)
	}
	text, _, err = t.Expand(scope)
	return text, t.String(), err
}

// choose is the first candidate that has a value, else the last one, whose
// error then tells.
func (k key) choose(scope path.Scope) path.Path {
	for _, p := range k.candidates {
		if v, ok := p.Get(scope); ok && v != nil {
			return p
		}
	}
	return k.candidates[len(k.candidates)-1]
}

func (m *mapper) fail(s *spec, field, source string, err error) {
	m.errors = append(m.errors, fieldError(s, field, source, err))
}

// fieldError turns an error of a path, template or transform into a field error.
func fieldError(s *spec, field, source string, err error) FieldError {
	e := FieldError{Object: s.target.Object, Field: field, Path: source, Reason: err.Error()}
	var value *transform.Error
	var part *path.ValueError
	switch {
	case errors.As(err, &value):
		e.Reason, e.Value = value.Reason, value.Value
	case errors.As(err, &part):
		e.Path, e.Reason = part.Path, part.Reason
	}
	return e
}
