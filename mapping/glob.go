package mapping

import (
	"errors"
	"strings"
)

// glob is a compiled pattern: * stands for any run of characters, dots too, ?
// for one character, \ takes the next character as it is.
type glob []globPart

type globPart struct {
	kind globKind
	char rune
}

type globKind int

const (
	globChar globKind = iota
	globOne
	globRun
)

// parseGlob compiles a pattern. Runs of wildcards are put in one order (first
// the single ones, then one run), so that equal patterns look equal.
func parseGlob(pattern string) (glob, error) {
	var out glob
	escaped, run := false, false
	flush := func() {
		if run {
			out = append(out, globPart{kind: globRun})
		}
		run = false
	}
	for _, c := range pattern {
		switch {
		case escaped || c != '\\' && c != '*' && c != '?':
			flush()
			out = append(out, globPart{kind: globChar, char: c})
			escaped = false
		case c == '\\':
			escaped = true
		case c == '*':
			run = true
		default:
			out = append(out, globPart{kind: globOne})
		}
	}
	if escaped {
		return nil, errors.New(`it ends in a single \`)
	}
	flush()
	return out, nil
}

// String is the pattern in its one spelling.
func (g glob) String() string {
	var b strings.Builder
	for _, p := range g {
		switch {
		case p.kind == globRun:
			b.WriteByte('*')
		case p.kind == globOne:
			b.WriteByte('?')
		default:
			if p.char == '*' || p.char == '?' || p.char == '\\' {
				b.WriteByte('\\')
			}
			b.WriteRune(p.char)
		}
	}
	return b.String()
}

// Match tells whether the whole text fits.
func (g glob) Match(text string) bool {
	chars := []rune(text)
	parts := make(glob, len(chars))
	for i, c := range chars {
		parts[i] = globPart{kind: globChar, char: c}
	}
	return g.covers(parts)
}

// covers tells whether every text that fits other fits g too. It takes other as
// a sequence of symbols: a run in it is taken only by a run of g. That never
// says yes wrongly.
func (g glob) covers(other glob) bool {
	i, j, star, mark := 0, 0, -1, 0
	for j < len(other) {
		switch {
		case i < len(g) && g[i].kind == globRun:
			star, mark = i, j
			i++
		case i < len(g) && g[i].takes(other[j]):
			i++
			j++
		case star >= 0:
			mark++
			i, j = star+1, mark
		default:
			return false
		}
	}
	for i < len(g) && g[i].kind == globRun {
		i++
	}
	return i == len(g)
}

// takes tells whether a part that is no run stands for all that the symbol
// stands for.
func (p globPart) takes(symbol globPart) bool {
	if p.kind == globOne {
		return symbol.kind != globRun
	}
	return symbol == p
}

// meets tells whether some text fits both patterns.
func (g glob) meets(other glob) bool {
	reach := make([][]bool, len(g)+1)
	for i := range reach {
		reach[i] = make([]bool, len(other)+1)
	}
	reach[0][0] = true
	for i := 0; i <= len(g); i++ {
		for j := 0; j <= len(other); j++ {
			if reach[i][j] {
				stepBoth(g, other, i, j, reach)
			}
		}
	}
	return reach[len(g)][len(other)]
}

func stepBoth(g, other glob, i, j int, reach [][]bool) {
	runG := i < len(g) && g[i].kind == globRun
	runO := j < len(other) && other[j].kind == globRun
	if runG {
		reach[i+1][j] = true
	}
	if runO {
		reach[i][j+1] = true
	}
	if i == len(g) || j == len(other) {
		return
	}
	switch {
	case runG && !runO:
		reach[i][j+1] = true
	case runO && !runG:
		reach[i+1][j] = true
	case !runG && !runO && (g[i].kind == globOne || other[j].kind == globOne || g[i] == other[j]):
		reach[i+1][j+1] = true
	}
}
