package identify

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"sfbridge/mapping/path"
)

// element is one event's part of a delivery.
type element struct {
	raw   []byte
	value any
}

// exact says that the decoded value is what the bytes say.
func (e element) exact() bool { return utf8.Valid(e.raw) }

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

// elements cuts a batch into its elements. A missing or null array has none. In
// a nested batch an outer element whose inner array can't be read stands for
// itself, so that it is kept.
func (d *Document) elements() ([]element, error) {
	outer := element{d.json, d.Value}
	all, ok := items(outer, d.identifier.identity.Split.Path())
	if !ok {
		return nil, &Refusal{NoID, "what should be the list of events is no array"}
	}
	if nested := d.identifier.items; nested != nil {
		var flat []element
		for _, e := range all {
			inner, ok := items(e, *nested)
			if !ok || e.value == nil {
				inner = []element{e}
			}
			flat = append(flat, inner...)
		}
		all = flat
	}
	if len(all) > MaxEvents {
		return nil, &Refusal{TooMany, fmt.Sprintf("more than %d events in one delivery", MaxEvents)}
	}
	return all, nil
}

// items returns the elements of the array at p inside e; ok is false when
// something else stands there.
func items(e element, p path.Path) (list []element, ok bool) {
	value, _ := p.In(e.value)
	if value == nil {
		return nil, true
	}
	values, ok := value.([]any)
	if !ok {
		return nil, false
	}
	raw, _ := p.Raw(e.raw)
	parts := splitArray(raw, len(values))
	if len(parts) != len(values) {
		return nil, false
	}
	list = make([]element, len(values))
	for i := range values {
		list[i] = element{parts[i], values[i]}
	}
	return list, true
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
