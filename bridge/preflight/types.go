package preflight

import (
	"slices"

	"sfbridge/mapping"
	"sfbridge/mapping/transform"
	"sfbridge/salesforce"
)

// kind is how the values of a field look in JSON, and what checks them.
type kind string

const (
	kindText      kind = "text"
	kindList      kind = "picklist"
	kindLists     kind = "multi-select picklist"
	kindBoolean   kind = "checkbox"
	kindNumber    kind = "number"
	kindWhole     kind = "whole number"
	kindDate      kind = "date"
	kindDatetime  kind = "date/time"
	kindTime      kind = "time"
	kindReference kind = "record id"
	kindOther     kind = "" // nothing is known about its values
)

// kindOf reads the types of a describe.
func kindOf(f salesforce.Field) kind {
	switch f.Type {
	case "string", "textarea", "email", "phone", "url", "encryptedstring", "combobox":
		return kindText
	case "picklist":
		return kindList
	case "multipicklist":
		return kindLists
	case "boolean":
		return kindBoolean
	case "double", "currency", "percent":
		return kindNumber
	case "int", "long":
		return kindWhole
	case "date":
		return kindDate
	case "datetime":
		return kindDatetime
	case "time":
		return kindTime
	case "reference", "id":
		return kindReference
	}
	return kindOther
}

// accepts says which conversions fit a kind of field, the advised one first.
// "" among them means that values may be sent as they come.
func (k kind) accepts() []transform.As {
	switch k {
	case kindText:
		return []transform.As{transform.Text, transform.AsIs, transform.JSON, transform.Date, transform.Datetime, transform.MultiPicklist}
	case kindList, kindTime, kindReference:
		return []transform.As{transform.Text, transform.AsIs}
	case kindLists:
		return []transform.As{transform.MultiPicklist, transform.Text, transform.AsIs}
	case kindBoolean:
		return []transform.As{transform.Boolean}
	case kindNumber:
		return []transform.As{transform.Number, transform.Integer, transform.MinorUnits}
	case kindWhole:
		return []transform.As{transform.Integer}
	case kindDate:
		return []transform.As{transform.Date}
	case kindDatetime:
		return []transform.As{transform.Datetime}
	}
	return nil
}

// types compares as with the field's type.
func (c *checker) types(where string, f salesforce.Field, m mapping.TargetField) {
	k, as := kindOf(f), transform.As(m.As)
	if k == kindOther {
		return
	}
	good := k.accepts()
	switch {
	case (k == kindNumber || k == kindWhole) && m.Open && slices.ContainsFunc(m.Paths, isID):
		c.problem(where, "an id goes into a number: the org keeps 15 digits of it, and a 64-bit id has up to 19", "use a Text field and as: text")
	case slices.Contains(good, as):
	case as == transform.AsIs && !m.Open: // fixed values are judged one by one
	case as == transform.AsIs:
		c.warn(where, "values are sent as they come, and a "+string(k)+" field refuses the whole call for one that doesn't fit", "write as: "+string(good[0]))
	case k == kindWhole && as == transform.Number:
		c.warn(where, "the field keeps whole numbers, and as: number may send a fraction", "write as: integer")
	default:
		c.problem(where, "as: "+m.As+" doesn't fit a "+string(k)+" field", "write as: "+string(good[0])+", or map another field")
	}
}
