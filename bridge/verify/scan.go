package verify

import (
	"bytes"
	"encoding/json"
)

// scanner walks over JSON text and builds nothing: a delivery's body is large
// and one member of it is wanted. It takes exactly what encoding/json takes.
type scanner struct {
	text  []byte
	pos   int
	depth int
}

// maxDepth is how deep encoding/json goes.
const maxDepth = 10_000

// lookUp finds a member of the object that text is; of several the last. found
// is nil when there is none, or no object; valid is whether text is JSON.
func lookUp(text []byte, name string) (found []byte, valid bool) {
	s := &scanner{text: text}
	s.space()
	if s.peek() == '{' {
		valid = s.object(func(key, value []byte) {
			if isName(key, name) {
				found = value
			}
		})
	} else {
		valid = s.value()
	}
	s.space()
	if !valid || s.pos != len(text) {
		return nil, false
	}
	return found, true
}

// isName compares a name as it is written, quotes included, with a name.
func isName(written []byte, name string) bool {
	if inner := written[1 : len(written)-1]; bytes.IndexByte(inner, '\\') < 0 {
		return string(inner) == name
	}
	var text string
	return json.Unmarshal(written, &text) == nil && text == name
}

func (s *scanner) peek() byte {
	if s.pos < len(s.text) {
		return s.text[s.pos]
	}
	return 0
}

// take steps over a character if it comes next.
func (s *scanner) take(c byte) bool {
	if s.pos < len(s.text) && s.text[s.pos] == c {
		s.pos++
		return true
	}
	return false
}

func (s *scanner) space() {
	for s.pos < len(s.text) {
		switch s.text[s.pos] {
		case ' ', '\n', '\t', '\r':
			s.pos++
		default:
			return
		}
	}
}

// value steps over a value; false: it isn't JSON.
func (s *scanner) value() bool {
	switch s.peek() {
	case '{':
		return s.object(nil)
	case '[':
		return s.array()
	case '"':
		return s.string()
	case 't':
		return s.word("true")
	case 'f':
		return s.word("false")
	case 'n':
		return s.word("null")
	}
	return s.number()
}

// object steps over an object and tells member, if any, of each.
func (s *scanner) object(member func(name, value []byte)) bool {
	return s.list('}', func() bool {
		from := s.pos
		if s.peek() != '"' || !s.string() {
			return false
		}
		name := s.text[from:s.pos]
		s.space()
		if !s.take(':') {
			return false
		}
		s.space()
		from = s.pos
		if !s.value() {
			return false
		}
		if member != nil {
			member(name, s.text[from:s.pos])
		}
		return true
	})
}

func (s *scanner) array() bool { return s.list(']', s.value) }

// list steps over what stands between brackets, with commas between.
func (s *scanner) list(end byte, item func() bool) bool {
	if s.depth++; s.depth > maxDepth {
		return false
	}
	s.pos++
	s.space()
	if s.take(end) {
		s.depth--
		return true
	}
	for {
		if !item() {
			return false
		}
		s.space()
		if s.take(end) {
			s.depth--
			return true
		}
		if !s.take(',') {
			return false
		}
		s.space()
	}
}

func (s *scanner) string() bool {
	for s.pos++; s.pos < len(s.text); s.pos++ {
		switch c := s.text[s.pos]; {
		case c == '"':
			s.pos++
			return true
		case c < ' ':
			return false
		case c == '\\' && !s.escape():
			return false
		}
	}
	return false
}

// escape steps to the last character of an escape.
func (s *scanner) escape() bool {
	s.pos++
	switch s.peek() {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return true
	case 'u':
		for range 4 {
			if s.pos++; !isHex(s.peek()) {
				return false
			}
		}
		return true
	}
	return false
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

func (s *scanner) word(w string) bool {
	if len(s.text)-s.pos < len(w) || string(s.text[s.pos:s.pos+len(w)]) != w {
		return false
	}
	s.pos += len(w)
	return true
}

func (s *scanner) number() bool {
	s.take('-')
	if !s.take('0') && !s.digits() {
		return false
	}
	if s.take('.') && !s.digits() {
		return false
	}
	if s.take('e') || s.take('E') {
		if !s.take('+') {
			s.take('-')
		}
		return s.digits()
	}
	return true
}

// digits steps over one digit or more.
func (s *scanner) digits() bool {
	from := s.pos
	for s.pos < len(s.text) && '0' <= s.text[s.pos] && s.text[s.pos] <= '9' {
		s.pos++
	}
	return s.pos > from
}
