package propose

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sfbridge/salesforce"
)

// worthCutting is the length from which text may be cut; shorter fields hold
// codes and numbers, which mean something else when cut.
const worthCutting = 40

// rule writes the field for its type.
func (d *drafter) rule(ctx context.Context, f salesforce.Field, l leaf) (line, bool, error) {
	s := guess(l, d.leaves)
	from := scalar(l.at.String())
	field := line{name: f.Name, decide: s.decide}
	switch f.Type {
	case "string", "textarea", "email", "phone", "url":
		parts := []string{"from: " + from}
		if s.kind != kindText || len(s.spec) > 0 {
			parts, field.decide = append(parts, "as: text"), ""
		}
		if f.Length >= worthCutting && !f.ExternalID && (f.Type == "string" || f.Type == "textarea") {
			parts = append(parts, "max: "+strconv.Itoa(f.Length))
		}
		field.value = from
		if len(parts) > 1 {
			field.value = "{" + strings.Join(parts, ", ") + "}"
		}
	case "picklist":
		return d.picklist(f, l), true, nil
	case "reference":
		return d.reference(ctx, f, l)
	case "int", "long":
		field.value = "{from: " + from + ", as: integer}"
	case "date":
		field.value = "{from: " + from + ", " + strings.Replace(strings.Join(s.spec, ", "), "as: datetime", "as: date", 1) + "}"
	case "multipicklist":
		field.value = "{from: " + from + ", as: multipicklist}"
	default:
		field.value = "{from: " + from + ", " + strings.Join(s.spec, ", ") + "}"
	}
	return field, true, nil
}

// picklist maps the values that were seen to those of the list that read alike.
func (d *drafter) picklist(f salesforce.Field, l leaf) line {
	var pairs, unknown []string
	seen := map[string]bool{}
	for _, v := range l.values {
		value := text(v)
		if value == "" || seen[value] {
			continue
		}
		seen[value] = true
		i := slices.IndexFunc(f.PicklistValues, func(p salesforce.PicklistValue) bool {
			return p.Active && (plain(p.Value) == plain(value) || plain(p.Label) == plain(value))
		})
		if i < 0 {
			unknown = append(unknown, value)
			continue
		}
		pairs = append(pairs, scalar(value)+": "+scalar(f.PicklistValues[i].Value))
	}
	field := line{name: f.Name, value: scalar(l.at.String()), decide: "a pair for every value of the provider; the list has " + listed(f)}
	if len(unknown) > 0 {
		field.decide = "what becomes of " + strings.Join(unknown, ", ") + "? The list has " + listed(f)
	}
	if len(pairs) > 0 {
		slices.Sort(pairs)
		field.value = "{from: " + field.value + ", map: {" + strings.Join(pairs, ", ") + "}}"
	}
	return field
}

func listed(f salesforce.Field) string {
	var names []string
	for _, p := range f.PicklistValues {
		if p.Active {
			names = append(names, p.Value)
		}
	}
	return strings.Join(names, ", ")
}

// reference looks for the parent's external ID.
func (d *drafter) reference(ctx context.Context, f salesforce.Field, l leaf) (line, bool, error) {
	if len(f.ReferenceTo) != 1 || f.RelationshipName == "" {
		d.unfilled(f)
		return line{}, false, nil
	}
	parent, err := d.cfg.Org.Describe(ctx, f.ReferenceTo[0])
	if salesforce.Hidden(err) {
		d.unfilled(f)
		return line{}, false, nil
	}
	if err != nil {
		return line{}, false, fmt.Errorf("describing %s: %w", f.ReferenceTo[0], err)
	}
	ids := externalIDs(parent)
	if len(ids) == 0 {
		d.open = append(d.open, f.RelationshipName+":   # decide: "+parent.Name+" has no unique external ID that a lookup could use")
		return line{}, false, nil
	}
	return line{
		name:   f.RelationshipName,
		value:  "{lookup: " + parent.Name + ", by: " + d.preferred(ids) + ", from: " + scalar(l.at.String()) + "}",
		decide: "events wait until this parent exists",
	}, true, nil
}
