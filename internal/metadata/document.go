package metadata

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

const (
	declaration = `<?xml version="1.0" encoding="UTF-8"?>` + "\n"
	namespace   = "http://soap.sforce.com/2006/04/metadata"
	indent      = "    "
)

// Document is a metadata file: a root element with children.
type Document struct {
	root     string
	head     string // up to the end of the root's start tag
	children []child
	tail     string // from the end of the last child
}

// child is an element below the root, with what stands before it.
type child struct {
	name   string
	before string // white space and comments
	raw    string // the element itself
}

// New is an empty document.
func New(root string) *Document {
	return &Document{
		root: root,
		head: declaration + "<" + root + ` xmlns="` + namespace + `">`,
		tail: "\n</" + root + ">\n",
	}
}

// Parse reads a document.
func Parse(data []byte) (*Document, error) {
	d := &Document{}
	dec := xml.NewDecoder(bytes.NewReader(data))
	depth, end := 0, int64(0) // of the last piece taken over
	for start := int64(0); ; start = dec.InputOffset() {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("is no readable metadata: %w", err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			depth++
			switch depth {
			case 1:
				if d.root != "" {
					return nil, errors.New("is no readable metadata: it has a second root")
				}
				d.root, end = t.Name.Local, dec.InputOffset()
				d.head = string(data[:end])
			case 2:
				d.children = append(d.children, child{name: t.Name.Local, before: string(data[end:start])})
				end = start
			}
		case xml.EndElement:
			if depth == 2 {
				last := &d.children[len(d.children)-1]
				last.raw, end = string(data[end:dec.InputOffset()]), dec.InputOffset()
			}
			depth--
		}
	}
	if d.root == "" || strings.HasSuffix(d.head, "/>") {
		return nil, errors.New("is no readable metadata: it is empty")
	}
	d.tail = string(data[end:])
	return d, nil
}

// Root is the name of the root element, the type of the metadata.
func (d *Document) Root() string { return d.root }

// Bytes is the file.
func (d *Document) Bytes() []byte {
	var b bytes.Buffer
	b.WriteString(d.head)
	for _, c := range d.children {
		b.WriteString(c.before)
		b.WriteString(c.raw)
	}
	b.WriteString(d.tail)
	return b.Bytes()
}

// Text is the text of the first child of that name, "" without one.
func (d *Document) Text(name string) string {
	for _, c := range d.children {
		if c.name == name {
			return c.text()
		}
	}
	return ""
}

func (c child) text() string {
	var v struct {
		Text string `xml:",chardata"`
	}
	_ = xml.Unmarshal([]byte(c.raw), &v) // it was read once before
	return v.Text
}

// Set gives the child of that name a text; it is added where there is none.
func (d *Document) Set(name, text string) {
	d.put(child{name: name, raw: "<" + name + ">" + Escape(text) + "</" + name + ">"}, func(c child) int {
		return strings.Compare(place(c.name), place(name))
	})
}

// place is the name to sort by: the name of the thing itself comes first.
func place(name string) string {
	if name == "fullName" {
		return ""
	}
	return name
}

// put replaces the child that compares as equal, or adds one before the first
// that compares as greater.
func (d *Document) put(c child, compare func(child) int) {
	c.before = "\n" + indent
	at := len(d.children)
	for i, other := range d.children {
		switch order := compare(other); {
		case order == 0:
			d.children[i].raw = c.raw
			return
		case order > 0 && at > i:
			at = i
		}
	}
	d.children = slices.Insert(d.children, at, c)
}

var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "\r", "&#xD;")

// Escape writes text so that it can stand in an element.
func Escape(text string) string { return escaper.Replace(text) }
