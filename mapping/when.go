package mapping

import (
	"encoding/json"
	"strconv"
	"strings"

	"sfbridge/mapping/path"
)

// condition is one line of when: one of the alternatives must fit.
type condition struct {
	key  string // "type", or the path in its one spelling
	path path.Path
	any  []alternative
}

// alternative is a glob for text or a typed value.
type alternative struct {
	glob  glob
	text  bool
	value any // json.Number, bool or nil when text is false
}

// fits judges the event. A missing value never fits.
func (c condition) fits(in Input) bool {
	var value any = in.Type
	if c.key != typeKey {
		var present bool
		if value, present = c.path.Get(in.Scope); !present {
			return false
		}
	}
	for _, a := range c.any {
		if a.fits(value) {
			return true
		}
	}
	return false
}

const typeKey = "type"

func (a alternative) fits(value any) bool {
	if a.text {
		text, is := value.(string)
		return is && a.glob.Match(text)
	}
	return sameLiteral(a.value, value)
}

// sameLiteral compares by type and value; numbers by value, so 1.0 is 1.
func sameLiteral(want, got any) bool {
	switch w := want.(type) {
	case nil:
		return got == nil
	case bool:
		g, is := got.(bool)
		return is && g == w
	case json.Number:
		g, is := got.(json.Number)
		return is && number(w) == number(g)
	default:
		return false
	}
}

// exact is a decimal as digits without zeros at either end, times a power of
// ten. It compares numbers of any size without computing with them.
type exact struct {
	negative bool
	digits   string
	exponent string // of the last digit; text, for exponents beyond any integer
}

// number reads a JSON number.
func number(n json.Number) exact {
	text := string(n)
	e := exact{}
	text, e.negative = strings.CutPrefix(text, "-")
	mantissa, exponent := text, "0"
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		mantissa, exponent = text[:i], strings.TrimPrefix(text[i+1:], "+")
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return exact{}
	}
	e.digits = strings.TrimRight(digits, "0")
	power, err := strconv.ParseInt(exponent, 10, 62)
	if err != nil {
		e.digits, e.exponent = digits+"/"+strconv.Itoa(len(fraction)), exponent
		return e
	}
	power += int64(len(digits)-len(e.digits)) - int64(len(fraction))
	e.exponent = strconv.FormatInt(power, 10)
	return e
}

// coveredBy tells whether every event that fits c fits other too.
func (c condition) coveredBy(other condition) bool {
	for _, a := range c.any {
		covered := false
		for _, o := range other.any {
			covered = covered || o.covers(a)
		}
		if !covered {
			return false
		}
	}
	return true
}

func (a alternative) covers(other alternative) bool {
	if a.text != other.text {
		return false
	}
	if a.text {
		return a.glob.covers(other.glob)
	}
	return sameLiteral(a.value, other.value)
}

// meets tells whether some value fits both conditions.
func (c condition) meets(other condition) bool {
	for _, a := range c.any {
		for _, o := range other.any {
			if a.text && o.text && a.glob.meets(o.glob) || !a.text && !o.text && sameLiteral(a.value, o.value) {
				return true
			}
		}
	}
	return false
}

// when is all the conditions of a route.
type when []condition

func (w when) fits(in Input) bool {
	for _, c := range w {
		if !c.fits(in) {
			return false
		}
	}
	return true
}

// takesType tells whether some event of this type may fit.
func (w when) takesType(kind string) bool {
	c, found := w.on(typeKey)
	return !found || c.fits(Input{Type: kind})
}

func (w when) on(key string) (condition, bool) {
	for _, c := range w {
		if c.key == key {
			return c, true
		}
	}
	return condition{}, false
}

// covers tells whether every event that fits other fits w: each condition of w
// is asked for by other at least as narrowly.
func (w when) covers(other when) bool {
	for _, c := range w {
		narrow, found := other.on(c.key)
		if !found || !narrow.coveredBy(c) {
			return false
		}
	}
	return true
}

// meets tells whether some event may fit both.
func (w when) meets(other when) bool {
	for _, c := range w {
		if o, found := other.on(c.key); found && !c.meets(o) {
			return false
		}
	}
	return true
}
