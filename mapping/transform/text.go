package transform

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"

	"sfbridge/mapping/path"
)

func asText(v any) (any, *Error) {
	s, ok := path.Text(v)
	if !ok {
		return nil, fail(v, "is "+path.Kind(v)+" and has no text form")
	}
	return s, nil
}

func asBoolean(v any) (any, *Error) {
	switch v := v.(type) {
	case bool:
		return v, nil
	case json.Number:
		if v == "0" || v == "1" {
			return v == "1", nil
		}
	case string:
		switch {
		case v == "1" || isASCII(v) && strings.EqualFold(v, "true"):
			return true, nil
		case v == "0" || isASCII(v) && strings.EqualFold(v, "false"):
			return false, nil
		}
	}
	return nil, fail(v, `isn't true, false, 1 or 0`)
}

// listSeparator joins the members of a multi-select picklist.
const listSeparator = ";"

func asMultiPicklist(v any) (any, *Error) {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	var members []string
	for _, member := range list {
		s, ok := path.Text(member)
		if !ok {
			return nil, fail(v, "is "+path.Kind(member)+" and has no text form")
		}
		if strings.Contains(s, listSeparator) {
			return nil, fail(member, "has a member with "+listSeparator)
		}
		if !slices.Contains(members, s) {
			members = append(members, s)
		}
	}
	if members == nil {
		return nil, nil
	}
	return strings.Join(members, listSeparator), nil
}

func asJSON(v any) (any, *Error) {
	raw, err := path.AppendJSON(nil, v)
	if err != nil {
		return nil, &Error{Reason: "can't be written as JSON"}
	}
	return string(raw), nil
}

// isSpace is what trim takes off: all that Salesforce may drop at the ends of a
// text anyway.
func isSpace(r rune) bool { return r <= ' ' || unicode.IsSpace(r) }

func lower(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	// A Caser has state, so each call has its own.
	return cases.Lower(language.Und).String(s)
}

func upper(s string) string {
	if isASCII(s) {
		return strings.ToUpper(s)
	}
	return cases.Upper(language.Und).String(s)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

const zeroWidthJoiner = '\u200D'

// cut shortens text to limit UTF-16 units, the most that any reading of a
// field's length allows. It never splits a character and never leaves a joiner
// or combining mark at the new end, where it would wait for what was cut.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	units := 0
	for i, r := range s {
		if units += utf16.RuneLen(r); units > limit {
			return strings.TrimRightFunc(s[:i], func(r rune) bool {
				return r == zeroWidthJoiner || unicode.Is(unicode.M, r)
			})
		}
	}
	return s
}
