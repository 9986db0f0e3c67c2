package transform

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"sfbridge/mapping/path"
)

const (
	reasonImpossible = "isn't a possible date and time"
	reasonYears      = "lies outside the years 1 to 9999"
)

// datetime gives the instant in UTC, cut to milliseconds.
func (t *Transform) datetime(v any) (any, *Error) {
	at, fault := t.instant(v)
	if fault != nil {
		return nil, fault
	}
	return at.UTC().Format("2006-01-02T15:04:05.000Z"), nil
}

func (t *Transform) instant(v any) (time.Time, *Error) {
	if t.format.epoch() {
		return epoch(v, t.format.name)
	}
	st, fault := t.stamp(v)
	switch {
	case fault != nil:
		return time.Time{}, fault
	case !st.hasTime && t.format.name != "":
		return time.Time{}, fail(v, "has no time")
	case !st.hasZone && t.zone == nil:
		return time.Time{}, fail(v, "has no zone, and no timezone is given")
	}
	at := st.instant()
	if !st.hasZone {
		var ok bool
		if at, ok = st.instantIn(t.zone); !ok {
			return time.Time{}, fail(v, "is skipped by the clocks of "+t.zone.String())
		}
	}
	if !inRange(at.UTC()) {
		return time.Time{}, fail(v, reasonYears)
	}
	return at, nil
}

// date gives the date that is written, or the one of the given timezone when
// the value is a point in time.
func (t *Transform) date(v any) (any, *Error) {
	if t.format.epoch() {
		at, fault := epoch(v, t.format.name)
		if fault != nil {
			return nil, fault
		}
		return t.dateOf(v, at.UTC())
	}
	st, fault := t.stamp(v)
	if fault != nil {
		return nil, fault
	}
	if !st.hasZone || t.zone == nil {
		return st.date(), nil
	}
	return t.dateOf(v, st.instant())
}

func (t *Transform) dateOf(v any, at time.Time) (any, *Error) {
	if t.zone != nil {
		at = at.In(t.zone)
	}
	if !inRange(at) {
		return nil, fail(v, reasonYears)
	}
	return formatDate(at.Year(), int(at.Month()), at.Day()), nil
}

// stamp reads text by the format.
func (t *Transform) stamp(v any) (stamp, *Error) {
	s, ok := v.(string)
	if !ok {
		reason := "is " + path.Kind(v) + ", not a date and time as text"
		if _, ok := v.(json.Number); ok {
			reason += "; format: unix_s or unix_ms reads numbers"
		}
		return stamp{}, fail(v, reason)
	}
	var st stamp
	if t.format.name == formatRFC3339 {
		st, ok = parseRFC3339(s)
	} else {
		st, ok = t.format.parse(s)
	}
	switch {
	case !ok && t.format.name == formatRFC3339:
		return stamp{}, fail(v, "isn't a date and time like 2026-01-05T10:15:30Z")
	case !ok:
		return stamp{}, fail(v, "doesn't have the form of "+t.spec.Format)
	case !st.possible():
		return stamp{}, fail(v, reasonImpossible)
	}
	return st, nil
}

// epoch reads seconds or milliseconds since 1970, cut to milliseconds.
func epoch(v any, format string) (time.Time, *Error) {
	s, fault := decimal(v)
	if fault != nil {
		return time.Time{}, fault
	}
	scale := 3
	if format == formatUnixMS {
		scale = 0
	}
	whole, fraction, _ := strings.Cut(s, ".")
	kept := (fraction + "000")[:scale]
	milli, err := strconv.ParseInt(whole+kept, 10, 64)
	if err != nil {
		return time.Time{}, fail(v, reasonYears)
	}
	rest := fraction[min(len(fraction), scale):]
	if strings.HasPrefix(whole, "-") && strings.Trim(rest, "0") != "" {
		milli-- // cut towards the past, as a time as text is
	}
	at := time.UnixMilli(milli).UTC()
	if !inRange(at) {
		return time.Time{}, fail(v, reasonYears)
	}
	return at, nil
}
