package path

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// maxDepth bounds nesting, so that a small hostile body can't use up the stack.
const maxDepth = 1000

// Reasons why data isn't a JSON value; see [JSONError].
var (
	ErrEmpty    = errors.New("no JSON value")
	ErrNotUTF8  = errors.New("not valid UTF-8")
	ErrTrailing = errors.New("data after the JSON value")
	ErrTooDeep  = errors.New("nested too deeply")
	ErrSyntax   = errors.New("not JSON")
)

// JSONError says why and where data isn't a single JSON value. It holds no part
// of the data.
type JSONError struct {
	Offset int   // in bytes
	Err    error // one of the errors above
}

func (e *JSONError) Error() string { return fmt.Sprintf("%v at byte %d", e.Err, e.Offset) }

// Unwrap returns the reason.
func (e *JSONError) Unwrap() error { return e.Err }

// DecodeJSON reads a single JSON value as a value tree: numbers keep their
// digits, of a member named twice the last one wins, one byte order mark in
// front is dropped. Anything after the value, bytes that aren't UTF-8 and more
// than 1000 levels are refused with a [*JSONError].
//
// An escaped surrogate without its other half ("\ud83d") is legal JSON that no
// valid string can hold. It is kept as the three bytes that would encode it:
// such a string isn't valid UTF-8, which [Template.Expand] and field transforms
// refuse and [AppendJSON] writes back as the escape. Nothing else can make a
// string of the tree invalid.
func DecodeJSON(data []byte) (any, error) {
	body := bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF"))
	d := decoder{s: string(body), base: len(data) - len(body), open: make([]pair, 0, min(usualMembers, len(body)/leastMember))}
	if !utf8.ValidString(d.s) {
		return nil, d.fail(invalidAt(d.s), ErrNotUTF8)
	}
	d.space()
	if d.pos == len(d.s) {
		return nil, d.fail(d.pos, ErrEmpty)
	}
	v, err := d.value(0)
	if err != nil {
		return nil, err
	}
	d.space()
	if d.pos < len(d.s) {
		return nil, d.fail(d.pos, ErrTrailing)
	}
	return v, nil
}

func invalidAt(s string) int {
	for i, r := range s {
		if r == utf8.RuneError {
			if _, n := utf8.DecodeRuneInString(s[i:]); n == 1 {
				return i
			}
		}
	}
	return len(s)
}

type decoder struct {
	s    string
	pos  int
	base int // bytes dropped in front

	// open holds the members of the objects under way, so that a map is made in its
	// size: letting it grow takes a third longer.
	open []pair
}

type pair struct {
	name  string
	value any
}

// usualMembers is how many members are open at once in the events of most
// providers; a member has at least leastMember bytes.
const (
	usualMembers = 48
	leastMember  = len(`"":0,`)
)

func (d *decoder) fail(pos int, err error) error {
	return &JSONError{Offset: d.base + pos, Err: err}
}

func (d *decoder) space() {
	for d.pos < len(d.s) {
		switch d.s[d.pos] {
		case ' ', '\n', '\t', '\r':
			d.pos++
		default:
			return
		}
	}
}

// peek returns the next byte, 0 at the end.
func (d *decoder) peek() byte {
	if d.pos < len(d.s) {
		return d.s[d.pos]
	}
	return 0
}

func (d *decoder) value(depth int) (any, error) {
	if depth > maxDepth {
		return nil, d.fail(d.pos, ErrTooDeep)
	}
	switch c := d.peek(); c {
	case '{':
		return d.object(depth)
	case '[':
		return d.array(depth)
	case '"':
		return d.text()
	case 't':
		return true, d.word("true")
	case 'f':
		return false, d.word("false")
	case 'n':
		return nil, d.word("null")
	}
	return d.number()
}

func (d *decoder) word(w string) error {
	if len(d.s)-d.pos < len(w) || d.s[d.pos:d.pos+len(w)] != w {
		return d.fail(d.pos, ErrSyntax)
	}
	d.pos += len(w)
	return nil
}

func (d *decoder) object(depth int) (any, error) {
	d.pos++
	d.space()
	if d.peek() == '}' {
		d.pos++
		return map[string]any{}, nil
	}
	first := len(d.open)
	for {
		name, err := d.name()
		if err != nil {
			return nil, err
		}
		v, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		d.open = append(d.open, pair{name, v})
		more, err := d.next('}')
		if err != nil {
			return nil, err
		}
		if !more {
			return d.close(first), nil
		}
	}
}

// close makes the object of the members from first on.
func (d *decoder) close(first int) map[string]any {
	members := d.open[first:]
	m := make(map[string]any, len(members))
	for _, e := range members {
		m[e.name] = e.value
	}
	d.open = d.open[:first]
	return m
}

// name reads a member's name and the colon after it.
func (d *decoder) name() (string, error) {
	if d.peek() != '"' {
		return "", d.fail(d.pos, ErrSyntax)
	}
	name, err := d.text()
	if err != nil {
		return "", err
	}
	d.space()
	if d.peek() != ':' {
		return "", d.fail(d.pos, ErrSyntax)
	}
	d.pos++
	d.space()
	return name, nil
}

// next steps over a comma, or over the end of the object or array.
func (d *decoder) next(end byte) (more bool, err error) {
	d.space()
	switch d.peek() {
	case end:
		d.pos++
		return false, nil
	case ',':
		d.pos++
		d.space()
		return true, nil
	}
	return false, d.fail(d.pos, ErrSyntax)
}

func (d *decoder) array(depth int) (any, error) {
	a := []any{}
	d.pos++
	d.space()
	if d.peek() == ']' {
		d.pos++
		return a, nil
	}
	for {
		v, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		a = append(a, v)
		more, err := d.next(']')
		if err != nil || !more {
			return a, err
		}
	}
}

func (d *decoder) number() (any, error) {
	n := numberLen(d.s[d.pos:])
	if n == 0 {
		return nil, d.fail(d.pos, ErrSyntax)
	}
	v := json.Number(d.s[d.pos : d.pos+n])
	d.pos += n
	return v, nil
}

// numberLen returns the length of the JSON number at the start of s, 0 if there
// is none.
func numberLen(s string) int {
	i := 0
	if i < len(s) && s[i] == '-' {
		i++
	}
	n := digitsLen(s[i:])
	if n == 0 || n > 1 && s[i] == '0' {
		return 0
	}
	i += n
	if i < len(s) && s[i] == '.' {
		if n = digitsLen(s[i+1:]); n == 0 {
			return 0
		}
		i += 1 + n
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		i++
		if i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		if n = digitsLen(s[i:]); n == 0 {
			return 0
		}
		i += n
	}
	return i
}

func digitsLen(s string) int {
	i := 0
	for i < len(s) && '0' <= s[i] && s[i] <= '9' {
		i++
	}
	return i
}

// IsNumber reports whether s is a number as JSON writes it.
func IsNumber(s string) bool { return s != "" && numberLen(s) == len(s) }
