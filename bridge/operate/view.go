package operate

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// JSON shows stored bytes as the JSON they are, else as text; nil for none.
func JSON(raw []byte) any {
	switch {
	case len(raw) == 0:
		return nil
	case json.Valid(raw) && utf8.Valid(raw):
		return json.RawMessage(raw)
	}
	return strings.ToValidUTF8(string(raw), "\uFFFD")
}

// Lines are the decisions of a history.
func Lines(history string) []string {
	if history == "" {
		return []string{}
	}
	return strings.Split(history, "\n")
}
