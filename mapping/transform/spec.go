package transform

import (
	"time"

	"sfbridge/mapping/path"
)

// As names the kind of value that a field gets.
type As string

// The kinds of values.
const (
	AsIs          As = ""              // text, number or boolean as it is
	Text          As = "text"          // text; numbers as written
	Number        As = "number"        // the exact decimal
	Integer       As = "integer"       // the same without a fraction
	Boolean       As = "boolean"       // true or false; null and "" are false
	Datetime      As = "datetime"      // UTC, 2026-01-05T04:30:30.123Z
	Date          As = "date"          // 2026-01-05
	MinorUnits    As = "minor_units"   // cents as a decimal of the currency
	MultiPicklist As = "multipicklist" // a;b
	JSON          As = "json"          // compact JSON text
)

// Literal is a value that a mapping file may give: nil, string, bool or
// json.Number. The zero Literal is none at all.
type Literal struct {
	Value any
	Set   bool
}

// Lit is the literal v.
func Lit(v any) Literal { return Literal{Value: v, Set: true} }

// Spec is how a field's value is treated, as a mapping file says it. The zero
// Spec passes text, numbers and booleans on.
type Spec struct {
	Trim, Lower, Upper bool

	Map       map[string]any // by text form; nil means no map
	Otherwise Literal        // for values that Map doesn't have

	As         As
	Format     string     // of Datetime and Date: rfc3339 (default), unix_s, unix_ms or a layout
	Timezone   string     // of Datetime and Date: an IANA name
	Currency   string     // of MinorUnits: a path, or a fixed code such as EUR
	Currencies Currencies // digits that differ from ISO 4217
	KeepEmpty  bool       // with Text: "" stays ""

	Max      int // in UTF-16 units; 0 is no limit
	Required bool

	Default     Literal
	DefaultNull bool // Default stands in for null too
}

// Problem is a mistake in a Spec: Key is the key it stands under, Fix says what
// to write instead. Known are the words that would do, for a word that won't.
type Problem struct {
	Key   string
	What  string
	Fix   string
	Known []string
}

// Problems is every mistake of a Spec.
type Problems []Problem

// Transform is a compiled Spec, safe for concurrent use.
type Transform struct {
	spec     Spec
	currency path.Path // when Spec.Currency is one
	format   timeFormat
	zone     *time.Location // nil without Spec.Timezone
}

// Paths returns the paths that the transform itself reads: the currency's.
func (t *Transform) Paths() []path.Path {
	if t.currency.IsZero() {
		return nil
	}
	return []path.Path{t.currency}
}
