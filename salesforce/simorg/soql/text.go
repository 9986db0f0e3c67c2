package soql

import "strings"

// compareText orders two texts, without regard to case if fold is set.
func compareText(a, b string, fold bool) int {
	if !fold {
		return strings.Compare(a, b)
	}
	for i := range min(len(a), len(b)) {
		x, y := a[i], b[i]
		if x >= 0x80 || y >= 0x80 {
			return strings.Compare(strings.ToLower(a), strings.ToLower(b))
		}
		if x, y = lowerByte(x), lowerByte(y); x != y {
			return int(x) - int(y)
		}
	}
	return len(a) - len(b)
}

func lowerByte(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// textSet is a set of folded texts that is asked without allocating.
type textSet struct {
	fold   bool
	values map[string]struct{}
}

func (s *textSet) has(v string) bool {
	if !s.fold {
		_, ok := s.values[v]
		return ok
	}
	var buf [128]byte
	if len(v) > len(buf) {
		_, ok := s.values[strings.ToLower(v)]
		return ok
	}
	for i := range len(v) {
		if v[i] >= 0x80 {
			_, ok := s.values[strings.ToLower(v)]
			return ok
		}
		buf[i] = lowerByte(v[i])
	}
	_, ok := s.values[string(buf[:len(v)])]
	return ok
}

// pattern is a compiled LIKE pattern: % any run, _ one character.
type pattern struct {
	parts []part
	fold  bool
}

type part struct {
	c    rune
	kind partKind
}

type partKind int

const (
	exactly partKind = iota
	anyOne
	anyRun
)

// compilePattern reads the like form of a string token.
func compilePattern(like string, fold bool) *pattern {
	p := &pattern{fold: fold}
	if fold {
		like = strings.ToLower(like)
	}
	escaped := false
	for _, c := range like {
		switch {
		case escaped:
			p.parts, escaped = append(p.parts, part{c, exactly}), false
		case c == '\\':
			escaped = true
		case c == '%':
			if n := len(p.parts); n == 0 || p.parts[n-1].kind != anyRun {
				p.parts = append(p.parts, part{kind: anyRun})
			}
		case c == '_':
			p.parts = append(p.parts, part{kind: anyOne})
		default:
			p.parts = append(p.parts, part{c, exactly})
		}
	}
	return p
}

// match runs in time proportional to text times pattern at worst.
func (p *pattern) match(text string) bool {
	if p.fold {
		text = strings.ToLower(text)
	}
	s := []rune(text)
	i, j, star, mark := 0, 0, -1, 0
	for i < len(s) {
		switch {
		case j < len(p.parts) && p.parts[j].kind == anyRun:
			star, mark = j, i
			j++
		case j < len(p.parts) && (p.parts[j].kind == anyOne || p.parts[j].c == s[i]):
			i, j = i+1, j+1
		case star >= 0:
			mark++
			i, j = mark, star+1
		default:
			return false
		}
	}
	for j < len(p.parts) && p.parts[j].kind == anyRun {
		j++
	}
	return j == len(p.parts)
}
