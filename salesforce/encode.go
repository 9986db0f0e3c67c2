package salesforce

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

// encodeHint is the size of an ordinary row, for the first allocation.
const encodeHint = 512

// encoder writes JSON by appending. Members stand in the order of their names,
// so that equal rows give equal bytes.
type encoder struct {
	buf  []byte
	keys []string
	err  error
}

func newEncoder(hint int) *encoder { return &encoder{buf: make([]byte, 0, hint)} }

func (e *encoder) bytes() []byte { return e.buf }

func (e *encoder) raw(s string) { e.buf = append(e.buf, s...) }

func (e *encoder) fail(format string, args ...any) {
	if e.err == nil {
		e.err = fmt.Errorf(format, args...)
	}
}

// fields writes one row for its own address, without attributes and without
// the member named except.
func (e *encoder) fields(fields map[string]any, except string) {
	e.raw("{")
	e.members(fields, except, true)
	e.raw("}")
}

// collection writes the body of a collection call.
func (e *encoder) collection(rows []Row, allOrNone bool) {
	e.raw(`{"allOrNone":`)
	e.value(allOrNone)
	e.raw(`,"records":[`)
	for i, r := range rows {
		if i > 0 {
			e.raw(",")
		}
		e.raw(`{"attributes":{"type":`)
		e.text(r.Object)
		e.raw("}")
		if r.ID != "" {
			e.raw(`,"id":`)
			e.text(r.ID)
		}
		e.members(r.Fields, "", false)
		e.raw("}")
	}
	e.raw("]}")
}

func (e *encoder) subrequests(subs []Subrequest, base string) {
	e.raw("[")
	for i, s := range subs {
		if i > 0 {
			e.raw(",")
		}
		e.raw(`{"method":`)
		e.text(s.method)
		e.raw(`,"url":`)
		e.text(base + s.path)
		e.raw(`,"referenceId":`)
		e.text(s.Ref)
		if s.method != "GET" {
			// Subrequests inherit only a few headers of the call; this is none of them.
			e.raw(`,"httpHeaders":{"` + headerAutoAssign + `":"FALSE"}`)
		}
		if s.body != nil {
			e.raw(`,"body":`)
			s.body(e)
		}
		e.raw("}")
	}
	e.raw("]")
}

func (e *encoder) graphs(graphs []Graph, base string) {
	e.raw(`{"graphs":[`)
	for i, g := range graphs {
		if i > 0 {
			e.raw(",")
		}
		e.raw(`{"graphId":`)
		e.text(g.ID)
		e.raw(`,"compositeRequest":`)
		e.subrequests(g.Requests, base)
		e.raw("}")
	}
	e.raw("]}")
}

// members writes the members of an object without its braces.
func (e *encoder) members(m map[string]any, except string, first bool) {
	from := len(e.keys)
	for k := range m {
		if k != except || except == "" {
			e.keys = append(e.keys, k)
		}
	}
	to := len(e.keys)
	slices.Sort(e.keys[from:to])
	for i := from; i < to; i++ {
		if !first {
			e.raw(",")
		}
		first = false
		k := e.keys[i]
		e.text(k)
		e.raw(":")
		e.value(m[k])
	}
	e.keys = e.keys[:from]
}

func (e *encoder) value(v any) {
	switch v := v.(type) {
	case nil:
		e.raw("null")
	case string:
		e.text(v)
	case bool:
		e.buf = strconv.AppendBool(e.buf, v)
	case int:
		e.buf = strconv.AppendInt(e.buf, int64(v), 10)
	case int64:
		e.buf = strconv.AppendInt(e.buf, v, 10)
	case json.Number:
		e.number(v)
	case time.Time:
		e.buf = append(e.buf, '"')
		e.buf = v.UTC().AppendFormat(e.buf, timeLayout)
		e.buf = append(e.buf, '"')
	case map[string]any:
		e.raw("{")
		e.members(v, "", true)
		e.raw("}")
	case []any:
		e.list(v)
	default:
		e.other(v)
	}
}

func (e *encoder) list(values []any) {
	e.raw("[")
	for i, v := range values {
		if i > 0 {
			e.raw(",")
		}
		e.value(v)
	}
	e.raw("]")
}

var numberPattern = regexp.MustCompile(`^-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?$`)

func (e *encoder) number(n json.Number) {
	if !numberPattern.MatchString(string(n)) {
		e.fail("a field value is no JSON number")
		return
	}
	e.raw(string(n))
}

func (e *encoder) other(v any) {
	b, err := json.Marshal(v)
	if err != nil {
		e.fail("a field value of type %T can't be written as JSON", v)
		return
	}
	e.buf = append(e.buf, b...)
}

// plain tells the bytes that stand in a JSON string as they are.
var plain = func() (table [utf8.RuneSelf]bool) {
	for c := byte(' '); c < utf8.RuneSelf; c++ {
		table[c] = c != '"' && c != '\\'
	}
	return table
}()

// text writes a JSON string; bytes that are no UTF-8 become U+FFFD.
func (e *encoder) text(s string) {
	e.buf = append(e.buf, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if !plain[c] {
				e.buf = append(e.buf, s[start:i]...)
				e.escape(c)
				start = i + 1
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			e.raw(s[start:i])
			e.raw("\ufffd")
			start = i + size
		}
		i += size
	}
	e.raw(s[start:])
	e.buf = append(e.buf, '"')
}

func (e *encoder) escape(c byte) {
	switch c {
	case '"', '\\':
		e.buf = append(e.buf, '\\', c)
	case '\n':
		e.raw(`\n`)
	case '\r':
		e.raw(`\r`)
	case '\t':
		e.raw(`\t`)
	default:
		e.raw(`\u00`)
		e.buf = append(e.buf, upperHex[c>>4], upperHex[c&15])
	}
}

// FormatTime writes a time the way Salesforce takes it in JSON and SOQL: UTC,
// milliseconds, "Z".
func FormatTime(t time.Time) string { return t.UTC().Format(timeLayout) }

const timeLayout = "2006-01-02T15:04:05.000Z"

// sizeOf estimates the size of rows as JSON, so that a body grows once.
func sizeOf(rows []Row) int {
	size := encodeHint
	for _, r := range rows {
		size += len(r.Object) + len(`{"attributes":{"type":""}},"id":""`) + len(r.ID)
		for name, v := range r.Fields {
			size += len(name) + len(`"":,`) + len(timeLayout)
			if s, ok := v.(string); ok {
				size += len(s) + len(s)/8
			}
		}
	}
	return size
}
