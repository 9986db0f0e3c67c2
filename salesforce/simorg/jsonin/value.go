// Package jsonin reads request bodies of the simulated org as a tree that
// keeps what the org's answers need: the order of members, numbers as written
// and the place of each value for "at [line:1, column:42]".
package jsonin

import (
	"fmt"
	"strings"
)

// Kind is the type of a JSON value.
type Kind uint8

// Kinds of values.
const (
	Null Kind = iota
	Bool
	Number
	String
	Array
	Object
)

// Value is one JSON value.
type Value struct {
	Kind    Kind
	Bool    bool
	Text    string // content of a string, spelling of a number
	Items   []Value
	Members []Member // in order; a name may occur more than once
	Offset  int      // of the first byte
}

// Member is one member of an object.
type Member struct {
	Name  string
	Value Value
}

// Get returns the last member of that name, or nil.
func (v *Value) Get(name string) *Value {
	for i := len(v.Members) - 1; i >= 0; i-- {
		if v.Members[i].Name == name {
			return &v.Members[i].Value
		}
	}
	return nil
}

// StringAt returns the string member of that name, or "".
func (v *Value) StringAt(name string) string {
	if m := v.Get(name); m != nil && m.Kind == String {
		return m.Text
	}
	return ""
}

// Token names the value the way the org's parser does.
func (v *Value) Token() string {
	switch v.Kind {
	case Null:
		return "VALUE_NULL"
	case Bool:
		if v.Bool {
			return "VALUE_TRUE"
		}
		return "VALUE_FALSE"
	case Number:
		if strings.ContainsAny(v.Text, ".eE") {
			return "VALUE_NUMBER_FLOAT"
		}
		return "VALUE_NUMBER_INT"
	case String:
		return "VALUE_STRING"
	case Array:
		return "START_ARRAY"
	default:
		return "START_OBJECT"
	}
}

// Literal is the value as an error message quotes it.
func (v *Value) Literal() string {
	switch v.Kind {
	case String, Number:
		return v.Text
	case Bool:
		return fmt.Sprint(v.Bool)
	case Null:
		return "null"
	default:
		return ""
	}
}

// SyntaxError is malformed JSON.
type SyntaxError struct {
	Reason       string
	Line, Column int
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s at [line:%d, column:%d]", e.Reason, e.Line, e.Column)
}

// Position turns an offset into line and column, both from 1.
func Position(data []byte, offset int) (line, column int) {
	line, column = 1, 1
	for i := 0; i < offset && i < len(data); i++ {
		if data[i] == '\n' {
			line, column = line+1, 0
		}
		column++
	}
	return line, column
}
