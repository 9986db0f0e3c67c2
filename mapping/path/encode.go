package path

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"
)

// AppendJSON appends a value tree as compact JSON: members sorted by code
// point, strings minimally escaped, numbers as written. So equal trees give
// equal bytes. Anything that isn't a value tree is an error.
func AppendJSON(dst []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...), nil
	case bool:
		return strconv.AppendBool(dst, v), nil
	case string:
		return appendString(dst, v)
	case json.Number:
		if !IsNumber(string(v)) {
			return nil, fmt.Errorf("writing JSON: a number that JSON can't write")
		}
		return append(dst, v...), nil
	case []any:
		return appendArray(dst, v)
	case map[string]any:
		return appendObject(dst, v)
	}
	return nil, fmt.Errorf("writing JSON: a %T", v)
}

func appendArray(dst []byte, a []any) ([]byte, error) {
	dst = append(dst, '[')
	for i, e := range a {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = AppendJSON(dst, e); err != nil {
			return nil, err
		}
	}
	return append(dst, ']'), nil
}

func appendObject(dst []byte, m map[string]any) ([]byte, error) {
	dst = append(dst, '{')
	for i, name := range slices.Sorted(maps.Keys(m)) {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = appendString(dst, name); err != nil {
			return nil, err
		}
		if dst, err = AppendJSON(append(dst, ':'), m[name]); err != nil {
			return nil, err
		}
	}
	return append(dst, '}'), nil
}

const lowerHex = "0123456789abcdef"

func appendString(dst []byte, s string) ([]byte, error) {
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			dst = appendASCII(dst, c)
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r != utf8.RuneError || n > 1 {
			dst = append(dst, s[i:i+n]...)
			i += n
			continue
		}
		r, ok := loneSurrogate(s[i:])
		if !ok {
			return nil, fmt.Errorf("writing JSON: text that is %w", ErrNotUTF8)
		}
		dst = appendUnit(dst, r)
		i += 3
	}
	return append(dst, '"'), nil
}

func appendASCII(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	if c < ' ' {
		return appendUnit(dst, rune(c))
	}
	return append(dst, c)
}

func appendUnit(dst []byte, r rune) []byte {
	return append(dst, '\\', 'u', lowerHex[r>>12&15], lowerHex[r>>8&15], lowerHex[r>>4&15], lowerHex[r&15])
}
