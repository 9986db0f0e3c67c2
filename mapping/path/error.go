package path

import "strings"

// ParseError is a path, list or template that can't be used: What is wrong,
// and Fix says what to write instead.
type ParseError struct {
	Text string // as written
	What string
	Fix  string
}

func (e *ParseError) Error() string {
	parts := []string{e.Text, e.What}
	if e.Fix != "" {
		parts = append(parts, e.Fix)
	}
	return strings.Join(parts, ": ")
}

// ValueError is a value that a list or template can't use. It holds no part of
// the payload.
type ValueError struct {
	Path   string // of the value, as written
	Reason string
}

func (e *ValueError) Error() string { return e.Path + ": " + e.Reason }
