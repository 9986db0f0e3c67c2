package soql

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Cond is a condition of a WHERE clause. The zero Cond always holds.
type Cond struct {
	text     string
	compound bool // holds an AND or OR outside of parentheses
	err      error
}

// Date is a date without a time, written as it is: 2026-11-30.
type Date string

// Eq is field = value. Values: string, bool, integers, json.Number, time.Time,
// Date, nil (= null).
func Eq(field string, value any) Cond { return compare(field, "=", value) }

// NotEq is field != value.
func NotEq(field string, value any) Cond { return compare(field, "!=", value) }

// Less is field < value.
func Less(field string, value any) Cond { return compare(field, "<", value) }

// AtMost is field <= value.
func AtMost(field string, value any) Cond { return compare(field, "<=", value) }

// Greater is field > value.
func Greater(field string, value any) Cond { return compare(field, ">", value) }

// AtLeast is field >= value.
func AtLeast(field string, value any) Cond { return compare(field, ">=", value) }

// Null is field = null.
func Null(field string) Cond { return compare(field, "=", nil) }

// NotNull is field != null.
func NotNull(field string) Cond { return compare(field, "!=", nil) }

// Prefix is field LIKE 'prefix%', with the prefix taken literally.
func Prefix(field, prefix string) Cond {
	return named(field, field+" LIKE '"+likeEscaper.Replace(prefix)+"%'", checkText(prefix))
}

// In is field IN (values). An empty list never holds, and Salesforce refuses it:
// it is an error here.
func In(field string, values []string) Cond { return list(field, "IN", values) }

// NotIn is field NOT IN (values).
func NotIn(field string, values []string) Cond { return list(field, "NOT IN", values) }

// Not negates a condition.
func Not(c Cond) Cond {
	if c.text == "" && c.err == nil {
		c.err = errors.New("the negation of an empty condition")
	}
	return Cond{text: "(NOT " + c.group() + ")", err: c.err}
}

// And holds when all conditions hold; empty ones are left out.
func And(conds ...Cond) Cond { return join(" AND ", conds) }

// Or holds when one of the conditions holds; empty ones are left out.
func Or(conds ...Cond) Cond { return join(" OR ", conds) }

func (c Cond) group() string {
	if strings.HasPrefix(c.text, "(") && !c.compound {
		return c.text
	}
	return "(" + c.text + ")"
}

func join(operator string, conds []Cond) Cond {
	var parts []Cond
	var errs []error
	for _, c := range conds {
		errs = append(errs, c.err)
		if c.text != "" {
			parts = append(parts, c)
		}
	}
	out := Cond{err: errors.Join(errs...)}
	if len(parts) == 1 {
		out.text, out.compound = parts[0].text, parts[0].compound
		return out
	}
	texts := make([]string, len(parts))
	for i, p := range parts {
		texts[i] = p.text
		if p.compound {
			texts[i] = p.group()
		}
	}
	out.text, out.compound = strings.Join(texts, operator), len(parts) > 1
	return out
}

func compare(field, operator string, value any) Cond {
	literal, err := Literal(value)
	return named(field, field+" "+operator+" "+literal, err)
}

func list(field, operator string, values []string) Cond {
	if len(values) == 0 {
		return Cond{err: fmt.Errorf("%s: an empty list", field)}
	}
	var b strings.Builder
	b.WriteString(field + " " + operator + " (")
	var errs []error
	for i, v := range values {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(Quote(v))
		errs = append(errs, checkText(v))
	}
	b.WriteByte(')')
	return named(field, b.String(), errors.Join(errs...))
}

func named(field, text string, err error) Cond {
	if !namePattern.MatchString(field) {
		err = errors.Join(err, fmt.Errorf("%q is no field name", field))
	}
	return Cond{text: text, err: err}
}

var (
	quoteEscaper = strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "\b", `\b`, "\f", `\f`)
	likeEscaper  = strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "\b", `\b`, "\f", `\f`,
		`%`, `\%`, `_`, `\_`)
)

// Quote writes a text literal.
func Quote(s string) string { return "'" + quoteEscaper.Replace(s) + "'" }

// Literal writes a value by its type.
func Literal(value any) (string, error) {
	switch v := value.(type) {
	case nil:
		return "null", nil
	case string:
		return Quote(v), checkText(v)
	case bool:
		return strconv.FormatBool(v), nil
	case int:
		return strconv.Itoa(v), nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	case json.Number:
		return number(v)
	case time.Time:
		if year := v.UTC().Year(); year < 1000 || year > 9999 {
			return "", fmt.Errorf("year %d can't be written in a query", year)
		}
		return v.UTC().Format("2006-01-02T15:04:05.000Z"), nil
	case Date:
		if _, err := time.Parse(time.DateOnly, string(v)); err != nil {
			return "", errors.New("no date")
		}
		return string(v), nil
	}
	return "", fmt.Errorf("a value of type %T can't be written in a query", value)
}

// number writes out what Salesforce takes as a number: no exponent.
func number(n json.Number) (string, error) {
	s := strings.TrimPrefix(n.String(), "-")
	whole, fraction, dotted := strings.Cut(s, ".")
	if !digits(whole) || dotted && !digits(fraction) {
		return "", errors.New("no number as a query takes it")
	}
	return n.String(), nil
}

func digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

func checkText(s string) error {
	if !utf8.ValidString(s) {
		return errors.New("a text value is no UTF-8")
	}
	if strings.ContainsRune(s, 0) {
		return errors.New("a text value holds a NUL")
	}
	return nil
}

// Chunks cuts values into lists whose literals take at most budget bytes in an
// address (percent-encoded, with quotes and commas) and at most most values. One
// value that is longer alone gets a list of its own.
func Chunks(values []string, budget, most int) [][]string {
	var out [][]string
	start, used := 0, 0
	for i, v := range values {
		size := EncodedSize(v)
		if i > start && (used+size > budget || i-start >= most) {
			out = append(out, values[start:i])
			start, used = i, 0
		}
		used += size
	}
	if start < len(values) {
		out = append(out, values[start:])
	}
	return out
}

// EncodedSize is the length of a value's literal and a comma in an address.
func EncodedSize(v string) int {
	size := len("%27%27%2C")
	for _, c := range []byte(quoteEscaper.Replace(v)) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9',
			c == '-', c == '_', c == '.', c == '~', c == ' ':
			size++
		default:
			size += 3
		}
	}
	return size
}
