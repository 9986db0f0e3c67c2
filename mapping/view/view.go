// Package view reads a stored payload as a value tree, whatever the provider
// sends: JSON, a form, or an XML document. Mappings address all three with the
// same paths; what is stored are always the bytes as they came.
//
//	tree, err := view.Decode(payload)
//
// JSON is itself. What begins with "<" is XML, what else isn't JSON and has a
// "=" is a form.
//
// A form is an object: each field is a member with its text. A field that
// comes several times is an array of its texts, in order.
//
//	From=%2B4930&Body=Hi&Tag=a&Tag=b    {"From":"+4930","Body":"Hi","Tag":["a","b"]}
//
// An XML document is an object with one member, its root element. Names are
// local names, without a namespace or its prefix.
//
//   - An element without elements in it is its text, exactly as written; an
//     empty one is "". One marked nil="true" (xsi:nil too) is null.
//
//   - An element with elements in it is an object: each child is a member. Children
//     of one name are an array, in order. type="array" makes an element an
//     array of its children even when it has one or none.
//
//   - Attributes are members "@name"; an element that has text beside them or
//     beside children keeps it as "#text". xsi:type is "@type" without its
//     prefix. Namespace declarations are left out, and so is type="…" on an
//     element that has only text: it is a hint, such as type="datetime".
//
//     <n><kind>paid</kind><at type="datetime">2026-01-05T04:30:30Z</at><line no="1">a</line><line no="2">b</line></n>
//     {"n":{"kind":"paid","at":"2026-01-05T04:30:30Z","line":[{"@no":"1","#text":"a"},{"@no":"2","#text":"b"}]}}
package view

import (
	"bytes"
	"errors"

	"sfbridge/mapping/path"
)

// Kind is what a payload is.
type Kind uint8

// The kinds of payload.
const (
	JSON Kind = iota
	Form
	XML
)

var byteOrderMark = []byte("\xEF\xBB\xBF")

// KindOf tells by its first byte, and whether it is JSON, what a payload is.
func KindOf(data []byte) Kind {
	text := bytes.TrimSpace(bytes.TrimPrefix(data, byteOrderMark))
	switch {
	case len(text) == 0:
		return JSON
	case text[0] == '<':
		return XML
	case bytes.IndexByte([]byte(`{["`), text[0]) >= 0 || bytes.IndexByte(text, '=') < 0:
		return JSON
	}
	return Form
}

// Decode reads a payload as a value tree.
func Decode(data []byte) (any, error) {
	switch KindOf(data) {
	case XML:
		return DecodeXML(data)
	case Form:
		tree, exact, err := DecodeForm(data)
		if err == nil && !exact {
			err = path.ErrNotUTF8
		}
		return tree, err
	default:
		return path.DecodeJSON(data)
	}
}

// Errors of payloads that can't be read.
var (
	ErrForm    = errors.New("the form is not percent-encoded")
	ErrXML     = errors.New("the document is not well-formed XML in UTF-8")
	ErrTooMany = errors.New("more fields or elements than a delivery may have")
)
