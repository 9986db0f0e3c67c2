package identify

import (
	"errors"
	"math/big"
	"strconv"
	"strings"

	"sfbridge/bridge/event"
	"sfbridge/mapping/path"
	"sfbridge/mapping/transform"
)

var (
	errNoNumber   = errors.New("is no number")
	errNoTime     = errors.New("is no date and time with an offset, such as 2026-01-05T04:30:30Z")
	errFraction   = errors.New("has a fraction")
	errOutOfRange = errors.New("is beyond 2^53, so Salesforce can't hold it exactly")
)

// maxNumber bounds the text of an order value; longer ones are out of range.
const maxNumber = 64

// parseOrder reads an order value as milliseconds since 1970 or a version.
func parseOrder(v any, as Unit) (int64, error) {
	text, ok := path.Text(v)
	if !ok {
		return 0, errors.New("is " + path.Kind(v))
	}
	switch as {
	case RFC3339:
		return parseTime(text)
	case UTCTime:
		if n, err := parseTime(text); err == nil {
			return n, nil
		}
		text = strings.TrimSuffix(text, " UTC")
		return parseTime(strings.Replace(text, " ", "T", 1) + "Z")
	}
	number, err := parseNumber(text)
	if err != nil {
		return 0, err
	}
	if as == UnixSeconds {
		number.Mul(number, big.NewRat(1000, 1))
	}
	if as == Integer && !number.IsInt() {
		return 0, errFraction
	}
	whole := new(big.Int).Quo(number.Num(), number.Denom()) // finer than a millisecond is cut
	if !whole.IsInt64() || !event.OrderInRange(whole.Int64()) {
		return 0, errOutOfRange
	}
	return whole.Int64(), nil
}

func parseTime(text string) (int64, error) {
	t, err := transform.Instant(text, string(RFC3339))
	if err != nil {
		return 0, errNoTime
	}
	return t.UnixMilli(), nil
}

// parseNumber reads a JSON number, or the same as text, exactly. Exponents are
// bounded before anything is computed with them.
func parseNumber(text string) (*big.Rat, error) {
	if !path.IsNumber(text) {
		return nil, errNoNumber
	}
	if len(text) > maxNumber {
		return nil, errOutOfRange
	}
	if e := strings.IndexAny(text, "eE"); e >= 0 {
		exponent, err := strconv.Atoi(text[e+1:])
		if err != nil || exponent > maxNumber || exponent < -maxNumber {
			return nil, errOutOfRange
		}
	}
	number, ok := new(big.Rat).SetString(text)
	if !ok {
		return nil, errNoNumber
	}
	return number, nil
}

// placed is where an event stands among those of its object.
type placed struct {
	order  *int64
	isTime bool
}

// place finds the order value. Alternatives are tried in turn; a value that
// none of them can read is an error that names its path.
func place(orders []Order, scope path.Scope) (placed, error) {
	var first error
	for _, o := range orders {
		p, v, ok := firstPresent(o.Paths, scope)
		if !ok {
			continue
		}
		n, err := parseOrder(v, o.As)
		if err == nil {
			return placed{order: &n, isTime: o.As.IsTime()}, nil
		}
		if first == nil {
			first = &path.ValueError{Path: p.String(), Reason: err.Error()}
		}
	}
	return placed{}, first
}

func firstPresent(paths []path.Path, scope path.Scope) (path.Path, any, bool) {
	for _, p := range paths {
		if v, ok := p.Get(scope); ok && v != nil {
			return p, v, true
		}
	}
	return path.Path{}, nil, false
}
