package view

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
)

// Bounds of a document.
const (
	maxDepth    = 100
	maxElements = 20_000
)

// schemaInstance is the namespace of xsi:nil and xsi:type; a fragment has lost
// the declaration and keeps the prefix.
const schemaInstance = "http://www.w3.org/2001/XMLSchema-instance"

// DecodeXML reads a document, or one element cut out of it.
func DecodeXML(data []byte) (any, error) {
	r := newReader(data)
	start, err := r.root()
	if err != nil {
		return nil, err
	}
	value, err := r.element(start, 1)
	if err != nil {
		return nil, err
	}
	return map[string]any{start.Name.Local: value}, r.end()
}

// Cut returns the elements at a path of names, the root's first, each with its
// bytes exactly as they stand in the document.
func Cut(data []byte, names []string) ([][]byte, error) {
	data = bytes.TrimPrefix(data, byteOrderMark)
	r := newReader(data)
	var found [][]byte
	depth, matched := 0, 0
	for {
		from := r.d.InputOffset()
		token, err := r.token()
		if errors.Is(err, io.EOF) && depth == 0 {
			return found, nil
		}
		if err != nil {
			return nil, ErrXML
		}
		switch t := token.(type) {
		case xml.StartElement:
			if depth++; depth > maxDepth {
				return nil, ErrTooMany
			}
			if matched != depth-1 || matched == len(names) || t.Name.Local != names[matched] {
				continue
			}
			if matched++; matched < len(names) {
				continue
			}
			if err := r.d.Skip(); err != nil {
				return nil, ErrXML
			}
			found = append(found, data[from:r.d.InputOffset()])
			depth, matched = depth-1, matched-1
		case xml.EndElement:
			depth--
			matched = min(matched, depth)
		}
	}
}

type reader struct {
	d        *xml.Decoder
	elements int
}

func newReader(data []byte) *reader {
	return &reader{d: xml.NewDecoder(bytes.NewReader(bytes.TrimPrefix(data, byteOrderMark)))}
}

// token reads on. Document type declarations are refused: they are how a small
// document becomes a large one.
func (r *reader) token() (xml.Token, error) {
	token, err := r.d.Token()
	if errors.Is(err, io.EOF) {
		return nil, err
	}
	if err != nil {
		return nil, ErrXML
	}
	switch token.(type) {
	case xml.Directive:
		return nil, ErrXML
	case xml.StartElement:
		if r.elements++; r.elements > maxElements {
			return nil, ErrTooMany
		}
	}
	return token, nil
}

func (r *reader) root() (xml.StartElement, error) {
	for {
		token, err := r.token()
		if err != nil {
			return xml.StartElement{}, notEOF(err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			return t, nil
		case xml.CharData:
			if len(bytes.TrimSpace(t)) > 0 {
				return xml.StartElement{}, ErrXML
			}
		}
	}
}

// end refuses what follows the root element.
func (r *reader) end() error {
	for {
		token, err := r.token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			return ErrXML
		case xml.CharData:
			if len(bytes.TrimSpace(t)) > 0 {
				return ErrXML
			}
		}
	}
}

func notEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return ErrXML
	}
	return err
}

// element reads what stands in an element, up to its end.
func (r *reader) element(start xml.StartElement, depth int) (any, error) {
	if depth > maxDepth {
		return nil, ErrTooMany
	}
	e := &element{start: start}
	for {
		token, err := r.token()
		if err != nil {
			return nil, notEOF(err)
		}
		switch t := token.(type) {
		case xml.CharData:
			e.text = append(e.text, t...)
		case xml.StartElement:
			child, err := r.element(t, depth+1)
			if err != nil {
				return nil, err
			}
			e.add(t.Name.Local, child)
		case xml.EndElement:
			return e.value(), nil
		}
	}
}

type element struct {
	start    xml.StartElement
	text     []byte
	list     []any // the children in order
	members  map[string]any
	repeated map[string]bool
}

func (e *element) add(name string, child any) {
	e.list = append(e.list, child)
	if e.members == nil {
		e.members = map[string]any{}
	}
	before, there := e.members[name]
	switch {
	case !there:
		e.members[name] = child
	case e.repeated[name]:
		e.members[name] = append(before.([]any), child)
	default:
		e.members[name] = []any{before, child}
		if e.repeated == nil {
			e.repeated = map[string]bool{}
		}
		e.repeated[name] = true
	}
}

// value is the element as the package comment says.
func (e *element) value() any {
	if e.marked("nil", "true") {
		return nil
	}
	if e.marked("type", "array") {
		return append([]any{}, e.list...)
	}
	leaf := e.members == nil
	attributes := e.attributes(leaf)
	if leaf && len(attributes) == 0 {
		return string(e.text)
	}
	value := e.members
	if value == nil {
		value = attributes
	}
	for name, text := range attributes {
		value[name] = text
	}
	if leaf {
		value["#text"] = string(e.text)
	} else if text := strings.TrimSpace(string(e.text)); text != "" {
		value["#text"] = text
	}
	return value
}

func (e *element) marked(name, value string) bool {
	for _, a := range e.start.Attr {
		if a.Name.Local == name && a.Value == value && (a.Name.Space == "" || isInstance(a.Name.Space)) {
			return true
		}
	}
	return false
}

func isInstance(space string) bool { return space == schemaInstance || space == "xsi" }

func (e *element) attributes(leaf bool) map[string]any {
	kept := map[string]any{}
	for _, a := range e.start.Attr {
		instance := isInstance(a.Name.Space)
		switch {
		case a.Name.Space == "xmlns" || (a.Name.Space == "" && a.Name.Local == "xmlns"):
		case instance && a.Name.Local == "type" && !leaf:
			kept["@type"] = a.Value[strings.LastIndexByte(a.Value, ':')+1:]
		case instance || (leaf && (a.Name.Local == "type" || a.Name.Local == "nil")):
		default:
			kept["@"+a.Name.Local] = a.Value
		}
	}
	return kept
}
