package mapping

import (
	"encoding/json"
	"strconv"

	"sfbridge/mapping/path"
)

// Explained is a record of an event with the way each of its values came about.
type Explained struct {
	Object string
	Action Action
	Key    Key // Value is "" when Lines say why
	Lines  []Line
}

// Line is the way of one value.
type Line struct {
	Field   string
	On      string // "" for always; create or update
	Source  string // path, paths or template; "" for a fixed value
	Raw     any    // what stands there
	Present bool   // something stands there
	Result  any    // what is sent
	Sent    bool   // it is sent
	Reason  string // why it can't be sent, "" when it can
}

// Sources of the lines that come from the event as a whole.
const (
	SourceOrder   = "the event's order"
	SourceEventID = "the event's id"
)

// Explain maps an event as Records does and tells how each value came about,
// also of the records that have field errors. The key comes first, then the
// fields by name, then what order adds. A list that can't be read is a record
// with one line.
func (r *Route) Explain(in Input) []Explained {
	var out []Explained
	for _, s := range r.records {
		scope := in.Scope
		if s.each == nil {
			out = append(out, s.explain(in, scope))
			continue
		}
		elements, err := s.each.Elements(scope)
		if err != nil {
			line := Line{Field: s.target.KeyField, Source: s.each.String(), Reason: fieldError(s, "", "", err).Reason}
			out = append(out, Explained{Object: s.target.Object, Action: s.target.Action, Key: Key{Field: s.target.KeyField}, Lines: []Line{line}})
			continue
		}
		for _, element := range elements {
			scope.Element = element
			out = append(out, s.explain(in, scope))
		}
	}
	return out
}

func (s *spec) explain(in Input, scope path.Scope) Explained {
	e := Explained{Object: s.target.Object, Action: s.target.Action, Key: Key{Field: s.target.KeyField}}
	key := Line{Field: s.target.KeyField}
	value, source, err := s.key.value(scope)
	key.Source = source
	if err != nil {
		key.Reason = fieldError(s, "", source, err).Reason
	} else {
		e.Key.Value = value
		key.Raw, key.Present, key.Result, key.Sent = value, true, value, true
		if paths := s.key.paths(); s.key.template.IsZero() && len(paths) == 1 {
			key.Raw, key.Present = paths[0].Get(scope)
		}
	}
	e.Lines = append(e.Lines, key)
	for i := range s.fields {
		e.Lines = append(e.Lines, s.fields[i].explain(s, scope))
	}
	e.Lines = append(e.Lines, s.explainOrder(in)...)
	return e
}

// explainOrder is what the stale guard adds to a record.
func (s *spec) explainOrder(in Input) []Line {
	var lines []Line
	o := s.target.Order
	if o == nil {
		return nil
	}
	order := Line{Field: o.Field, Source: SourceOrder}
	if in.Order != nil {
		n := json.Number(strconv.FormatInt(*in.Order, 10))
		order.Raw, order.Present, order.Result, order.Sent = n, true, n, true
	}
	lines = append(lines, order)
	if o.Event != "" {
		lines = append(lines, Line{Field: o.Event, Source: SourceEventID, Raw: in.EventID, Present: true, Result: in.EventID, Sent: true})
	}
	return lines
}

func (f *field) explain(s *spec, scope path.Scope) Line {
	line := Line{Field: f.Name, On: f.On, Source: f.source.String()}
	raw, present, err := f.source.Resolve(scope)
	if err == nil {
		line.Raw, line.Present = raw, present
		line.Result, line.Sent, err = f.transform.Apply(raw, present, scope)
	}
	if err != nil {
		line.Reason = fieldError(s, f.Name, line.Source, err).Reason
	}
	return line
}
