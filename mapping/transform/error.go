package transform

import (
	"errors"
	"strings"
	"unicode/utf8"

	"sfbridge/mapping/path"
)

// Error is a value that a field can't take.
type Error struct {
	Reason string // for people, without the value
	Value  string // the value as JSON, shortened; "" when there is none to show
}

func (e *Error) Error() string {
	if e.Value == "" {
		return e.Reason
	}
	return e.Reason + ": " + e.Value
}

func (p Problem) String() string {
	parts := []string{p.Key, p.What}
	if p.Fix != "" {
		parts = append(parts, p.Fix)
	}
	return strings.Join(parts, ": ")
}

func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, problem := range p {
		lines[i] = problem.String()
	}
	return strings.Join(lines, "\n")
}

func fail(v any, reason string) *Error { return &Error{Reason: reason, Value: shorten(v)} }

// shownRunes is how much of a value an error shows.
const shownRunes = 60

// shorten writes a value for people, as JSON, cut to shownRunes.
func shorten(v any) string {
	if s, ok := v.(string); ok {
		v = s[:prefixLen(s, shownRunes)]
		if len(v.(string)) < len(s) {
			v = v.(string) + "…"
		}
	}
	raw, err := path.AppendJSON(nil, v)
	if err != nil {
		return ""
	}
	text := string(raw)
	if cut := prefixLen(text, shownRunes+len(`""…`)); cut < len(text) {
		return text[:prefixLen(text, shownRunes)] + "…"
	}
	return text
}

// prefixLen returns the length in bytes of the first n characters of s. The
// three bytes of half a surrogate pair count as one, so that it stays whole.
func prefixLen(s string, n int) int {
	i := 0
	for ; n > 0 && i < len(s); n-- {
		_, size := utf8.DecodeRuneInString(s[i:])
		if size == 1 && s[i] >= utf8.RuneSelf {
			size = min(3, len(s)-i)
		}
		i += size
	}
	return i
}

func templateError(err error) *Error {
	var v *path.ValueError
	if errors.As(err, &v) {
		return &Error{Reason: v.Error()}
	}
	return &Error{Reason: err.Error()}
}
