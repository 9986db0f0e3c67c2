package soql

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

type tokenKind int

const (
	tokEnd tokenKind = iota
	tokName
	tokNumber
	tokString
	tokDate
	tokDateTime
	tokOp
)

// token is one word of a query.
type token struct {
	kind tokenKind
	text string // as written; of a string: its value
	like string // of a string: its value as a LIKE pattern, \ before a literal % _ and \
	pos  int
	wild bool // of a string: it has \% or \_, which only LIKE understands
}

var (
	dateTimeLiteral = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:?\d\d)`)
	dateLiteral     = regexp.MustCompile(`^\d{4}-\d\d-\d\d`)
	numberLiteral   = regexp.MustCompile(`^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?`)
	nameLiteral     = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*`)
)

var operators = []string{"!=", "<>", "<=", ">=", "=", "<", ">", "(", ")", ",", ":"}

// lex cuts a query into tokens; the last one is the end.
func lex(query string) ([]token, error) {
	if !utf8.ValidString(query) {
		return nil, plainError(MalformedQuery, "the query is not valid UTF-8")
	}
	if utf8.RuneCountInString(query) > maxQuery {
		return nil, plainError(MalformedQuery, "SOQL statements cannot be longer than %d characters.", maxQuery)
	}
	var tokens []token
	for pos := 0; ; {
		pos += len(query[pos:]) - len(strings.TrimLeft(query[pos:], " \t\r\n\f"))
		t, n, err := lexOne(query, pos)
		if err != nil {
			return nil, err
		}
		tokens = append(tokens, t)
		if t.kind == tokEnd {
			return tokens, nil
		}
		pos += n
	}
}

func lexOne(query string, pos int) (t token, n int, err error) {
	rest := query[pos:]
	if rest == "" {
		return token{kind: tokEnd, text: "<EOF>", pos: pos}, 0, nil
	}
	if rest[0] == '\'' {
		return lexString(query, pos)
	}
	for _, l := range []struct {
		kind tokenKind
		re   *regexp.Regexp
	}{{tokName, nameLiteral}, {tokDateTime, dateTimeLiteral}, {tokDate, dateLiteral}, {tokNumber, numberLiteral}} {
		if m := l.re.FindString(rest); m != "" {
			if next := rest[len(m):]; l.kind != tokName && next != "" && nameLiteral.MatchString(next) {
				return t, 0, errorAt(query, pos+len(m), MalformedQuery, "unexpected token: '%s'", nameLiteral.FindString(next))
			}
			return token{kind: l.kind, text: m, pos: pos}, len(m), nil
		}
	}
	for _, op := range operators {
		if strings.HasPrefix(rest, op) {
			return token{kind: tokOp, text: op, pos: pos}, len(op), nil
		}
	}
	c, _ := utf8.DecodeRuneInString(rest)
	return t, 0, errorAt(query, pos, MalformedQuery, "line 1:%d no viable alternative at character '%c'", pos, c)
}

var escapes = map[byte]string{
	'n': "\n", 'N': "\n", 'r': "\r", 'R': "\r", 't': "\t", 'T': "\t", 'b': "\b", 'B': "\b", 'f': "\f", 'F': "\f",
	'"': `"`, '\'': "'", '\\': `\`,
}

// lexString reads a quoted text. Any backslash but the known escapes is an error.
func lexString(query string, pos int) (token, int, error) {
	var value, like strings.Builder
	t := token{kind: tokString, pos: pos}
	both := func(s string) {
		value.WriteString(s)
		if s == `\` {
			like.WriteByte('\\')
		}
		like.WriteString(s)
	}
	for i := pos + 1; i < len(query); i++ {
		switch c := query[i]; c {
		case '\'':
			t.text, t.like = value.String(), like.String()
			return t, i + 1 - pos, nil
		case '\\':
			s, n := unescape(query[i:])
			switch {
			case n == 0:
				return t, 0, badEscape(query, pos, i)
			case s == "%" || s == "_":
				t.wild = true
				value.WriteString(s)
				like.WriteString(`\` + s)
			default:
				both(s)
			}
			i += n - 1
		default:
			value.WriteByte(c)
			like.WriteByte(c)
		}
	}
	return t, 0, errorAt(query, pos, MalformedQuery, "line 1:%d mismatched character '<EOF>' expecting '''", len(query))
}

// unescape reads one escape sequence: its value and its length, 0 if it is none.
func unescape(s string) (value string, n int) {
	if len(s) < 2 {
		return "", 0
	}
	if s[1] == '%' || s[1] == '_' {
		return s[1:2], 2
	}
	if v, ok := escapes[s[1]]; ok {
		return v, 2
	}
	if s[1] != 'u' || len(s) < 6 {
		return "", 0
	}
	code, err := strconv.ParseUint(s[2:6], 16, 16)
	if err != nil || code >= 0xD800 && code <= 0xDFFF {
		return "", 0
	}
	return string(rune(code)), 6
}

func badEscape(query string, start, at int) error {
	_, size := utf8.DecodeRuneInString(query[min(at+1, len(query)):])
	seq := query[at:min(at+1+size, len(query))]
	end := len(query)
	if i := strings.IndexByte(query[at+len(seq):], '\''); i >= 0 {
		end = at + len(seq) + i + 1
	}
	return plainError(MalformedQuery, "Invalid string literal %s. Illegal character sequence '%s' in string literal.", query[start:end], seq)
}
