package strictyaml

import (
	"fmt"
	"strings"
)

// hintLines looks, after a syntax error, for the lines that newcomers write
// unquoted, and reports each with its quoted form. The parser stops at its
// first error; this finds them all. It returns the lines it spoke about.
func hintLines(text string, report *Report) map[int]bool {
	hinted := map[int]bool{}
	for i, line := range strings.Split(text, "\n") {
		for _, h := range hints(line) {
			report.At(&Node{Line: i + 1, Column: h.column}, h.what, h.do)
			hinted[i+1] = true
		}
	}
	return hinted
}

type hint struct {
	what, do string
	column   int
}

// hints judges one line.
func hints(line string) []hint {
	indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	if i := strings.IndexByte(indent, '\t'); i >= 0 && strings.TrimSpace(line) != "" {
		return []hint{{"a tab is used for indentation", "use spaces", i + 1}}
	}
	var out []hint
	for _, v := range values(line) {
		if what := v.mistake(); what != "" {
			out = append(out, hint{what, fmt.Sprintf("write %q", v.text), v.column})
		}
	}
	return out
}

// mistake says why a value needs quotes, "" when it doesn't.
func (v value) mistake() string {
	switch {
	case strings.HasPrefix(v.text, "@"):
		return "a path that begins with @ needs quotes"
	case strings.HasPrefix(v.text, "*"):
		return "a glob that begins with * needs quotes"
	case v.flow && strings.HasPrefix(v.text, "${"):
		return "a reference inside {…} or […] needs quotes"
	case v.flow && isPathText(v.text) && strings.ContainsAny(v.text, "[]"):
		return "a path with [ inside {…} or […] needs quotes"
	case strings.HasPrefix(v.text, "{$"), strings.HasPrefix(v.text, "{@"), strings.HasPrefix(v.text, "{header."):
		return "a template needs quotes"
	}
	return ""
}

func isPathText(text string) bool {
	return strings.HasPrefix(text, "$") || strings.HasPrefix(text, "@") || strings.HasPrefix(text, "header.")
}

// value is an unquoted value of a line.
type value struct {
	text   string
	column int // from 1
	flow   bool
}

// values finds the unquoted values of a line that begin with a character which
// only paths, globs, references and templates begin with.
func values(line string) []value {
	var found []value
	s := lineScanner{rest: []rune(line), start: true}
	for s.at < len(s.rest) {
		if v, ok := s.step(); ok {
			found = append(found, v)
		}
	}
	return found
}

// lineScanner walks over a line, knowing whether it stands inside flow
// brackets and whether a value may start.
type lineScanner struct {
	rest  []rune
	at    int
	flow  int
	start bool
}

func (s *lineScanner) step() (value, bool) {
	c := s.rest[s.at]
	switch {
	case c == '#' && (s.at == 0 || s.rest[s.at-1] == ' '):
		s.at = len(s.rest)
	case (c == '"' || c == '\'') && s.start:
		s.skipQuoted(c)
	case s.start && s.special():
		return s.take(), true
	case c == '{' || c == '[':
		s.flow, s.start = s.flow+1, true
		s.at++
	case c == '}' || c == ']':
		s.flow, s.start = max(s.flow-1, 0), false
		s.at++
	case c == ',' && s.flow > 0, c == ':' && s.next() == ' ', c == '-' && s.start && s.next() == ' ':
		s.start = true
		s.at++
	default:
		s.start = s.start && c == ' '
		s.at++
	}
	return value{}, false
}

func (s *lineScanner) next() rune {
	if s.at+1 < len(s.rest) {
		return s.rest[s.at+1]
	}
	return ' '
}

// special tells whether a path, glob, reference or bare template starts here.
func (s *lineScanner) special() bool {
	rest := string(s.rest[s.at:])
	for _, prefix := range []string{"$", "@", "*", "header.", "{$", "{@", "{header."} {
		if strings.HasPrefix(rest, prefix) {
			return !strings.HasPrefix(prefix, "{") || s.isTemplate(rest)
		}
	}
	return false
}

// isTemplate tells a bare template from a flow map whose keys are paths: the
// first has no ": " before its closing brace.
func (s *lineScanner) isTemplate(rest string) bool {
	inside, _, closed := strings.Cut(rest, "}")
	return closed && !strings.Contains(inside, ": ")
}

// take reads an unquoted value to its end: in flow style a comma or a closing
// bracket that it didn't open itself.
func (s *lineScanner) take() value {
	v := value{column: s.at + 1, flow: s.flow > 0}
	depth, from := 0, s.at
	for ; s.at < len(s.rest); s.at++ {
		c := s.rest[s.at]
		switch {
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			if depth == 0 && s.flow > 0 {
				v.text = string(s.rest[from:s.at])
				return s.finish(v)
			}
			depth--
		case depth <= 0 && (c == ',' && s.flow > 0 || c == ':' && s.next() == ' ' || c == '#' && s.rest[s.at-1] == ' '):
			v.text = string(s.rest[from:s.at])
			return s.finish(v)
		}
	}
	v.text = string(s.rest[from:])
	return s.finish(v)
}

func (s *lineScanner) finish(v value) value {
	v.text = strings.TrimSpace(v.text)
	s.start = false
	return v
}

func (s *lineScanner) skipQuoted(quote rune) {
	for s.at++; s.at < len(s.rest); s.at++ {
		if s.rest[s.at] == '\\' && quote == '"' {
			s.at++
			continue
		}
		if s.rest[s.at] == quote {
			break
		}
	}
	s.at++
	s.start = false
}
