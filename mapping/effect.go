package mapping

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf16"

	"sfbridge/mapping/path"
)

// EffectKind is the way in which an effect is delivered.
type EffectKind string

// The kinds of effects.
const (
	EffectPost      EffectKind = "post"           // an HTTP request
	EffectRecord    EffectKind = "salesforce"     // a record of its own, by an external ID
	EffectPublished EffectKind = "platform_event" // a platform event
)

// maxRequest is the length of a request in characters that the outbox holds.
const maxRequest = 131072

// EffectTarget is the fixed part of an effect: where it goes, whatever the
// event says. References to secrets stay references.
type EffectTarget struct {
	Name     string
	Kind     EffectKind
	URL      string // of a post
	Secret   string // of a post; "" for none
	Object   string // of a record or platform event
	KeyField string // of a record
	Fields   []TargetField

	On    string // object whose field is watched
	Field string // column that is watched
}

// Effect is a side effect that an event causes if its record makes the
// transition: the field had another value before, and one of From if that is
// not empty. What the value becomes was checked already.
type Effect struct {
	Name    string
	Record  int    // position of the record among those of the event
	Field   string // column of that record
	From    []string
	AnyFrom bool
	// Request is what is delivered, as compact JSON with one member that names
	// the kind:
	//
	//	{"post":{"body":…}}
	//	{"salesforce":{"object":…,"key":{"field":…,"value":…},"fields":{…}}}
	//	{"platform_event":{"object":…,"fields":{…}}}
	//
	// It holds neither an address nor a secret.
	Request string
}

// effect is a compiled effect of a route.
type effect struct {
	target EffectTarget
	from   []any // nil: any
	to     []any // nil: any
	body   any   // of a post: a tree whose paths are path.Path
	spec   *spec // of a record or platform event
}

// Effects lists what the file's routes may cause, in file order.
func (f *File) Effects() []EffectTarget {
	var out []EffectTarget
	for _, r := range f.Routes {
		out = append(out, r.EffectTargets()...)
	}
	return out
}

// EffectTargets lists what the route may cause, in file order.
func (r *Route) EffectTargets() []EffectTarget {
	out := make([]EffectTarget, len(r.effects))
	for i, e := range r.effects {
		out[i] = e.target
	}
	return out
}

// Effects finds the effects that the records of an event may cause: those whose
// field gets a value that the effect asks for. Whether it is a transition, the
// values that were there before tell.
func (r *Route) Effects(in Input, records []Record) ([]Effect, []FieldError) {
	var out []Effect
	var problems []FieldError
	for _, e := range r.effects {
		for i, rec := range records {
			value, sent := rec.becomes(e.target)
			if !sent || !among(e.to, value) {
				continue
			}
			request, errs := e.request(in)
			if len(errs) > 0 {
				problems = append(problems, errs...)
				break
			}
			out = append(out, Effect{
				Name: e.target.Name, Record: i, Field: e.target.Field,
				From: literalTexts(e.from), AnyFrom: e.from == nil, Request: request,
			})
		}
	}
	return out, problems
}

// becomes is the value that a record gives the watched field.
func (r Record) becomes(t EffectTarget) (any, bool) {
	if r.Action == Delete || !strings.EqualFold(r.Object, t.On) {
		return nil, false
	}
	for _, values := range []map[string]any{r.Fields, r.OnCreate, r.OnUpdate} {
		if v, sent := values[t.Field]; sent {
			return v, true
		}
	}
	return nil, false
}

// among says whether a list of literals names the value; no list names every
// value.
func among(list []any, value any) bool {
	if list == nil {
		return true
	}
	text, _ := path.Text(value)
	for _, want := range list {
		if n, is := want.(json.Number); is {
			if got, isNumber := value.(json.Number); isNumber && number(n) == number(got) {
				return true
			}
		}
		if t, _ := path.Text(want); t == text {
			return true
		}
	}
	return false
}

// literalTexts are the text forms of literals; that of null is "".
func literalTexts(list []any) []string {
	var out []string
	for _, v := range list {
		text, _ := path.Text(v)
		out = append(out, text)
	}
	return out
}

// request fills the effect in.
func (e *effect) request(in Input) (string, []FieldError) {
	content, errs := e.content(in)
	if len(errs) > 0 {
		return "", errs
	}
	text, err := path.AppendJSON(nil, map[string]any{string(e.target.Kind): content})
	switch {
	case err != nil:
		return "", []FieldError{e.wrong(err.Error())}
	case len(text) > maxRequest && len(utf16.Encode([]rune(string(text)))) > maxRequest:
		return "", []FieldError{e.wrong(fmt.Sprintf("the request is longer than %d characters", maxRequest))}
	}
	return string(text), nil
}

func (e *effect) wrong(reason string) FieldError {
	return FieldError{Object: "effect", Field: e.target.Name, Reason: reason}
}

func (e *effect) content(in Input) (map[string]any, []FieldError) {
	if e.target.Kind == EffectPost {
		return map[string]any{"body": filled(e.body, in.Scope)}, nil
	}
	m := mapper{in: in}
	if e.target.Kind == EffectRecord {
		m.record(e.spec, 0, in.Scope)
	} else {
		m.published(e.spec, in.Scope)
	}
	if len(m.errors) > 0 {
		return nil, m.errors
	}
	rec := m.records[0]
	out := map[string]any{"object": rec.Object, "fields": rec.Fields}
	if e.target.Kind == EffectRecord {
		out["key"] = map[string]any{"field": rec.Key.Field, "value": rec.Key.Value}
	}
	return out, nil
}

// published maps the fields of a platform event, which has no key.
func (m *mapper) published(s *spec, scope path.Scope) {
	r := Record{Object: s.target.Object, Fields: make(map[string]any, len(s.fields))}
	for i := range s.fields {
		m.field(s, &s.fields[i], &r, scope)
	}
	m.records = append(m.records, r)
}

// filled puts values in the place of paths. What is missing is left out of an
// object and null in a list.
func filled(tree any, scope path.Scope) any {
	switch t := tree.(type) {
	case path.Path:
		v, _ := t.Get(scope)
		return v
	case []any:
		out := make([]any, len(t))
		for i, item := range t {
			out[i] = filled(item, scope)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(t))
		for name, item := range t {
			if p, is := item.(path.Path); is {
				if v, present := p.Get(scope); present {
					out[name] = v
				}
				continue
			}
			out[name] = filled(item, scope)
		}
		return out
	}
	return tree
}
