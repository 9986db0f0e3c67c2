package transform

import (
	"strings"

	"sfbridge/mapping/path"
)

// Source finds a field's value. The zero Source is always missing.
type Source struct {
	paths    []path.Path
	template path.Template
	literal  Literal
}

// From is the value of one path.
func From(p path.Path) Source { return Source{paths: []path.Path{p}} }

// First is the first value that is present and not null; null if one is present
// but none has a value.
func First(paths []path.Path) Source { return Source{paths: paths} }

// FromTemplate is the text of a template.
func FromTemplate(t path.Template) Source { return Source{template: t} }

// Fixed is a value that doesn't come from the event.
func Fixed(v any) Source { return Source{literal: Lit(v)} }

// Paths returns every path that the source reads.
func (s Source) Paths() []path.Path {
	if !s.template.IsZero() {
		return s.template.Paths()
	}
	return s.paths
}

// String names the source for people: the path, the template, or the paths
// joined by ", "; "" for a fixed value.
func (s Source) String() string {
	if !s.template.IsZero() {
		return s.template.String()
	}
	names := make([]string, len(s.paths))
	for i, p := range s.paths {
		names[i] = p.String()
	}
	return strings.Join(names, ", ")
}

// Resolve returns the value and whether there is one; a null is one. An error
// is an [*Error].
func (s Source) Resolve(scope path.Scope) (v any, present bool, err error) {
	if s.literal.Set {
		return s.literal.Value, true, nil
	}
	if !s.template.IsZero() {
		text, ok, err := s.template.Expand(scope)
		if err != nil {
			return nil, false, templateError(err)
		}
		if !ok {
			return nil, false, nil
		}
		return text, true, nil
	}
	for _, p := range s.paths {
		v, ok := p.Get(scope)
		if ok && v != nil {
			return v, true, nil
		}
		present = present || ok
	}
	return nil, present, nil
}
