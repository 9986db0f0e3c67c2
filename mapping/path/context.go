package path

import (
	"errors"
	"net/textproto"
	"slices"
	"strings"
)

// Delivery is the [Outer] of a delivery at receipt. Header is keyed as
// net/http keys it.
type Delivery struct {
	Body   any
	Header map[string][]string
}

// Get returns a value of the delivery; several headers of one name are joined
// by ", ". Bytes of a header that aren't UTF-8 become U+FFFD, since the stored
// context can't hold them.
func (d Delivery) Get(p Path) (any, bool) {
	switch p.root {
	case RootDelivery:
		return p.In(d.Body)
	case RootHeader:
		values := textproto.MIMEHeader(d.Header).Values(p.header)
		if len(values) == 0 {
			return nil, false
		}
		return strings.ToValidUTF8(strings.Join(values, ", "), "\uFFFD"), true
	}
	return nil, false
}

// BuildContext writes the values of the contextual paths among paths as one
// compact JSON object, keyed by [Path.ContextKey] and sorted by it. Values that
// live doesn't have are left out.
func BuildContext(paths []Path, live Outer) ([]byte, error) {
	values := make(map[string]any, len(paths))
	for _, p := range paths {
		if !p.Contextual() {
			continue
		}
		if v, ok := live.Get(p); ok {
			values[p.ContextKey()] = v
		}
	}
	return AppendJSON(nil, values)
}

// stored is the Outer of a row that was staged earlier.
type stored map[string]any

func (s stored) Get(p Path) (any, bool) {
	v, ok := s[p.ContextKey()]
	return v, ok
}

// ParseContext reads what [BuildContext] wrote. Empty data holds no values.
func ParseContext(data []byte) (Outer, error) {
	if len(data) == 0 {
		return stored(nil), nil
	}
	v, err := DecodeJSON(data)
	if err != nil {
		return nil, err
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("stored context isn't a JSON object")
	}
	return stored(m), nil
}

// Contextual returns the paths among paths that must be kept at receipt, each
// once, sorted by their key.
func Contextual(paths []Path) []Path {
	var out []Path
	for _, p := range paths {
		if p.Contextual() {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b Path) int { return strings.Compare(a.ContextKey(), b.ContextKey()) })
	return slices.CompactFunc(out, func(a, b Path) bool { return a.ContextKey() == b.ContextKey() })
}
