package identify

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"sfbridge/mapping/path"
	"sfbridge/mapping/view"
)

// element is one event's part of a delivery.
type element struct {
	raw    []byte
	value  any
	kind   view.Kind
	loose  bool // the text of a form was not UTF-8
	holder any  // the outer element of a nested split

	broken []element // lines beside the array that are no JSON
	at     int       // place of such a line among all

	hash    string // once it was asked for
	unsound error  // why a person has to look at what was hashed
}

// exact says that the decoded value is what the bytes say.
func (e element) exact() bool { return !e.loose && utf8.Valid(e.raw) }

// split is one array of events, compiled.
type split struct {
	outer path.Path
	inner *path.Path // the nested array below an element; nil when there is none
	names []string   // the same as element names of an XML document; nil when it has indexes
}

// splits compiles the arrays of an identity.
func splits(i Identity) ([]split, error) {
	var list []split
	for _, l := range append([]path.List{i.Split}, i.MoreSplits...) {
		if l.IsZero() {
			continue
		}
		inner, err := nestedItems(l)
		if err != nil {
			return nil, err
		}
		s := split{outer: l.Path(), inner: inner}
		if inner == nil {
			s.names = elementNames(s.outer)
		}
		list = append(list, s)
	}
	return list, nil
}

// elementNames is a path of members only.
func elementNames(p path.Path) []string {
	var names []string
	for _, segment := range p.Segments() {
		name, ok := segment.(string)
		if !ok {
			return nil
		}
		names = append(names, name)
	}
	return names
}

// nestedItems is the path of the second [*] of a split, below an element of the
// first; nil when there is only one.
func nestedItems(split path.List) (*path.Path, error) {
	rest, ok := strings.CutPrefix(split.String(), split.Path().String()+"[*]")
	if split.IsZero() || !ok || rest == "" {
		return nil, nil
	}
	inner, err := path.Parse("$" + strings.TrimSuffix(rest, "[*]"))
	if err != nil {
		return nil, fmt.Errorf("event.split: %w", err)
	}
	return &inner, nil
}

// elements cuts a batch into its elements; batch is false when the delivery is
// one event. A missing or null array has no elements.
func (d *Document) elements() (list []element, batch bool, err error) {
	for _, s := range d.identifier.splits {
		if value, _ := s.outer.In(d.Value); d.identifier.identity.Single && d.whole.kind == view.JSON {
			if _, array := value.([]any); !array {
				continue
			}
		}
		batch = true
		found, err := d.cut(s)
		if err != nil {
			return nil, true, err
		}
		if list = append(list, found...); len(list) > MaxEvents {
			return nil, true, errTooMany
		}
	}
	for _, line := range d.whole.broken {
		list, batch = slices.Insert(list, min(line.at, len(list)), line), true
	}
	return list, batch, nil
}

// cut takes one array apart. In a nested one an outer element whose inner array
// can't be read stands for itself, so that it is kept.
func (d *Document) cut(s split) ([]element, error) {
	if d.whole.kind != view.JSON {
		return cutXML(d.whole, s.names)
	}
	all, err := items(d.whole, s.outer)
	if err != nil || s.inner == nil {
		return d.spread(all), err
	}
	var flat []element
	for _, e := range all {
		inner, err := items(e, *s.inner)
		if err == errTooMany {
			return nil, err
		}
		if err != nil || e.value == nil {
			inner = []element{e}
		}
		if flat = append(flat, d.spread(inner)...); len(flat) > MaxEvents {
			return nil, errTooMany
		}
	}
	return flat, nil
}

var (
	errNoArray = &Refusal{NoID, "what should be the list of events is no array"}
	errTooMany = &Refusal{TooMany, fmt.Sprintf("more than %d events in one delivery", MaxEvents)}
)

// cutXML takes the elements of a document apart.
func cutXML(whole element, names []string) ([]element, error) {
	if whole.kind != view.XML || names == nil {
		return nil, errNoArray
	}
	parts, err := view.Cut(whole.raw, names)
	if err != nil {
		return nil, contentRefusal(err)
	}
	if len(parts) > MaxEvents {
		return nil, errTooMany
	}
	list := make([]element, len(parts))
	for i, raw := range parts {
		value, err := view.DecodeXML(raw)
		if err != nil {
			return nil, contentRefusal(err)
		}
		list[i] = element{raw: raw, value: value, kind: view.XML}
	}
	return list, nil
}

// items returns the elements of the array at p inside e.
func items(e element, p path.Path) ([]element, error) {
	value, _ := p.In(e.value)
	if value == nil {
		return nil, nil
	}
	values, ok := value.([]any)
	if !ok {
		return nil, errNoArray
	}
	if len(values) > MaxEvents {
		return nil, errTooMany
	}
	raw, _ := p.Raw(e.raw)
	parts := splitArray(raw, len(values))
	if len(parts) != len(values) {
		return nil, errNoArray
	}
	list := make([]element, len(values))
	for i := range values {
		list[i] = element{raw: parts[i], value: values[i], holder: e.value}
	}
	return list, nil
}

// maxSpread bounds how much larger an element may become by being spread; one
// that would is kept whole.
const maxSpread = 4

// spread makes an event of each element of the arrays inside the elements.
func (d *Document) spread(elements []element) []element {
	if len(d.identifier.identity.Spread) == 0 {
		return elements
	}
	var all []element
	for _, e := range elements {
		all = append(all, d.spreadOne(e)...)
	}
	return all
}

func (d *Document) spreadOne(e element) []element {
	for _, p := range d.identifier.identity.Spread {
		parts, err := items(e, p)
		if err != nil || len(parts) < 2 {
			continue
		}
		raw, _ := p.Raw(e.raw)
		at := cap(e.raw) - cap(raw) // raw is a part of e.raw, up to the same end
		around := len(e.raw) - len(raw)
		if at < 0 || at+len(raw) > len(e.raw) || around*len(parts) > maxSpread*len(e.raw) {
			continue
		}
		list := make([]element, 0, len(parts))
		for _, part := range parts {
			one := bytes.Join([][]byte{e.raw[:at], []byte("["), part.raw, []byte("]"), e.raw[at+len(raw):]}, nil)
			value, err := decodeJSON(one)
			if err != nil {
				return []element{e}
			}
			list = append(list, element{raw: one, value: value, holder: e.holder})
		}
		return list
	}
	return []element{e}
}

// splitArray returns the bytes of each element of a JSON array that is known to
// be well formed and to have n elements.
func splitArray(raw []byte, n int) [][]byte {
	open := bytes.IndexByte(raw, '[')
	if open < 0 || n == 0 {
		return nil
	}
	parts := make([][]byte, 0, n)
	depth, start, inText := 0, open+1, false
	for i := open + 1; i < len(raw); i++ {
		switch c := raw[i]; {
		case inText && c == '\\':
			i++
		case c == '"':
			inText = !inText
		case inText:
		case c == '[' || c == '{':
			depth++
		case depth > 0 && (c == ']' || c == '}'):
			depth--
		case depth == 0 && (c == ',' || c == ']'):
			parts = append(parts, bytes.TrimSpace(raw[start:i]))
			if c == ']' {
				return parts
			}
			start = i + 1
		}
	}
	return parts
}
