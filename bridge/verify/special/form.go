package special

import (
	"net/url"
	"strings"
)

// maxFields bounds how many fields of a form are read; no provider comes near.
const maxFields = 2000

type field struct{ name, value string }

// parseForm reads application/x-www-form-urlencoded in the order it was sent.
func parseForm(body string) ([]field, bool) {
	if body == "" {
		return nil, true
	}
	var fields []field
	for more := true; more; {
		var pair string
		pair, body, more = strings.Cut(body, "&")
		if pair == "" {
			continue
		}
		if len(fields) == maxFields {
			return nil, false
		}
		name, value, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(name)
		if err != nil {
			return nil, false
		}
		if value, err = url.QueryUnescape(value); err != nil {
			return nil, false
		}
		fields = append(fields, field{name, value})
	}
	return fields, true
}

// one returns the only value of a field; several that differ are none.
func one(fields []field, name string) (string, bool) {
	found, value := false, ""
	for _, f := range fields {
		if f.name != name {
			continue
		}
		if found && f.value != value {
			return "", false
		}
		found, value = true, f.value
	}
	return value, found
}
