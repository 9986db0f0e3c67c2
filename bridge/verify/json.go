package verify

import (
	"encoding/json"
	"strings"
)

// member reads a text or number in the body by its dotted path. Of equal names
// in one object the last counts, as everywhere in the product.
func (r *request) member(path string) (string, Reason) {
	if !json.Valid(r.Body) {
		return "", NotJSON
	}
	raw := json.RawMessage(r.Body)
	for more := true; more; {
		var name string
		name, path, more = strings.Cut(path, ".")
		var object map[string]json.RawMessage
		if err := json.Unmarshal(raw, &object); err != nil {
			return "", MissingHeader // not an object here, so the member is not there
		}
		raw = object[name]
	}
	var number json.Number
	var text string
	switch {
	case len(raw) == 0:
		return "", MissingHeader
	case raw[0] == '"' && json.Unmarshal(raw, &text) == nil && text != "":
		return text, OK
	case raw[0] != '"' && json.Unmarshal(raw, &number) == nil && number != "":
		return number.String(), OK
	case raw[0] == '"' || string(raw) == "null":
		return "", MissingHeader
	}
	return "", MalformedHeader
}
