package bench

import (
	"fmt"
	"strings"
)

// Columns are the headings of the table.
func Columns() []string {
	return []string{"what", "events/s", "API calls/event", "p50 ms", "p99 ms", "CPU µs/event", "allocations/event", "peak MiB"}
}

// Cells are the figures of the row under Columns. What was not measured, or
// can't be, is a dash.
func (r Row) Cells() []string {
	cell := func(format string, v float64) string {
		if v == 0 {
			return "–"
		}
		return fmt.Sprintf(format, v)
	}
	return []string{
		r.Name, grouped(r.EventsPerSecond), cell("%.4f", r.CallsPerEvent), cell("%.1f", r.P50), cell("%.1f", r.P99),
		cell("%.0f", r.CPU), cell("%.0f", r.Allocs), cell("%.0f", r.PeakMiB),
	}
}

// grouped writes a whole number with commas between thousands.
func grouped(v float64) string {
	text := fmt.Sprintf("%.0f", v)
	var out strings.Builder
	for i, digit := range text {
		if i > 0 && (len(text)-i)%3 == 0 {
			out.WriteByte(',')
		}
		out.WriteRune(digit)
	}
	return out.String()
}
