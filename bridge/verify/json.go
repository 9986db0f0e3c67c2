package verify

import (
	"encoding/json"
	"errors"
	"strings"
)

// member reads a text or number in the body by its dotted path. Of equal names
// in one object the last counts, as everywhere in the product.
func (r *request) member(path string) (string, Reason) {
	raw := json.RawMessage(r.Body)
	for more := true; more; {
		var name string
		name, path, more = strings.Cut(path, ".")
		var object map[string]json.RawMessage
		if err := json.Unmarshal(raw, &object); err != nil {
			if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
				return "", NotJSON
			}
			return "", MissingHeader // not an object here, so the member is not there
		}
		raw = object[name]
		if len(raw) == 0 {
			return "", MissingHeader
		}
	}
	var number json.Number
	var text string
	switch {
	case raw[0] == '"' && json.Unmarshal(raw, &text) == nil && text != "":
		return text, OK
	case raw[0] != '"' && json.Unmarshal(raw, &number) == nil && number != "":
		return number.String(), OK
	case raw[0] == '"' || string(raw) == "null":
		return "", MissingHeader
	}
	return "", MalformedHeader
}
