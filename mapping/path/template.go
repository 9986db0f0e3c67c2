package path

import (
	"strings"
)

// Escaping says what a template is for, and so how its values are written into
// it and what happens when one has no value.
type Escaping uint8

const (
	// Field is for a field's text: values as they are.
	Field Escaping = iota
	// Identity is for an event's type and object: with more than one
	// placeholder, % and the first character of every literal that follows a
	// placeholder are written %XX inside values, so that two never meet.
	Identity
	// Key is for a record's key: as Identity; a part without a value, an empty
	// key and white space at an end of the key are errors.
	Key
	// EventID is for an event's id: as Identity, and %, #, !, white space at
	// the ends and a leading "sha256:" or "reconcile:" are escaped too; a part
	// without a value and an empty id are errors.
	EventID
	// URL is for a URL: values are percent-encoded but for letters, digits and
	// "-._~"; empty ones, "." and ".." are errors.
	URL
)

// Template is text with paths in braces: "{$.order}/{@.id}". The zero Template
// is always missing.
type Template struct {
	text     string
	escaping Escaping
	parts    []part
	reserved string // characters written %XX inside values
}

// part is literal text or, when path is set, a placeholder.
type part struct {
	literal string
	path    Path
}

// ParseTemplate compiles a template. Its error is a [*ParseError].
func ParseTemplate(text string, escaping Escaping) (Template, error) {
	parts, err := splitTemplate(text)
	if err != nil {
		return Template{}, err
	}
	t := Template{text: text, escaping: escaping, parts: parts}
	if err := t.validate(); err != nil {
		return Template{}, err
	}
	t.reserved = t.reserve()
	return t, nil
}

// TemplateOf is the template that has p as its only part.
func TemplateOf(p Path, escaping Escaping) Template {
	t := Template{text: p.text, escaping: escaping, parts: []part{{path: p}}}
	t.reserved = t.reserve()
	return t
}

// ParsePathOrTemplate compiles text that may be a path alone or a template.
func ParsePathOrTemplate(text string, escaping Escaping) (Template, error) {
	if strings.ContainsAny(unquoted(text), "{}") {
		return ParseTemplate(text, escaping)
	}
	p, err := Parse(text)
	if err != nil {
		return Template{}, err
	}
	return TemplateOf(p, escaping), nil
}

// String returns the template as it was written.
func (t Template) String() string { return t.text }

// IsZero reports whether t is the zero Template.
func (t Template) IsZero() bool { return t.parts == nil }

// Paths returns the placeholders in order.
func (t Template) Paths() []Path {
	var out []Path
	for _, p := range t.parts {
		if !p.path.IsZero() {
			out = append(out, p.path)
		}
	}
	return out
}

// Expand fills the template in. It is missing when one of its values is missing
// or null; for Key and EventID that is an error. An error is a [*ValueError]
// and comes with present false.
func (t Template) Expand(s Scope) (text string, present bool, err error) {
	if len(t.parts) == 0 {
		return "", false, nil
	}
	out := make([]byte, 0, 64)
	for _, p := range t.parts {
		if p.path.IsZero() {
			out = append(out, p.literal...)
			continue
		}
		v, ok := p.path.Get(s)
		if !ok || v == nil {
			return "", false, t.absent(p.path, ok)
		}
		if out, err = t.appendValue(out, p.path, v); err != nil {
			return "", false, err
		}
	}
	return t.finish(string(out))
}

func (t Template) absent(p Path, present bool) error {
	if t.escaping != Key && t.escaping != EventID {
		return nil
	}
	if present {
		return &ValueError{Path: p.text, Reason: "is null"}
	}
	return &ValueError{Path: p.text, Reason: "is missing"}
}

func splitTemplate(text string) ([]part, error) {
	var parts []part
	rest := text
	for rest != "" {
		open := strings.IndexAny(rest, "{}")
		if open < 0 {
			return append(parts, part{literal: rest}), nil
		}
		if open > 0 {
			parts = append(parts, part{literal: rest[:open]})
		}
		inner := rest[open+1:]
		end := strings.IndexByte(unquoted(inner), '}')
		if rest[open] == '}' || end < 0 {
			return nil, &ParseError{Text: text, What: "has a brace without its other half", Fix: "write placeholders like {$.id}"}
		}
		if strings.HasPrefix(inner, "{") {
			return nil, &ParseError{Text: text, What: "has doubled braces", Fix: "write single ones, such as {$.id}"}
		}
		p, err := Parse(inner[:end])
		if err != nil {
			return nil, err
		}
		parts = append(parts, part{path: p})
		rest = inner[end+1:]
	}
	return parts, nil
}

func (t Template) placeholders() int {
	n := 0
	for _, p := range t.parts {
		if !p.path.IsZero() {
			n++
		}
	}
	return n
}

// separators are the literals that follow a placeholder.
func (t Template) separators() []string {
	var out []string
	for i, p := range t.parts {
		if i > 0 && p.path.IsZero() {
			out = append(out, p.literal)
		}
	}
	return out
}

func (t Template) isKey() bool {
	return t.escaping == Identity || t.escaping == Key || t.escaping == EventID
}

func (t Template) validate() error {
	n := t.placeholders()
	if n == 0 && t.escaping != URL {
		return t.wrong("has no placeholder", "put the path in braces, such as {$.id}; fixed text goes into value")
	}
	if len(t.parts) == 0 {
		return t.wrong("is empty", "write text with paths in braces, such as {$.id}")
	}
	if first := t.parts[0].literal; strings.HasPrefix(first, "$.") || strings.HasPrefix(first, "@.") || isHeaderPath(first) {
		return t.wrong("begins with a path outside braces", "put every path in braces, such as {$.id}/{$.version}")
	}
	if !t.isKey() {
		return nil
	}
	for i := 1; i < len(t.parts); i++ {
		if !t.parts[i-1].path.IsZero() && !t.parts[i].path.IsZero() {
			return t.wrong("has two placeholders side by side", "put a literal between them, such as {$.id}:{$.version}")
		}
	}
	for _, s := range t.separators() {
		if n > 1 && strings.HasPrefix(s, "%") {
			return t.wrong("has % right after a placeholder", "use another separator, such as : or /")
		}
	}
	first, last := t.parts[0].literal, t.parts[len(t.parts)-1].literal
	if t.escaping != Identity && (trimLeft(first) != first || trimRight(last) != last) {
		return t.wrong("has white space at an end", "leave it out")
	}
	if t.escaping == EventID {
		return t.validateEventID()
	}
	return nil
}

// validateEventID keeps out of the literals what is escaped in event ids, so
// that an id means the same wherever it is read.
func (t Template) validateEventID() error {
	for _, p := range t.parts {
		if strings.ContainsAny(p.literal, "#!") {
			return t.wrong("has # or ! in its text, which mark ids made by the bridge", "use another separator, such as : or /")
		}
	}
	for _, s := range t.separators() {
		if trimLeft(s) != s {
			return t.wrong("has white space right after a placeholder", "use a visible separator, such as : or /")
		}
	}
	if prefix := reservedPrefix(t.parts[0].literal); prefix != "" {
		return t.wrong("begins with "+prefix+", which marks ids made by the bridge", "use another prefix")
	}
	return nil
}

func (t Template) wrong(what, fix string) error {
	text := t.text
	if text == "" {
		text = `""`
	}
	return &ParseError{Text: text, What: what, Fix: fix}
}
