package transform

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"sfbridge/mapping/path"
)

// Apply treats a value. send is false when the field is to be left out; a nil
// out that is sent clears it. out is nil, string, bool or json.Number. An error
// is an [*Error]. scope serves the currency's path.
func (t *Transform) Apply(v any, present bool, scope path.Scope) (out any, send bool, err error) {
	out, send, fault := t.apply(v, present, scope)
	if fault != nil {
		return nil, false, fault
	}
	return out, send, nil
}

func (t *Transform) apply(v any, present bool, scope path.Scope) (any, bool, *Error) {
	if t.spec.Default.Set && (!present || v == nil && t.spec.DefaultNull) {
		return t.finish(t.spec.Default.Value)
	}
	if !present {
		if t.spec.Required {
			return nil, false, &Error{Reason: "is required and missing"}
		}
		return nil, false, nil
	}
	v, fault := t.prepare(v)
	if fault != nil {
		return nil, false, fault
	}
	if v, fault = t.convert(v, scope); fault != nil {
		return nil, false, fault
	}
	return t.finish(v)
}

// prepare does what comes before as. The members of a list are prepared one by
// one.
func (t *Transform) prepare(v any) (any, *Error) {
	if fault := t.storable(v); fault != nil {
		return nil, fault
	}
	if list, ok := v.([]any); ok && t.spec.As == MultiPicklist {
		return t.prepareMembers(list)
	}
	return t.lookup(t.changeCase(v))
}

func (t *Transform) prepareMembers(list []any) (any, *Error) {
	out := make([]any, 0, len(list))
	for _, member := range list {
		if _, ok := path.Text(member); !ok {
			return nil, fail(list, "has a member that is "+path.Kind(member))
		}
		v, fault := t.prepare(member)
		if fault != nil {
			return nil, fault
		}
		if v != nil && v != "" {
			out = append(out, v)
		}
	}
	return out, nil
}

// storable refuses text that no field can hold unaltered. JSON text escapes it.
func (t *Transform) storable(v any) *Error {
	s, ok := v.(string)
	switch {
	case !ok || t.spec.As == JSON:
		return nil
	case !utf8.ValidString(s):
		return fail(v, "holds half a character (an unpaired surrogate)")
	case strings.IndexByte(s, 0) >= 0:
		return fail(v, "holds the character U+0000")
	}
	return nil
}

func (t *Transform) changeCase(v any) any {
	s, ok := v.(string)
	if !ok {
		return v
	}
	if t.spec.Trim {
		s = strings.TrimFunc(s, isSpace)
	}
	switch {
	case t.spec.Lower:
		s = lower(s)
	case t.spec.Upper:
		s = upper(s)
	}
	return s
}

func (t *Transform) lookup(v any) (any, *Error) {
	if t.spec.Map == nil || v == nil || v == "" {
		return v, nil
	}
	key, ok := path.Text(v)
	if !ok {
		return nil, fail(v, "is "+path.Kind(v)+" and can't be looked up in map")
	}
	if mapped, ok := t.spec.Map[key]; ok {
		return mapped, nil
	}
	if t.spec.Otherwise.Set {
		return t.spec.Otherwise.Value, nil
	}
	return nil, fail(v, "isn't in map, which has no otherwise")
}

// convert gives the value its kind. nil and "" have none.
func (t *Transform) convert(v any, scope path.Scope) (any, *Error) {
	if v == nil || v == "" {
		if t.spec.As == Boolean {
			return false, nil
		}
		return v, nil
	}
	switch t.spec.As {
	case Text:
		return asText(v)
	case Number:
		return asNumber(decimal(v))
	case Integer:
		return asNumber(integer(v))
	case Boolean:
		return asBoolean(v)
	case Datetime:
		return t.datetime(v)
	case Date:
		return t.date(v)
	case MinorUnits:
		return asNumber(t.minorUnits(v, scope))
	case MultiPicklist:
		return asMultiPicklist(v)
	case JSON:
		return asJSON(v)
	}
	if _, ok := path.Text(v); !ok {
		return nil, fail(v, "is "+path.Kind(v)+"; as: json or multipicklist can send one")
	}
	return v, nil
}

// asNumber wraps a decimal as the number that is sent.
func asNumber(s string, fault *Error) (any, *Error) {
	if fault != nil {
		return nil, fault
	}
	return json.Number(s), nil
}

// finish cuts text and decides what an empty value means.
func (t *Transform) finish(v any) (any, bool, *Error) {
	if s, ok := v.(string); ok {
		if t.spec.Max > 0 {
			s = cut(s, t.spec.Max)
		}
		v = s
		if s == "" && !t.spec.KeepEmpty {
			v = nil
		}
	}
	if t.spec.Required && (v == nil || v == "") {
		return nil, false, &Error{Reason: "is required and empty"}
	}
	return v, true, nil
}
