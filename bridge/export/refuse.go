package export

import (
	"fmt"
	"strings"
	"unicode/utf16"

	"sfbridge/mapping"
)

// Refused is a mapping that the Apex package can't run.
type Refused struct {
	File     string
	Problems []string // each names the place, what it is, and what to do
}

// Error is one line per problem.
func (r *Refused) Error() string {
	lines := make([]string, len(r.Problems))
	for i, p := range r.Problems {
		lines[i] = r.File + ": " + p
	}
	return strings.Join(lines, "\n")
}

// maxDefinition is the length of Definition__c in UTF-16 units.
const maxDefinition = 131072

// setupObjects can't be written in one transaction with the events' rows.
var setupObjects = []string{
	"FieldPermissions", "Group", "GroupMember", "ObjectPermissions", "PermissionSet", "PermissionSetAssignment",
	"QueueSObject", "SetupEntityAccess", "Territory", "User", "UserPackageLicense", "UserRole", "UserTerritory",
}

// outside are kinds of objects that take no part in a transaction, by the suffix
// of their names.
var outside = []struct{ suffix, kind string }{
	{"__e", "a platform event"}, {"__b", "a big object"}, {"__x", "an external object"}, {"__mdt", "custom metadata"},
}

func refusals(cfg Config) []string {
	var out []string
	if cfg.Sends != "" {
		out = append(out, fmt.Sprintf("provider %s sends %s, and the Apex package reads JSON: write processor: bridge", cfg.Mapping.Provider, cfg.Sends))
	}
	for i, r := range cfg.Mapping.Routes {
		place := fmt.Sprintf("routes[%d] (%s)", i, r.Name)
		if r.Authority() != nil {
			out = append(out, place+": authority: the org makes no requests while it applies events: remove it, or write processor: bridge")
		}
		for j, t := range r.Targets() {
			if why := notInApex(t); why != "" {
				out = append(out, fmt.Sprintf("%s.records[%d].object: %s", place, j, why))
			}
		}
	}
	return append(out, unstorable(string(cfg.Mapping.Canonical()))...)
}

func notInApex(t mapping.Target) string {
	for _, o := range outside {
		if strings.HasSuffix(strings.ToLower(t.Object), o.suffix) {
			return fmt.Sprintf("%s is %s, which Apex can't write with a record's outcome: write it by an effect", t.Object, o.kind)
		}
	}
	for _, name := range setupObjects {
		if strings.EqualFold(t.Object, name) {
			return t.Object + " is a setup object, which Apex can't write in one transaction with the event's row (MIXED_DML_OPERATION): write processor: bridge"
		}
	}
	return ""
}

// unstorable tells why a definition can't be kept in a metadata record.
func unstorable(definition string) []string {
	var out []string
	if n := len(utf16.Encode([]rune(definition))); n > maxDefinition {
		out = append(out, fmt.Sprintf("the compiled mapping has %d characters, and %s keeps %d: split it into sources, or write processor: bridge", n, FieldDefinition, maxDefinition))
	}
	if i := strings.IndexFunc(definition, notInXML); i >= 0 {
		out = append(out, fmt.Sprintf("a text holds the character %U, which metadata files can't: remove it", []rune(definition[i:])[0]))
	}
	return out
}

// notInXML tells the characters that JSON leaves as they are and XML has no way
// to write.
func notInXML(r rune) bool { return r < ' ' || r == 0xFFFE || r == 0xFFFF }
