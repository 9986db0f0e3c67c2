package preflight

import (
	"regexp"
	"slices"
	"strings"

	"sfbridge/mapping"
	"sfbridge/mapping/path"
	"sfbridge/mapping/transform"
	"sfbridge/salesforce"
)

// idOf says what an external ID is used for and what its values are made of.
type idOf struct {
	role  string
	paths []path.Path
}

// externalID checks a field that records are found by.
func (c *checker) externalID(where string, f salesforce.Field, use idOf) {
	switch {
	case !f.ExternalID && !f.IDLookup:
		c.problem(where, "the "+use.role+" is no external ID", "tick External ID and Unique on the field")
	case !f.Unique && f.Type != "id":
		c.problem(where, "the "+use.role+" is not unique: two records could share it", "tick Unique on the field")
	}
	switch k := kindOf(f); {
	case k == kindText && f.Type == "string" && !f.CaseSensitive:
		c.warn(where, "the "+use.role+" folds letter case: provider ids that differ only in case would be one record",
			"tick case sensitive unless the ids are all of one case")
	case (k == kindNumber || k == kindWhole) && (f.Precision-f.Scale > exactDigits || slices.ContainsFunc(use.paths, isID)):
		c.problem(where, "the "+use.role+" is a number: the org keeps 15 digits of it, and a 64-bit id has up to 19", "use a Text field")
	case k == kindNumber || k == kindWhole:
		c.warn(where, "the "+use.role+" is a number: ids with leading zeros, letters or more digits than the field has are refused", "use a Text field")
	}
}

// exactDigits is how many digits of a number an org keeps whatever they are.
const exactDigits = 15

var idName = regexp.MustCompile(`^((?i:g?u?id|.*[_-]id)|.*[a-z0-9](Id|ID))$`)

// isID tells whether a path names an id, by its last member.
func isID(p path.Path) bool {
	steps := p.Segments()
	if len(steps) == 0 {
		return false
	}
	name, _ := steps[len(steps)-1].(string)
	return idName.MatchString(name)
}

// lookup checks a relationship: the field, its parent, and the parent's key.
func (c *checker) lookup(where string, f salesforce.Field, m mapping.TargetField) {
	points := slices.ContainsFunc(f.ReferenceTo, func(to string) bool { return strings.EqualFold(to, m.Parent) })
	switch {
	case f.Type != "reference":
		c.problem(where, "the field is no lookup", "map the value itself, or name a lookup field")
		return
	case !points:
		c.problem(where, "the lookup doesn't point to "+m.Parent, "name the object it points to: "+strings.Join(f.ReferenceTo, ", "))
		return
	case f.RelationshipName != "" && !strings.EqualFold(f.RelationshipName, m.Name):
		c.problem(where, "the relationship is not called "+m.Name, "write "+f.RelationshipName)
	case len(f.ReferenceTo) > 1:
		c.warn(where, "the lookup may point to several objects ("+strings.Join(f.ReferenceTo, ", ")+"), and Salesforce may not find a parent by its key alone",
			"try it in a sandbox, or use a lookup to one object")
	}
	parent := c.object(m.Parent)
	if parent == nil {
		return
	}
	by, ok := c.field(parent, m.By, spelling)
	if !ok {
		return
	}
	at := parent.Name + "." + by.Name
	c.externalID(at, by, idOf{role: "lookup's key", paths: m.Paths})
	if kindOf(by) == kindText && m.As == string(transform.Integer) {
		c.problem(where, "the lookup sends a number, and "+at+" is text", "write as: text, or leave as out")
	}
}
