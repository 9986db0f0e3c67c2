package preflight

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"

	"sfbridge/mapping"
	"sfbridge/mapping/transform"
	"sfbridge/salesforce"
)

// values checks the fixed values that the mapping can give a field.
func (c *checker) values(where string, f salesforce.Field, m mapping.TargetField) {
	for _, v := range m.Values {
		c.value(where, f, v)
	}
	if m.Open && kindOf(f) == kindList && f.RestrictedPicklist && (m.As == "" || m.As == string(transform.Text)) {
		c.warn(where, "the list is restricted, and a value of the provider that it doesn't have ends in review", "add map: with a pair for every value")
	}
}

func (c *checker) value(where string, f salesforce.Field, v any) {
	k := kindOf(f)
	switch v := v.(type) {
	case string:
		c.text(where, f, v)
	case json.Number:
		if k != kindNumber && k != kindWhole && k != kindOther {
			c.problem(where, fmt.Sprintf("the mapping gives the number %s, and the field is a %s", v, k), "quote it, or correct it")
		}
	case bool:
		if k != kindBoolean && k != kindOther {
			c.problem(where, fmt.Sprintf("the mapping gives %t, and the field is a %s", v, k), "quote it, or correct it")
		}
	}
}

func (c *checker) text(where string, f salesforce.Field, v string) {
	switch kindOf(f) {
	case kindList:
		c.listed(where, f, v)
	case kindLists:
		for member := range strings.SplitSeq(v, ";") {
			c.listed(where, f, member)
		}
	case kindText:
		if n := units(v); f.Length > 0 && n > f.Length {
			c.problem(where, fmt.Sprintf("the mapping gives %q of %d characters, and the field takes %d", v, n, f.Length), "shorten it, or lengthen the field")
		}
	case kindBoolean, kindNumber, kindWhole:
		c.problem(where, fmt.Sprintf("the mapping gives the text %q, and the field is a %s", v, kindOf(f)), "write the value without quotes, or correct it")
	}
}

// listed looks a value up in a picklist.
func (c *checker) listed(where string, f salesforce.Field, v string) {
	if v == "" || f.Allows(v) {
		return
	}
	what := fmt.Sprintf("the list has no active value %q", v)
	for _, p := range f.PicklistValues {
		if p.Active && strings.EqualFold(p.Value, v) {
			c.warn(where, what, fmt.Sprintf("write it as the list does: %q", p.Value))
			return
		}
	}
	if !f.RestrictedPicklist {
		c.warn(where, what+"; it is not restricted and takes it all the same", "add it to the list, or correct the mapping")
		return
	}
	c.problem(where, what, "add it to the list, or give one of "+shownValues(f))
}

// shownValues lists the active values of a picklist for people.
func shownValues(f salesforce.Field) string {
	const most = 12
	var names []string
	for _, p := range f.PicklistValues {
		if p.Active {
			names = append(names, strconv.Quote(p.Value))
		}
	}
	if len(names) > most {
		names = append(names[:most], fmt.Sprintf("… (%d in all)", len(names)))
	}
	return strings.Join(names, ", ")
}

// states looks the names of states up in the picklist that holds them.
func (c *checker) states(o *salesforce.Object, t mapping.Target) {
	if t.Machine == nil {
		return
	}
	f, ok := o.Field(t.State)
	if !ok || kindOf(f) != kindList {
		return // a field that is absent is reported among the fields
	}
	for _, state := range t.Machine.Ranks() {
		c.listed(o.Name+"."+f.Name, f, state)
	}
}

// length compares max with the field's length.
func (c *checker) length(where string, f salesforce.Field, m mapping.TargetField) {
	if kindOf(f) == kindText && f.Length > 0 && m.Max > f.Length {
		c.problem(where, fmt.Sprintf("max: %d is more than the %d characters of the field", m.Max, f.Length), fmt.Sprintf("write max: %d, or lengthen the field", f.Length))
	}
}

// maxShort is the length up to which a text field is worth a word about max.
const maxShort = 255

// uncut names the short text fields that get text of any length.
func (c *checker) uncut(o *salesforce.Object, t mapping.Target) {
	var names []string
	for _, m := range t.Fields {
		f, ok := o.Field(m.Column)
		as := transform.As(m.As)
		long := as == transform.AsIs || as == transform.Text || as == transform.JSON
		if ok && m.Open && m.Max == 0 && long && (f.Type == "string" || f.Type == "textarea") && 0 < f.Length && f.Length <= maxShort {
			names = append(names, fmt.Sprintf("%s (%d)", f.Name, f.Length))
		}
	}
	if len(names) > 0 {
		c.warn(o.Name, "text that is longer than the field sends its event to review: "+strings.Join(names, ", "), "add max: to cut it, where cutting does no harm")
	}
}

// units counts UTF-16 units, the most that any reading of a length allows.
func units(s string) int { return len(utf16.Encode([]rune(s))) }
