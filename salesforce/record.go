package salesforce

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"
)

// Record is one row of a query. Numbers are json.Number, with all their digits.
type Record map[string]any

// ID gives the record's Id.
func (r Record) ID() string { return r.String("Id") }

// Type gives the object the record is of.
func (r Record) Type() string {
	attributes, _ := r["attributes"].(map[string]any)
	t, _ := attributes["type"].(string)
	return t
}

// String gives a text field; "" when it is null, absent or no text. Numbers
// give their digits.
func (r Record) String(field string) string {
	switch v := r[field].(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	}
	return ""
}

// Bool gives a checkbox; false when it is null or absent.
func (r Record) Bool(field string) bool {
	b, _ := r[field].(bool)
	return b
}

// Int gives a whole number; ok is false when the field is null, absent, has a
// fraction or is beyond int64. Salesforce may write 1.0 or 1.0E8.
func (r Record) Int(field string) (n int64, ok bool) {
	v, ok := r[field].(json.Number)
	if !ok {
		return 0, false
	}
	return parseInt(v.String())
}

const (
	maxNumberLength = 64
	maxExponent     = 30
)

func parseInt(s string) (int64, bool) {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n, true
	}
	if len(s) > maxNumberLength {
		return 0, false
	}
	d, err := decimal.NewFromString(s)
	if err != nil || d.Exponent() > maxExponent || d.Exponent() < -maxExponent || !d.IsInteger() {
		return 0, false
	}
	n := d.BigInt()
	return n.Int64(), n.IsInt64()
}

// Time gives a date-time or date, in UTC; ok is false when it is null or absent.
func (r Record) Time(field string) (t time.Time, ok bool) {
	s, isText := r[field].(string)
	if !isText {
		return time.Time{}, false
	}
	t, err := ParseTime(s)
	return t, err == nil
}

// Sub gives the related record of a relationship field; nil when it is null or
// absent.
func (r Record) Sub(relationship string) Record {
	m, _ := r[relationship].(map[string]any)
	return m
}

// Has reports whether a field is present and not null.
func (r Record) Has(field string) bool { return r[field] != nil }

// ParseTime reads a date-time as Salesforce writes it
// (2026-11-30T08:09:10.000+0000), RFC 3339, or a date.
func ParseTime(s string) (time.Time, error) {
	layout := "2006-01-02"
	if strings.Contains(s, "T") {
		layout = "2006-01-02T15:04:05Z0700"
		if n := len(s); n > 6 && s[n-3] == ':' && (s[n-6] == '+' || s[n-6] == '-') {
			layout = time.RFC3339
		}
	}
	t, err := time.Parse(layout, s)
	if err != nil {
		return time.Time{}, fmt.Errorf("no date-time as Salesforce writes it")
	}
	return t.UTC(), nil
}
