package strictyaml

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Problem is one mistake in a file. Line and Column count from 1; both are 1
// when the mistake is not at one place.
type Problem struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
	Path   string `json:"path"` // routes[0].records[1].key; "" for the whole file
	What   string `json:"what"` // what is wrong
	Do     string `json:"do"`   // what to write instead
}

// String is "file:line:column: path: what: what to do".
func (p Problem) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%d:%d", p.File, p.Line, p.Column)
	for _, part := range []string{p.Path, p.What, p.Do} {
		if part != "" {
			b.WriteString(": ")
			b.WriteString(part)
		}
	}
	return b.String()
}

// Problems is every mistake of one or more files. It is an error only when
// there is at least one: see Report.Err.
type Problems struct {
	List []Problem
}

// Error is one line per problem.
func (p *Problems) Error() string {
	lines := make([]string, len(p.List))
	for i, one := range p.List {
		lines[i] = one.String()
	}
	return strings.Join(lines, "\n")
}

// Report gathers the problems of one file.
type Report struct {
	file     string
	problems []Problem
	outline  *Outline // nil: nobody asks what is read
}

// NewReport starts an empty report on the named file.
func NewReport(file string) *Report { return &Report{file: file} }

// File is the name the report was started with.
func (r *Report) File() string { return r.file }

// At reports a problem at a node; a nil node means the whole file.
func (r *Report) At(n *Node, what, do string) {
	p := r.Place(n)
	p.What, p.Do = what, do
	r.problems = append(r.problems, p)
}

// Place is a problem at a node without its text, for what is judged later.
func (r *Report) Place(n *Node) Problem {
	p := Problem{File: r.file, Line: 1, Column: 1}
	if n != nil {
		p.Line, p.Column, p.Path = n.Line, n.Column, n.Path
	}
	return p
}

// Key reports a problem at the key that leads to a node rather than at its
// value.
func (r *Report) Key(e Entry, what, do string) {
	r.problems = append(r.problems, Problem{
		File: r.file, Line: e.Line, Column: e.Column, Path: e.Value.Path, What: what, Do: do,
	})
}

// Add takes over problems found elsewhere, with their own positions.
func (r *Report) Add(problems ...Problem) { r.problems = append(r.problems, problems...) }

// List gives the problems in file order, each once.
func (r *Report) List() []Problem {
	list := slices.Clone(r.problems)
	slices.SortStableFunc(list, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	seen := make(map[Problem]bool, len(list))
	return slices.DeleteFunc(list, func(p Problem) bool {
		again := seen[p]
		seen[p] = true
		return again
	})
}

// Err is nil without a problem, else a *Problems.
func (r *Report) Err() error {
	if len(r.problems) == 0 {
		return nil
	}
	return &Problems{List: r.List()}
}
