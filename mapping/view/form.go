package view

import (
	"net/url"
	"strings"
	"unicode/utf8"
)

// maxFields bounds the fields of a form; no provider comes near.
const maxFields = 5000

// DecodeForm reads application/x-www-form-urlencoded. exact is false when the
// texts were not UTF-8: they then hold U+FFFD.
func DecodeForm(data []byte) (tree map[string]any, exact bool, err error) {
	tree, exact = map[string]any{}, true
	text := func(s string) (string, error) {
		s, err := url.QueryUnescape(s)
		if err != nil {
			return "", ErrForm
		}
		if !utf8.ValidString(s) {
			exact = false
			s = strings.ToValidUTF8(s, "\uFFFD")
		}
		return s, nil
	}
	rest := strings.TrimSpace(string(data))
	for count, more := 0, true; more; {
		var pair string
		pair, rest, more = strings.Cut(rest, "&")
		if pair == "" {
			continue
		}
		if count++; count > maxFields {
			return nil, false, ErrTooMany
		}
		name, value, _ := strings.Cut(pair, "=")
		if name, err = text(name); err != nil {
			return nil, false, err
		}
		if value, err = text(value); err != nil {
			return nil, false, err
		}
		add(tree, name, value)
	}
	return tree, exact, nil
}

// add sets a member; a repeated one becomes an array.
func add(tree map[string]any, name, value string) {
	switch before := tree[name].(type) {
	case nil:
		tree[name] = value
	case string:
		tree[name] = []any{before, value}
	case []any:
		tree[name] = append(before, value)
	}
}
