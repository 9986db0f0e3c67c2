package event

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"unicode/utf8"
)

// Segments is one singular path into a JSON tree: object members as string,
// array positions as int (negative: from the end).
type Segments []any

// HashBytes is Payload_Hash__c of an event that is not JSON.
func HashBytes(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// HashJSON is Payload_Hash__c of a JSON event: the lower-case hex SHA-256 of
// its canonical form. tree is decoded JSON with json.Number for numbers.
func HashJSON(tree any, volatile []Segments) (string, error) {
	h := sha256.New()
	w := canonicalWriter{out: h, buf: make([]byte, 0, 512)} // events of a batch are small; it grows
	if err := w.value(tree, volatile); err != nil {
		return "", err
	}
	w.flush()
	return hex.EncodeToString(h.Sum(nil)), nil
}

// AppendCanonical appends the canonical form of tree to dst: compact JSON,
// members sorted by code point, strings minimally escaped, numbers as
// written, volatile paths left out.
func AppendCanonical(dst []byte, tree any, volatile []Segments) ([]byte, error) {
	w := canonicalWriter{buf: dst}
	err := w.value(tree, volatile)
	return w.buf, err
}

// canonicalWriter gathers output in buf and hands it to out (if any) in
// pieces, so that hashing a large event needs no second copy of it.
type canonicalWriter struct {
	out io.Writer
	buf []byte
}

func (w *canonicalWriter) flush() {
	if w.out == nil {
		return
	}
	_, _ = w.out.Write(w.buf) // a hash never fails
	w.buf = w.buf[:0]
}

func (w *canonicalWriter) value(v any, volatile []Segments) error {
	if len(w.buf) > 3072 {
		w.flush()
	}
	switch t := v.(type) {
	case nil:
		w.buf = append(w.buf, "null"...)
	case bool:
		w.buf = strconv.AppendBool(w.buf, t)
	case string:
		w.buf = appendString(w.buf, t)
	case json.Number:
		w.buf = append(w.buf, t...)
	case []any:
		return w.array(t, volatile)
	case map[string]any:
		return w.object(t, volatile)
	default:
		return fmt.Errorf("a %T is no JSON value", v)
	}
	return nil
}

func (w *canonicalWriter) array(items []any, volatile []Segments) error {
	w.buf = append(w.buf, '[')
	first := true
	for i, item := range items {
		inner, drop := descend(volatile, func(s any) bool {
			n, ok := s.(int)
			return ok && (n == i || n == i-len(items))
		})
		if drop {
			continue
		}
		if !first {
			w.buf = append(w.buf, ',')
		}
		first = false
		if err := w.value(item, inner); err != nil {
			return err
		}
	}
	w.buf = append(w.buf, ']')
	return nil
}

func (w *canonicalWriter) object(members map[string]any, volatile []Segments) error {
	names := make([]string, 0, len(members))
	for name := range members {
		names = append(names, name)
	}
	slices.Sort(names) // UTF-8 order is code point order
	w.buf = append(w.buf, '{')
	first := true
	for _, name := range names {
		inner, drop := descend(volatile, func(s any) bool { return s == name })
		if drop {
			continue
		}
		if !first {
			w.buf = append(w.buf, ',')
		}
		first = false
		w.buf = append(appendString(w.buf, name), ':')
		if err := w.value(members[name], inner); err != nil {
			return err
		}
	}
	w.buf = append(w.buf, '}')
	return nil
}

// descend keeps what is left of the paths whose first segment matches; drop
// says that one of them ends here.
func descend(paths []Segments, match func(any) bool) (inner []Segments, drop bool) {
	for _, p := range paths {
		if len(p) == 0 || !match(p[0]) {
			continue
		}
		if len(p) == 1 {
			return nil, true
		}
		inner = append(inner, p[1:])
	}
	return inner, false
}

const hexDigits = "0123456789abcdef"

// appendString escapes only what JSON makes necessary.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf || (c >= 0x20 && c != '"' && c != '\\') {
			i++
			continue
		}
		dst = append(dst, s[start:i]...)
		dst = appendEscape(dst, c)
		i++
		start = i
	}
	return append(append(dst, s[start:]...), '"')
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, `\b`...)
	case '\t':
		return append(dst, `\t`...)
	case '\n':
		return append(dst, `\n`...)
	case '\f':
		return append(dst, `\f`...)
	case '\r':
		return append(dst, `\r`...)
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}
