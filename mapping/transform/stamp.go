package transform

import (
	"fmt"
	"time"
)

// stamp is a date and time as it was written: a wall clock, and perhaps the
// offset it belongs to.
type stamp struct {
	year, month, day     int
	hour, minute, second int
	milli                int
	hasTime              bool
	hasZone              bool
	offset               int // seconds east of UTC
}

// possible reports whether the calendar and the clock have such a stamp.
func (s stamp) possible() bool {
	if s.year < 1 || s.month < 1 || s.month > 12 || s.day < 1 || s.day > daysIn(s.year, s.month) {
		return false
	}
	return s.hour <= 23 && s.minute <= 59 && s.second <= 59
}

func daysIn(year, month int) int {
	return time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// wall is the stamp as if it were UTC.
func (s stamp) wall() time.Time {
	return time.Date(s.year, time.Month(s.month), s.day, s.hour, s.minute, s.second, s.milli*int(time.Millisecond), time.UTC)
}

// instant returns the point in time of a stamp with an offset.
func (s stamp) instant() time.Time {
	return s.wall().Add(-time.Duration(s.offset) * time.Second)
}

// instantIn returns the point in time at which a zone's clocks show the stamp.
// Of two, when clocks were set back, it is the earlier one; there is none in the
// hour that clocks skip.
func (s stamp) instantIn(zone *time.Location) (at time.Time, ok bool) {
	wall := s.wall()
	// A zone's offsets a day before and after cover any change between.
	for _, probe := range []time.Time{wall.AddDate(0, 0, -1), wall, wall.AddDate(0, 0, 1)} {
		_, offset := probe.In(zone).Zone()
		candidate := wall.Add(-time.Duration(offset) * time.Second)
		if _, there := candidate.In(zone).Zone(); there != offset {
			continue
		}
		if !ok || candidate.Before(at) {
			at, ok = candidate, true
		}
	}
	return at, ok
}

func (s stamp) date() string { return formatDate(s.year, s.month, s.day) }

func formatDate(year, month, day int) string {
	return fmt.Sprintf("%04d-%02d-%02d", year, month, day)
}

// inRange reports whether an instant has a year that four digits can write.
func inRange(t time.Time) bool { return t.Year() >= 1 && t.Year() <= 9999 }

// scanner reads a stamp from text piece by piece.
type scanner struct {
	rest string
}

// digits reads exactly n digits.
func (s *scanner) digits(n int) (value int, ok bool) {
	if len(s.rest) < n {
		return 0, false
	}
	for _, c := range []byte(s.rest[:n]) {
		if c < '0' || c > '9' {
			return 0, false
		}
		value = value*10 + int(c-'0')
	}
	s.rest = s.rest[n:]
	return value, true
}

// byte reads one of the bytes in set.
func (s *scanner) byte(set string) bool {
	for i := range len(set) {
		if s.rest != "" && s.rest[0] == set[i] {
			s.rest = s.rest[1:]
			return true
		}
	}
	return false
}

// millis reads a fraction of a second, one digit or more, cut to milliseconds.
func (s *scanner) millis() (value int, ok bool) {
	n := 0
	for ; s.rest != "" && '0' <= s.rest[0] && s.rest[0] <= '9'; n++ {
		if n < 3 {
			value = value*10 + int(s.rest[0]-'0')
		}
		s.rest = s.rest[1:]
	}
	for i := n; i < 3; i++ {
		value *= 10
	}
	return value, n > 0
}

// offset reads Z, +hh:mm, +hhmm or +hh as seconds east of UTC.
func (s *scanner) offset() (seconds int, ok bool) {
	if s.byte("Zz") {
		return 0, true
	}
	sign := 1
	if s.byte("-") {
		sign = -1
	} else if !s.byte("+") {
		return 0, false
	}
	hours, ok := s.digits(2)
	if !ok || hours > 23 {
		return 0, false
	}
	minutes := 0
	if s.byte(":") || s.rest != "" && s.rest[0] >= '0' && s.rest[0] <= '9' {
		if minutes, ok = s.digits(2); !ok || minutes > 59 {
			return 0, false
		}
	}
	return sign * (hours*3600 + minutes*60), true
}

// parseRFC3339 reads a date, or a date and time with or without an offset.
// Between them stands T or a blank; seconds may be left out.
func parseRFC3339(text string) (st stamp, ok bool) {
	s := scanner{rest: text}
	if st.year, ok = s.digits(4); !ok || !s.byte("-") {
		return st, false
	}
	if st.month, ok = s.digits(2); !ok || !s.byte("-") {
		return st, false
	}
	if st.day, ok = s.digits(2); !ok {
		return st, false
	}
	if s.rest == "" {
		return st, true
	}
	if !s.byte("Tt ") {
		return st, false
	}
	return st, s.clock(&st) && s.rest == ""
}

func (s *scanner) clock(st *stamp) (ok bool) {
	st.hasTime = true
	if st.hour, ok = s.digits(2); !ok || !s.byte(":") {
		return false
	}
	if st.minute, ok = s.digits(2); !ok {
		return false
	}
	if s.byte(":") {
		if st.second, ok = s.digits(2); !ok {
			return false
		}
		if s.byte(".") {
			if st.milli, ok = s.millis(); !ok {
				return false
			}
		}
	}
	if s.rest == "" {
		return true
	}
	st.offset, st.hasZone = s.offset()
	return st.hasZone
}
