package rest

import (
	"bytes"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/shopspring/decimal"

	"sfbridge/salesforce/simorg/org"
	"sfbridge/salesforce/simorg/schema"
)

const hexDigits = "0123456789abcdef"

// appendString writes a JSON string.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	from := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' && c < utf8.RuneSelf {
			continue
		}
		if c >= utf8.RuneSelf {
			continue
		}
		b = append(b, s[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\r':
			b = append(b, '\\', 'r')
		case '\t':
			b = append(b, '\\', 't')
		default:
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return append(append(b, s[from:]...), '"')
}

func appendStrings(b []byte, list []string) []byte {
	b = append(b, '[')
	for i, s := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(b, s)
	}
	return append(b, ']')
}

// form is how records are written for one request.
type form struct {
	version int
	plain   bool // numbers without exponent and needless fraction
}

func (a *API) form(q *request) form { return form{q.version, a.cfg.Unsure.PlainNumbers} }

// value writes a stored value the way the API shows it. Without a field it is
// a count.
func (fm form) value(b []byte, f *schema.Field, v any) []byte {
	switch v := v.(type) {
	case string:
		return appendString(b, v)
	case bool:
		return strconv.AppendBool(b, v)
	case decimal.Decimal:
		if f == nil || fm.plain {
			return append(b, v.String()...)
		}
		return appendDouble(b, v.InexactFloat64())
	case time.Time:
		if f != nil && f.Type == schema.Date {
			return v.AppendFormat(b, `"2006-01-02"`)
		}
		return v.AppendFormat(b, `"2006-01-02T15:04:05.000+0000"`)
	}
	return append(b, "null"...)
}

// appendDouble writes a number as the org's platform prints doubles: always
// with a fraction, from ten million on with an exponent.
func appendDouble(b []byte, f float64) []byte {
	abs := max(f, -f)
	if abs == 0 || abs >= 1e-3 && abs < 1e7 {
		start := len(b)
		b = strconv.AppendFloat(b, f, 'f', -1, 64)
		if bytes.IndexByte(b[start:], '.') < 0 {
			b = append(b, ".0"...)
		}
		return b
	}
	text := strconv.FormatFloat(f, 'E', -1, 64)
	mantissa, exponent, _ := strings.Cut(text, "E")
	if !strings.Contains(mantissa, ".") {
		mantissa += ".0"
	}
	sign := ""
	if exponent[0] == '-' {
		sign = "-"
	}
	b = append(b, mantissa...)
	return append(append(append(b, 'E'), sign...), strings.TrimLeft(exponent, "+-0")...)
}

// attributes writes the attributes every record begins with.
func (fm form) attributes(b []byte, obj *schema.Object, id string) []byte {
	b = append(b, `"attributes":{"type":"`...)
	b = append(b, obj.Name...)
	b = append(b, `","url":"`...)
	b = append(b, rowURL(fm.version, obj, id)...)
	return append(b, `"}`...)
}

// row writes a record with some of its fields.
func (fm form) row(b []byte, row schema.Row, fields []*schema.Field) []byte {
	b = append(b, '{')
	b = fm.attributes(b, fields[0].Object, row.ID())
	for _, f := range fields {
		b = append(b, `,"`...)
		b = append(b, f.Name...)
		b = append(b, `":`...)
		b = fm.value(b, f, row[f.Slot])
	}
	return append(b, '}')
}

// appendRowErrors writes the errors of one row of a collection.
func appendRowErrors(b []byte, errs []org.RowError) []byte {
	b = append(b, '[')
	for i, e := range errs {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"statusCode":"`...)
		b = append(b, e.Code...)
		b = append(b, `","message":`...)
		b = appendString(b, e.Message)
		b = append(b, `,"fields":`...)
		b = appendStrings(b, e.Fields)
		b = append(b, '}')
	}
	return append(b, ']')
}
