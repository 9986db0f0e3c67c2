package formula

import (
	"strings"
	"time"
	"unicode/utf16"

	"github.com/shopspring/decimal"
)

// compileText makes TEXT, which is for everything but text and checkboxes.
func compileText(c *call) (*node, error) {
	n := c.args[0]
	switch n.kind {
	case picklist:
		return &node{kind: text, eval: n.eval}, nil
	case number, date, dateTime:
		layout := "2006-01-02"
		if n.kind == dateTime {
			layout = "2006-01-02 15:04:05Z"
		}
		return &node{kind: text, eval: func(r *run) any {
			switch v := n.eval(r).(type) {
			case decimal.Decimal:
				return v.String()
			case time.Time:
				return v.UTC().Format(layout)
			}
			return ""
		}}, nil
	}
	return nil, c.wrong(n, "Number, Date, DateTime, Picklist")
}

func compileValue(c *call) (*node, error) {
	n := c.args[0]
	if n.kind != text {
		return nil, c.wrong(n, "Text")
	}
	return &node{kind: number, eval: func(r *run) any {
		s := strings.TrimSpace(asText(n.eval(r)))
		if s == "" {
			return nil
		}
		d, err := decimal.NewFromString(s)
		if err != nil || len(s) > 40 || strings.ContainsAny(s, "eE") {
			return r.fail("VALUE: the text is no number")
		}
		return d
	}}, nil
}

// length counts UTF-16 units: characters beyond the BMP count as two.
func length(_ *run, a []any) any {
	n := 0
	for _, c := range asText(a[0]) {
		n += utf16.RuneLen(c)
	}
	return decimal.New(int64(n), 0)
}

func upper(_ *run, a []any) any { return strings.ToUpper(asText(a[0])) }
func lower(_ *run, a []any) any { return strings.ToLower(asText(a[0])) }
func trim(_ *run, a []any) any  { return strings.TrimSpace(asText(a[0])) }

func begins(_ *run, a []any) any   { return strings.HasPrefix(asText(a[0]), asText(a[1])) }
func contains(_ *run, a []any) any { return strings.Contains(asText(a[0]), asText(a[1])) }

func left(_ *run, a []any) any {
	units := utf16.Encode([]rune(asText(a[0])))
	return string(utf16.Decode(units[:count(a[1], len(units))]))
}

func right(_ *run, a []any) any {
	units := utf16.Encode([]rune(asText(a[0])))
	return string(utf16.Decode(units[len(units)-count(a[1], len(units)):]))
}

// count reads a number of characters, within 0 and limit.
func count(v any, limit int) int {
	d, _ := v.(decimal.Decimal)
	switch {
	case !d.IsPositive():
		return 0
	case d.Cmp(decimal.New(int64(limit), 0)) >= 0:
		return limit
	}
	return int(d.IntPart())
}

func abs(_ *run, a []any) any {
	d, ok := a[0].(decimal.Decimal)
	if !ok {
		return nil
	}
	return d.Abs()
}

func mod(r *run, a []any) any {
	d, ok1 := a[0].(decimal.Decimal)
	by, ok2 := a[1].(decimal.Decimal)
	switch {
	case !ok1 || !ok2:
		return nil
	case by.IsZero():
		return r.fail("division by zero")
	}
	return d.Mod(by)
}
