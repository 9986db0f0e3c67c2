package jsonin

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

const maxDepth = 100

// Parse reads exactly one JSON value.
func Parse(data []byte) (Value, error) {
	p := parser{data: data}
	v := p.value(0)
	p.space()
	if p.err == nil && p.pos < len(data) {
		p.unexpected()
	}
	if p.err != nil {
		return Value{}, p.err
	}
	return v, nil
}

type parser struct {
	data []byte
	pos  int
	err  error
}

func (p *parser) fail(at int, reason string) {
	if p.err == nil {
		line, column := Position(p.data, at)
		p.err = &SyntaxError{Reason: reason, Line: line, Column: column}
	}
	p.pos = len(p.data)
}

func (p *parser) unexpected() {
	if p.pos >= len(p.data) {
		p.fail(p.pos, "Unexpected end-of-input")
		return
	}
	r, _ := utf8.DecodeRune(p.data[p.pos:])
	p.fail(p.pos, fmt.Sprintf("Unexpected character ('%c' (code %d))", r, r))
}

func (p *parser) space() {
	for p.pos < len(p.data) {
		switch p.data[p.pos] {
		case ' ', '\t', '\n', '\r':
			p.pos++
		default:
			return
		}
	}
}

func (p *parser) peek() byte {
	if p.pos < len(p.data) {
		return p.data[p.pos]
	}
	return 0
}

func (p *parser) value(depth int) Value {
	p.space()
	v := Value{Offset: p.pos}
	if depth > maxDepth {
		p.fail(p.pos, "Document nesting depth exceeds the maximum allowed")
		return v
	}
	switch c := p.peek(); {
	case c == '{':
		v.Kind = Object
		v.Members = p.members(depth)
	case c == '[':
		v.Kind = Array
		v.Items = p.items(depth)
	case c == '"':
		v.Kind = String
		v.Text = p.str()
	case c == '-' || c >= '0' && c <= '9':
		v.Kind = Number
		v.Text = p.number()
	case p.literal("true"):
		v.Kind, v.Bool = Bool, true
	case p.literal("false"):
		v.Kind = Bool
	case p.literal("null"):
	default:
		p.unexpected()
	}
	return v
}

func (p *parser) literal(word string) bool {
	if !bytes.HasPrefix(p.data[p.pos:], []byte(word)) {
		return false
	}
	p.pos += len(word)
	return true
}

// next consumes the separator after an element; it reports whether another
// element follows.
func (p *parser) next(closing byte) bool {
	p.space()
	switch p.peek() {
	case ',':
		p.pos++
		return true
	case closing:
		p.pos++
	default:
		p.unexpected()
	}
	return false
}

func (p *parser) members(depth int) []Member {
	p.pos++
	p.space()
	if p.peek() == '}' {
		p.pos++
		return nil
	}
	list := make([]Member, 0, 12)
	for more := true; more && p.err == nil; more = p.next('}') {
		p.space()
		if p.peek() != '"' {
			p.unexpected()
			return nil
		}
		name := p.str()
		p.space()
		if p.peek() != ':' {
			p.unexpected()
			return nil
		}
		p.pos++
		list = append(list, Member{name, p.value(depth + 1)})
	}
	return list
}

func (p *parser) items(depth int) []Value {
	p.pos++
	p.space()
	if p.peek() == ']' {
		p.pos++
		return []Value{}
	}
	var list []Value
	for more := true; more && p.err == nil; more = p.next(']') {
		list = append(list, p.value(depth+1))
	}
	return list
}

// str reads a string; the common one without escapes is copied in one step.
func (p *parser) str() string {
	p.pos++
	start := p.pos
	for i := p.pos; i < len(p.data); i++ {
		switch c := p.data[i]; {
		case c == '"':
			p.pos = i + 1
			if !utf8.Valid(p.data[start:i]) {
				p.fail(start, "Invalid UTF-8 in string")
				return ""
			}
			return string(p.data[start:i])
		case c == '\\':
			return p.escaped(start, i)
		case c < 0x20:
			p.fail(i, fmt.Sprintf("Illegal unquoted character ((CTRL-CHAR, code %d)): has to be escaped using backslash to be included in string value", c))
			return ""
		}
	}
	p.fail(len(p.data), "Unexpected end-of-input: was expecting closing quote for a string value")
	return ""
}

func (p *parser) escaped(start, i int) string {
	buf := append(make([]byte, 0, i-start+64), p.data[start:i]...)
	p.pos = i
	for p.pos < len(p.data) {
		switch c := p.data[p.pos]; {
		case c == '"':
			p.pos++
			if !utf8.Valid(buf) {
				p.fail(start, "Invalid UTF-8 in string")
				return ""
			}
			return string(buf)
		case c == '\\':
			buf = p.escape(buf)
		case c < 0x20:
			p.fail(p.pos, fmt.Sprintf("Illegal unquoted character ((CTRL-CHAR, code %d)): has to be escaped using backslash to be included in string value", c))
			return ""
		default:
			buf = append(buf, c)
			p.pos++
		}
	}
	p.fail(len(p.data), "Unexpected end-of-input: was expecting closing quote for a string value")
	return ""
}

func (p *parser) escape(buf []byte) []byte {
	at := p.pos
	p.pos++
	c := p.peek()
	p.pos++
	switch c {
	case '"', '\\', '/':
		return append(buf, c)
	case 'b':
		return append(buf, '\b')
	case 'f':
		return append(buf, '\f')
	case 'n':
		return append(buf, '\n')
	case 'r':
		return append(buf, '\r')
	case 't':
		return append(buf, '\t')
	case 'u':
		return p.unicode(buf, at)
	}
	p.fail(at, "Unrecognized character escape")
	return buf
}

func (p *parser) unicode(buf []byte, at int) []byte {
	r, ok := p.hex4()
	if ok && utf16.IsSurrogate(r) {
		ok = false
		if p.literal(`\u`) {
			if low, isHex := p.hex4(); isHex {
				r = utf16.DecodeRune(r, low)
				ok = r != utf8.RuneError
			}
		}
	}
	if !ok {
		p.fail(at, "Incomplete or unpaired unicode escape")
		return buf
	}
	return utf8.AppendRune(buf, r)
}

func (p *parser) hex4() (rune, bool) {
	if p.pos+4 > len(p.data) {
		return 0, false
	}
	n, err := strconv.ParseUint(string(p.data[p.pos:p.pos+4]), 16, 16)
	p.pos += 4
	return rune(n), err == nil
}
