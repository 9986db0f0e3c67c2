package formula

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

type tokenKind int

const (
	tokEnd tokenKind = iota
	tokName
	tokNumber
	tokString
	tokOp // operators, parentheses, comma
)

type token struct {
	kind tokenKind
	text string // of a string: its value
	pos  int
}

var operators = []string{"&&", "||", "==", "<>", "!=", "<=", ">=", "=", "<", ">", "+", "-", "*", "/", "&", "!", "(", ")", ","}

// next reads one token.
func (p *parser) next() (token, error) {
	if err := p.skipBlanks(); err != nil {
		return token{}, err
	}
	start := p.off
	rest := p.src[start:]
	if rest == "" {
		return token{tokEnd, "", start}, nil
	}
	c, _ := utf8.DecodeRuneInString(rest)
	switch {
	case c == '"' || c == '\'':
		return p.quoted(byte(c))
	case isDigit(rest[0]) || rest[0] == '.' && len(rest) > 1 && isDigit(rest[1]):
		return p.take(tokNumber, numberLen(rest)), nil
	case c == '_' || c == '$' || unicode.IsLetter(c):
		n := strings.IndexFunc(rest, func(c rune) bool {
			return c != '_' && c != '.' && c != '$' && !unicode.IsLetter(c) && !unicode.IsDigit(c)
		})
		if n < 0 {
			n = len(rest)
		}
		return p.take(tokName, n), nil
	}
	for _, op := range operators {
		if strings.HasPrefix(rest, op) {
			return p.take(tokOp, len(op)), nil
		}
	}
	return token{}, failf(start, "Syntax error. Unexpected character %q", c)
}

func (p *parser) take(kind tokenKind, n int) token {
	t := token{kind, p.src[p.off : p.off+n], p.off}
	p.off += n
	return t
}

// skipBlanks passes over white space and comments.
func (p *parser) skipBlanks() error {
	for {
		p.off += len(p.src[p.off:]) - len(strings.TrimLeftFunc(p.src[p.off:], unicode.IsSpace))
		if !strings.HasPrefix(p.src[p.off:], "/*") {
			return nil
		}
		end := strings.Index(p.src[p.off+2:], "*/")
		if end < 0 {
			return failf(p.off, "Syntax error. Missing '*/'")
		}
		p.off += end + 4
	}
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func numberLen(s string) int {
	n, dot := 0, false
	for n < len(s) && (isDigit(s[n]) || s[n] == '.' && !dot) {
		dot = dot || s[n] == '.'
		n++
	}
	return n
}

var escapes = map[byte]byte{'n': '\n', 'r': '\r', 't': '\t', '"': '"', '\'': '\'', '\\': '\\'}

// quoted reads a text literal.
func (p *parser) quoted(quote byte) (token, error) {
	start := p.off
	var b strings.Builder
	for i := start + 1; i < len(p.src); i++ {
		switch c := p.src[i]; c {
		case quote:
			p.off = i + 1
			return token{tokString, b.String(), start}, nil
		case '\\':
			i++
			if i == len(p.src) {
				continue
			}
			e, ok := escapes[p.src[i]]
			if !ok {
				return token{}, failf(i-1, "Syntax error. Invalid escape sequence in a text literal")
			}
			b.WriteByte(e)
		default:
			b.WriteByte(c)
		}
	}
	return token{}, failf(start, "Syntax error. Missing closing quote")
}
