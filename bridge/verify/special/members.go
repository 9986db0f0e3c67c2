package special

import "encoding/json"

// members is a JSON object under the exact names of its members. Decoding into
// a struct ignores case, which would let a second spelling be verified while
// the first one is used.
type members map[string]json.RawMessage

func exactMembers(raw []byte) (members, error) {
	var m members
	err := json.Unmarshal(raw, &m)
	return m, err
}

// text is a member that is text; ok is false for anything else.
func (m members) text(name string) (value string, ok bool) {
	raw := m[name]
	if len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	ok = json.Unmarshal(raw, &value) == nil
	return value, ok
}

// number is a member as its digits are written; text counts as it is.
func (m members) number(name string) string {
	if text, ok := m.text(name); ok {
		return text
	}
	var n json.Number
	if json.Unmarshal(m[name], &n) != nil {
		return ""
	}
	return n.String()
}
