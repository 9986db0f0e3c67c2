package transform

import (
	"fmt"
	"strings"
)

// The formats that aren't layouts.
const (
	formatRFC3339 = "rfc3339"
	formatUnixS   = "unix_s"
	formatUnixMS  = "unix_ms"
)

// timeFormat is a compiled format of Datetime and Date.
type timeFormat struct {
	name   string // one of the formats above, "" for a layout
	layout []element
}

func (f timeFormat) epoch() bool { return f.name == formatUnixS || f.name == formatUnixMS }

// element is one element of a layout, or a literal.
type element string

const (
	elementYear     element = "2006"
	elementMonth    element = "01"
	elementDay      element = "02"
	elementHour     element = "15"
	elementMinute   element = "04"
	elementSecond   element = "05"
	elementFraction element = ".000"
	elementZone     element = "Z07:00"
	elementName     element = "Jan"
)

func elements() []element {
	return []element{elementYear, elementMonth, elementDay, elementHour, elementMinute, elementSecond, elementFraction, elementZone, elementName}
}

const monthNames = "janfebmaraprmayjunjulaugsepoctnovdec"

func parseFormat(text string) (timeFormat, error) {
	switch text {
	case "", formatRFC3339:
		return timeFormat{name: formatRFC3339}, nil
	case formatUnixS, formatUnixMS:
		return timeFormat{name: text}, nil
	}
	layout, err := parseLayout(text)
	return timeFormat{layout: layout}, err
}

func parseLayout(text string) ([]element, error) {
	var layout []element
	seen := map[element]bool{}
	for rest := text; rest != ""; {
		e, err := nextElement(rest)
		if err != nil {
			return nil, err
		}
		if len(e) > 1 && seen[e] {
			return nil, fmt.Errorf("%q names %s twice", text, e)
		}
		seen[e] = true
		layout = append(layout, e)
		rest = rest[len(e):]
	}
	switch {
	case seen[elementMonth] && seen[elementName]:
		return nil, fmt.Errorf("%q names the month twice", text)
	case !seen[elementYear] || !seen[elementDay] || !seen[elementMonth] && !seen[elementName]:
		return nil, fmt.Errorf("%q has no whole date, which is 2006, 01 or Jan, and 02", text)
	case seen[elementFraction] && !seen[elementSecond], seen[elementSecond] && !seen[elementMinute], seen[elementMinute] && !seen[elementHour]:
		return nil, fmt.Errorf("%q has a part of the time without the larger one before it", text)
	case seen[elementZone] && !seen[elementHour]:
		return nil, fmt.Errorf("%q has a zone without a time", text)
	}
	return layout, nil
}

// nextElement returns the element that a layout begins with, or one byte of
// literal text. Digits and words that only look like elements are refused.
func nextElement(rest string) (element, error) {
	for _, e := range elements() {
		if strings.HasPrefix(rest, string(e)) {
			return e, nil
		}
	}
	word := len(rest) - len(strings.TrimLeftFunc(rest, isLetterOrDigit))
	switch {
	case word == 0, rest[:word] == "T":
		return element(rest[:1]), nil
	case strings.HasPrefix(rest, "T"): // T directly before an element
		if _, err := nextElement(rest[1:]); err == nil {
			return "T", nil
		}
	}
	return "", fmt.Errorf("%q isn't known in a layout; known are 2006 01 02 15 04 05 .000 Z07:00 Jan", rest[:word])
}

func isLetterOrDigit(r rune) bool {
	return '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
}

// parse reads text by the layout.
func (f timeFormat) parse(text string) (st stamp, ok bool) {
	s := scanner{rest: text}
	for _, e := range f.layout {
		if !s.element(e, &st) {
			return st, false
		}
	}
	return st, s.rest == ""
}

func (s *scanner) element(e element, st *stamp) (ok bool) {
	switch e {
	case elementYear:
		st.year, ok = s.digits(4)
	case elementMonth:
		st.month, ok = s.digits(2)
	case elementDay:
		st.day, ok = s.digits(2)
	case elementHour:
		st.hasTime = true
		st.hour, ok = s.digits(2)
	case elementMinute:
		st.minute, ok = s.digits(2)
	case elementSecond:
		st.second, ok = s.digits(2)
	case elementFraction:
		if s.byte(".") {
			st.milli, ok = s.millis()
		}
	case elementZone:
		st.offset, ok = s.offset()
		st.hasZone = true
	case elementName:
		st.month, ok = s.monthName()
	default:
		ok = s.byte(string(e))
	}
	return ok
}

func (s *scanner) monthName() (month int, ok bool) {
	if len(s.rest) < 3 {
		return 0, false
	}
	i := strings.Index(monthNames, strings.ToLower(s.rest[:3]))
	if i < 0 || i%3 != 0 {
		return 0, false
	}
	s.rest = s.rest[3:]
	return i/3 + 1, true
}
