package org

import (
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/shopspring/decimal"

	"sfbridge/salesforce/simorg/schema"
)

var emailAddress = regexp.MustCompile(`^[A-Za-z0-9.!#$%&'*+/=?^_{|}~` + "`" + `-]+@[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)+$`)

// store turns a value into what the field keeps, or says why it can't.
func (o *Org) store(f *schema.Field, v any) (any, *RowError) {
	switch v := v.(type) {
	case string:
		if o.cfg.ControlRefused && strings.ContainsFunc(v, control) {
			return nil, refuse("TEXT_DATA_OUTSIDE_SUPPORTED_CHARSET", []string{f.Name}, "%s: text data outside supported charset", f.Label)
		}
		return storeText(f, v)
	case decimal.Decimal:
		return storeNumber(f, v)
	case time.Time:
		return o.storeTime(f, v), nil
	case nil:
		if f.Type == schema.Checkbox {
			return false, nil
		}
	}
	return v, nil
}

func storeText(f *schema.Field, v string) (any, *RowError) {
	if f.Kind() == schema.KindID {
		return storeReference(f, v)
	}
	v = tidy(v)
	if v == "" {
		return nil, nil
	}
	switch f.Type {
	case schema.Picklist:
		return storePicklist(f, v)
	case schema.MultiPicklist:
		return storeMultiPicklist(f, v)
	case schema.Email:
		if !emailAddress.MatchString(v) {
			return nil, refuse("INVALID_EMAIL_ADDRESS", []string{f.Name}, "%s: invalid email address: %s", f.Label, v)
		}
	}
	if f.Length > 0 && len(v) > f.Length && utf16Length(v) > f.Length {
		return nil, refuse("STRING_TOO_LONG", []string{f.Name}, "%s: data value too large: %s (max length=%d)", f.Label, v, f.Length)
	}
	return v, nil
}

// control tells the characters that text fields don't keep.
func control(r rune) bool { return r < ' ' && r != '\t' && r != '\n' || r == 0x7f }

// tidy drops control characters other than tab and line feed, and white space
// at both ends: neither survives storage.
func tidy(v string) string {
	if strings.ContainsFunc(v, control) {
		v = strings.Map(func(r rune) rune {
			if control(r) {
				return -1
			}
			return r
		}, v)
	}
	return strings.Trim(v, " \t\n")
}

// utf16Length counts characters as the org does: those outside the basic
// plane are two.
func utf16Length(v string) int {
	n := utf8.RuneCountInString(v)
	for _, r := range v {
		if r > 0xffff {
			n++
		}
	}
	return n
}

func storePicklist(f *schema.Field, v string) (any, *RowError) {
	if own, ok := f.HasValue(v); ok {
		return own, nil
	}
	if f.Restricted {
		return nil, refuse("INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST", []string{f.Name},
			"%s: bad value for restricted picklist field: %s", f.Label, v)
	}
	if utf16Length(v) > 255 {
		return nil, refuse("STRING_TOO_LONG", []string{f.Name}, "%s: data value too large: %s (max length=255)", f.Label, v)
	}
	return v, nil
}

func storeMultiPicklist(f *schema.Field, v string) (any, *RowError) {
	var values []string
	for _, one := range strings.Split(v, ";") {
		if one = strings.TrimSpace(one); one == "" {
			continue
		}
		own, err := storePicklist(f, one)
		if err != nil {
			return nil, err
		}
		if text, _ := own.(string); !slices.Contains(values, text) {
			values = append(values, text)
		}
	}
	if len(values) == 0 {
		return nil, nil
	}
	return strings.Join(values, ";"), nil
}

func storeReference(f *schema.Field, v string) (any, *RowError) {
	if v == "" {
		return nil, nil
	}
	id, ok := schema.ID18(v)
	if !ok {
		return nil, malformedID(f.Label, v, f.Name)
	}
	return id, nil
}

// storeNumber rounds to the field's scale. Numbers are doubles in the org, so
// digits beyond what a double holds are lost.
func storeNumber(f *schema.Field, v decimal.Decimal) (any, *RowError) {
	v = v.Round(int32(f.Scale))
	if f.Precision > 0 {
		limit := decimal.New(1, int32(f.Precision-f.Scale))
		if v.Abs().GreaterThanOrEqual(limit) {
			return nil, refuse("NUMBER_OUTSIDE_VALID_RANGE", []string{f.Name},
				"%s: value outside of valid range on numeric field: %s", f.Label, v)
		}
	}
	if v.NumDigits() > 15 {
		v = decimal.NewFromFloat(v.InexactFloat64())
	}
	return v, nil
}

func (o *Org) storeTime(f *schema.Field, v time.Time) time.Time {
	switch {
	case f.Type == schema.Date:
		return time.Date(v.Year(), v.Month(), v.Day(), 0, 0, 0, 0, time.UTC)
	case o.cfg.Milliseconds:
		return v.UTC().Truncate(time.Millisecond)
	}
	return v.UTC().Truncate(time.Second)
}
