package verify

import (
	"encoding/json"
	"strings"
)

// member reads a text or number in the body by its dotted path. Of equal names
// in one object the last counts, as everywhere in the product.
func (r *request) member(path string) (string, Reason) {
	raw := r.Body
	for more := true; more; {
		var name string
		name, path, more = strings.Cut(path, ".")
		found, valid := lookUp(raw, name)
		switch {
		case !valid:
			return "", NotJSON
		case found == nil:
			return "", MissingHeader
		}
		raw = found
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
