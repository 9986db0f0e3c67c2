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
	all, err := items(element{d.json, d.Value}, d.identifier.identity.Split.Path())
	if err != nil || d.identifier.items == nil {
		return all, err
	}
	var flat []element
	for _, e := range all {
		inner, err := items(e, *d.identifier.items)
		if err == errTooMany {
			return nil, err
		}
		if err != nil || e.value == nil {
			inner = []element{e}
		}
		if flat = append(flat, inner...); len(flat) > MaxEvents {
			return nil, errTooMany
		}
	}
	return flat, nil
}

var (
	errNoArray = &Refusal{NoID, "what should be the list of events is no array"}
	errTooMany = &Refusal{TooMany, fmt.Sprintf("more than %d events in one delivery", MaxEvents)}
)

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
		list[i] = element{parts[i], values[i]}
	}
	return list, nil
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
