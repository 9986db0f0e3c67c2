package path

import (
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The beginnings of event ids that no provider gives: those of events that are
// known by their hash alone, and of those that reconciliation makes.
const (
	hashedPrefix = "sha256:"
	repairPrefix = "reconcile:"
)

// reservedPrefix is the one of them that s begins with; "" for none.
func reservedPrefix(s string) string {
	for _, prefix := range []string{hashedPrefix, repairPrefix} {
		if strings.HasPrefix(s, prefix) {
			return prefix
		}
	}
	return ""
}

// eventIDMarks are the characters that an event's id keeps for the bridge, and
// % with which they are written.
const eventIDMarks = "%#!"

// EscapeEventID writes a value as the ids of events hold it, within an id that
// the bridge makes up itself.
func EscapeEventID(value string) string {
	return string(escape(nil, value, func(r rune) bool { return strings.ContainsRune(eventIDMarks, r) }))
}

const upperHex = "0123456789ABCDEF"

// Text returns the text form of a string, number (as written) or boolean.
// Objects, arrays and null have none.
func Text(v any) (text string, ok bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case json.Number:
		return string(v), true
	case bool:
		if v {
			return "true", true
		}
		return "false", true
	}
	return "", false
}

// Kind names the kind of a value for people: "an object", "text" and so on.
func Kind(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case string:
		return "text"
	case json.Number:
		return "a number"
	case bool:
		return "a boolean"
	case []any:
		return "an array"
	}
	return "an object"
}

// reserve lists the characters that are escaped inside values: those that end a
// value, and % with which they are written.
func (t Template) reserve() string {
	if !t.isKey() {
		return ""
	}
	var b strings.Builder
	if t.escaping == EventID {
		b.WriteString(eventIDMarks)
	}
	if t.placeholders() > 1 {
		b.WriteByte('%')
		for _, s := range t.separators() {
			r, _ := utf8.DecodeRuneInString(s)
			b.WriteRune(r)
		}
	}
	return b.String()
}

// appendValue writes the value of a placeholder.
func (t Template) appendValue(out []byte, p Path, v any) ([]byte, error) {
	s, ok := Text(v)
	if !ok {
		return nil, &ValueError{Path: p.text, Reason: "is " + Kind(v) + " and has no text form"}
	}
	if !utf8.ValidString(s) {
		return nil, &ValueError{Path: p.text, Reason: "holds half a character (an unpaired surrogate)"}
	}
	if t.escaping != Field && strings.IndexByte(s, 0) >= 0 {
		return nil, &ValueError{Path: p.text, Reason: "holds the character U+0000"}
	}
	switch {
	case t.escaping == URL:
		if s == "" || s == "." || s == ".." {
			return nil, &ValueError{Path: p.text, Reason: "is empty, . or .. and can't be part of a URL"}
		}
		return escape(out, s, notUnreserved), nil
	case t.reserved != "" && strings.ContainsAny(s, t.reserved):
		return escape(out, s, func(r rune) bool { return strings.ContainsRune(t.reserved, r) }), nil
	}
	return append(out, s...), nil
}

// finish judges and escapes the text as a whole.
func (t Template) finish(s string) (string, bool, error) {
	if t.escaping == Key || t.escaping == EventID {
		if s == "" {
			return "", false, &ValueError{Path: t.text, Reason: "is empty"}
		}
	}
	switch t.escaping {
	case Key:
		if err := CheckKey(t.text, s); err != nil {
			return "", false, err
		}
	case EventID:
		s = escapeEnds(s)
	}
	return s, true, nil
}

// CheckKey refuses the text of a key that no record can have: Salesforce stores
// none with white space at an end. source is the path or template it came from.
func CheckKey(source, s string) error {
	if trimLeft(s) != s || trimRight(s) != s {
		return &ValueError{Path: source, Reason: "has white space at an end"}
	}
	return nil
}

// escapeEnds escapes white space at the ends and the reserved beginnings.
func escapeEnds(s string) string {
	tail := trimRight(s)
	body := trimLeft(tail)
	if len(body) == len(s) && reservedPrefix(s) == "" {
		return s
	}
	all := func(rune) bool { return true }
	out := escape(nil, tail[:len(tail)-len(body)], all)
	if len(out) == 0 && reservedPrefix(body) != "" {
		out, body = escape(out, body[:1], all), body[1:]
	}
	out = append(out, body...)
	return string(escape(out, s[len(tail):], all))
}

// escape appends s to out with the bytes of the chosen characters as %XX.
func escape(out []byte, s string, chosen func(rune) bool) []byte {
	for i, r := range s {
		n := utf8.RuneLen(r)
		if !chosen(r) {
			out = append(out, s[i:i+n]...)
			continue
		}
		for _, c := range []byte(s[i : i+n]) {
			out = append(out, '%', upperHex[c>>4], upperHex[c&15])
		}
	}
	return out
}

func notUnreserved(r rune) bool {
	return r >= utf8.RuneSelf || !isLetterOrDigit(byte(r)) && !strings.ContainsRune("-._~", r)
}

// isSpace reports whether a store may trim r off the ends of text.
func isSpace(r rune) bool { return r <= ' ' || unicode.IsSpace(r) }

func trimLeft(s string) string  { return strings.TrimLeftFunc(s, isSpace) }
func trimRight(s string) string { return strings.TrimRightFunc(s, isSpace) }
