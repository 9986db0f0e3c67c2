package path

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// text reads a string. One without escapes shares the memory of the input.
func (d *decoder) text() (string, error) {
	d.pos++
	start := d.pos
	for d.pos < len(d.s) {
		switch c := d.s[d.pos]; {
		case c == '"':
			d.pos++
			return d.s[start : d.pos-1], nil
		case c == '\\':
			return d.escaped(start)
		case c < ' ':
			return "", d.fail(d.pos, ErrSyntax)
		}
		d.pos++
	}
	return "", d.fail(d.pos, ErrSyntax)
}

// escaped reads on in a string that has escapes; what lies between start and
// the position is plain.
func (d *decoder) escaped(start int) (string, error) {
	out := append(make([]byte, 0, d.pos-start+32), d.s[start:d.pos]...)
	for d.pos < len(d.s) {
		switch c := d.s[d.pos]; {
		case c == '"':
			d.pos++
			return string(out), nil
		case c < ' ':
			return "", d.fail(d.pos, ErrSyntax)
		case c != '\\':
			out = append(out, c)
			d.pos++
		default:
			var ok bool
			if out, ok = d.escape(out); !ok {
				return "", d.fail(d.pos, ErrSyntax)
			}
		}
	}
	return "", d.fail(d.pos, ErrSyntax)
}

const (
	escapeLetters = `"\/bfnrt`
	escapeMeaning = "\"\\/\b\f\n\r\t"
)

// escape reads one escape, or two that form a surrogate pair.
func (d *decoder) escape(out []byte) ([]byte, bool) {
	if d.pos+1 >= len(d.s) {
		return out, false
	}
	if i := strings.IndexByte(escapeLetters, d.s[d.pos+1]); i >= 0 {
		d.pos += 2
		return append(out, escapeMeaning[i]), true
	}
	r, ok := d.unit()
	if !ok {
		return out, false
	}
	d.pos += unitLen
	if !utf16.IsSurrogate(r) {
		return utf8.AppendRune(out, r), true
	}
	if low, ok := d.unit(); ok {
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			d.pos += unitLen
			return utf8.AppendRune(out, pair), true
		}
	}
	return append(out, 0xE0|byte(r>>12), 0x80|byte(r>>6)&0x3F, 0x80|byte(r)&0x3F), true
}

const unitLen = len(`\uXXXX`)

// unit returns the code unit of a \uXXXX escape at the position.
func (d *decoder) unit() (rune, bool) {
	if len(d.s)-d.pos < unitLen || d.s[d.pos] != '\\' || d.s[d.pos+1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range []byte(d.s[d.pos+2 : d.pos+unitLen]) {
		switch {
		case '0' <= c && c <= '9':
			r = r<<4 | rune(c-'0')
		case 'a' <= c && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case 'A' <= c && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

// loneSurrogate returns the surrogate that the decoder kept at the start of s.
func loneSurrogate(s string) (r rune, ok bool) {
	if len(s) < 3 || s[0] != 0xED || s[1] < 0xA0 || s[1] > 0xBF || s[2]&0xC0 != 0x80 {
		return 0, false
	}
	return 0xD000 | rune(s[1]&0x3F)<<6 | rune(s[2]&0x3F), true
}
