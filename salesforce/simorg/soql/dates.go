package soql

import "time"

// span is a stretch of time; end is not part of it.
type span struct{ start, end time.Time }

// relative is a word such as TODAY or LAST_N_DAYS:n.
type relative struct {
	counted bool
	span    func(today time.Time, n int) span
}

// days makes a span of whole days around today.
func days(from, to int) func(time.Time, int) span {
	return func(today time.Time, _ int) span {
		return span{today.AddDate(0, 0, from), today.AddDate(0, 0, to)}
	}
}

func weeks(offset int) func(time.Time, int) span {
	return func(today time.Time, _ int) span {
		start := today.AddDate(0, 0, -int(today.Weekday())+7*offset)
		return span{start, start.AddDate(0, 0, 7)}
	}
}

func months(offset int) func(time.Time, int) span {
	return func(today time.Time, _ int) span {
		start := time.Date(today.Year(), today.Month()+time.Month(offset), 1, 0, 0, 0, 0, time.UTC)
		return span{start, start.AddDate(0, 1, 0)}
	}
}

func years(offset int) func(time.Time, int) span {
	return func(today time.Time, _ int) span {
		start := time.Date(today.Year()+offset, 1, 1, 0, 0, 0, 0, time.UTC)
		return span{start, start.AddDate(1, 0, 0)}
	}
}

// relativeDates are read in UTC, the zone of the simulated user.
var relativeDates = map[string]relative{
	"YESTERDAY":  {span: days(-1, 0)},
	"TODAY":      {span: days(0, 1)},
	"TOMORROW":   {span: days(1, 2)},
	"LAST_WEEK":  {span: weeks(-1)},
	"THIS_WEEK":  {span: weeks(0)},
	"NEXT_WEEK":  {span: weeks(1)},
	"LAST_MONTH": {span: months(-1)},
	"THIS_MONTH": {span: months(0)},
	"NEXT_MONTH": {span: months(1)},
	"LAST_YEAR":  {span: years(-1)},
	"THIS_YEAR":  {span: years(0)},
	"NEXT_YEAR":  {span: years(1)},
	"LAST_N_DAYS": {counted: true, span: func(today time.Time, n int) span {
		return span{today.AddDate(0, 0, -n), today.AddDate(0, 0, 1)}
	}},
	"NEXT_N_DAYS": {counted: true, span: func(today time.Time, n int) span {
		return span{today.AddDate(0, 0, 1), today.AddDate(0, 0, n+1)}
	}},
}

// parseDateTime reads a literal that the lexer has taken for a date-time.
func parseDateTime(s string) (time.Time, bool) {
	for _, layout := range []string{"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05Z0700"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}

func startOfDay(t time.Time) time.Time {
	y, m, d := t.UTC().Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}
