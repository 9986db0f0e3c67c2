package transform

import (
	"errors"
	"fmt"
	"strings"

	"sfbridge/mapping/path"
)

// Error is a value that a field can't take.
type Error struct {
	Reason string // for people, without the value
	Value  string // the value, shortened; "" when there is none to show
}

func (e *Error) Error() string {
	if e.Value == "" {
		return e.Reason
	}
	return e.Reason + ": " + e.Value
}

func (p Problem) String() string {
	parts := []string{p.Key, p.What}
	if p.Fix != "" {
		parts = append(parts, p.Fix)
	}
	return strings.Join(parts, ": ")
}

func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, problem := range p {
		lines[i] = problem.String()
	}
	return strings.Join(lines, "\n")
}

func templateError(err error) *Error {
	var v *path.ValueError
	if errors.As(err, &v) {
		return &Error{Reason: fmt.Sprintf("%s %s", v.Path, v.Reason)}
	}
	return &Error{Reason: err.Error()}
}
