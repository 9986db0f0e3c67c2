package apply

import (
	"slices"
	"strings"

	"sfbridge/mapping"
)

// namesField says whether a record of this kind reads or writes the field.
func namesField(t mapping.Target, field string) bool {
	is := func(name string) bool { return name != "" && strings.EqualFold(name, field) }
	if is(t.KeyField) || is(t.State) {
		return true
	}
	if o := t.Order; o != nil && (is(o.Field) || is(o.Event) || is(o.Prior)) {
		return true
	}
	return slices.ContainsFunc(t.Fields, func(f mapping.TargetField) bool {
		return is(f.Name) || is(f.Column) || is(f.By)
	})
}
