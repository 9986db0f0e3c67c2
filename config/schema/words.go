package schema

import (
	"regexp"
	"strings"
)

// words say what the loader's questions don't tell. A key is the end of a place,
// such as key.field; the longest that fits holds.
type words map[string]word

// word is about one place.
type word struct {
	text     string   // for people
	pattern  string   // of text, where the loader judges it by itself
	values   []string // the words that text may be
	keys     string   // pattern of the names of a map's keys
	anything bool     // the loader takes any tree
}

// find gives the words about a place, and the key that they stand under.
func (w words) find(path string) (said word, end string) {
	for end = path; end != ""; {
		if found, ok := w[end]; ok {
			return found, end
		}
		_, rest, more := strings.Cut(end, ".")
		if !more {
			break
		}
		end = rest
	}
	return word{}, ""
}

// refine adds what is said to a schema.
func (w word) refine(out object) {
	if w.text != "" {
		out["description"] = w.text
	}
	if w.pattern != "" {
		out["type"], out["pattern"] = spelled(w.pattern), w.pattern
	}
	if w.values != nil {
		delete(out, "type")
		out["enum"] = w.values
	}
	if w.keys != "" {
		out["propertyNames"] = object{"pattern": w.keys}
	}
}

// spelled are the types of what fits a pattern: text is read as it is spelled,
// so an unquoted true may be a name.
func spelled(pattern string) any {
	fits, kinds := regexp.MustCompile(pattern), []string{"string"}
	if fits.MatchString("true") {
		kinds = append(kinds, "boolean")
	}
	if fits.MatchString("7") {
		kinds = append(kinds, "number")
	}
	if len(kinds) == 1 {
		return kinds[0]
	}
	return kinds
}
