package verify

import (
	"strconv"
	"strings"
	"time"
)

// Milliseconds and seconds since 1970 can't be mistaken for each other: before
// this value is 1973 in milliseconds, after it is the year 5138 in seconds.
const unitBorder = 100_000_000_000

// tsUnits read the text of a timestamp; pure digits, no sign, no fraction.
var tsUnits = map[string]func(text string) (time.Time, bool){
	"s": func(text string) (time.Time, bool) {
		n, ok := digits(text)
		return time.Unix(n, 0), ok && n < unitBorder
	},
	"ms": func(text string) (time.Time, bool) {
		n, ok := digits(text)
		return time.UnixMilli(n), ok && n >= unitBorder
	},
	"rfc3339": func(text string) (time.Time, bool) {
		t, err := time.Parse(time.RFC3339, text)
		return t, err == nil
	},
}

func digits(text string) (int64, bool) {
	if text == "" || len(text) > 15 || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil
}

// timestampText finds the text of the timestamp, as it was signed.
func (c *check) timestampText(r *request) (string, Reason) {
	ts := c.rule.TS
	if ts.JSON != "" {
		return r.member(ts.JSON)
	}
	value, present, reason := Single(r.Header, ts.Header)
	switch {
	case reason != OK:
		return "", reason
	case !present:
		return "", MissingHeader
	case ts.Split == "":
		return value, OK
	case ts.Index != nil:
		return elementAt(value, ts.Split, *ts.Index)
	}
	return elementWithPrefix(value, ts.Split, ts.Prefix)
}

func elementAt(value, split string, index int) (string, Reason) {
	for ; index > 0; index-- {
		_, rest, ok := strings.Cut(value, split)
		if !ok {
			return "", MalformedHeader
		}
		value = rest
	}
	element, _, _ := strings.Cut(value, split)
	return element, OK
}

// elementWithPrefix finds the one element that begins with prefix; two that
// differ are ambiguous.
func elementWithPrefix(value, split, prefix string) (string, Reason) {
	found, text := false, ""
	for more := true; more; {
		var element string
		element, value, more = strings.Cut(value, split)
		rest, ok := strings.CutPrefix(element, prefix)
		if !ok {
			continue
		}
		if found && rest != text {
			return "", RepeatedHeader
		}
		found, text = true, rest
	}
	if !found {
		return "", MalformedHeader
	}
	return text, OK
}

// Age judges a signed time against now, in both directions.
func Age(signed, now time.Time, window time.Duration) Reason {
	switch age := now.Sub(signed); {
	case age > window:
		return TooOld
	case -age > window:
		return TooNew
	}
	return OK
}
