package plan

import (
	"fmt"
	"math"
	"strings"
)

// Count writes a large number as people read it.
func Count(n float64) string {
	text := fmt.Sprintf("%.0f", n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// Size writes megabytes.
func Size(mb float64) string {
	switch {
	case mb >= 10*1024:
		return fmt.Sprintf("%.0f GB", mb/1024)
	case mb >= 1024:
		return fmt.Sprintf("%.1f GB", mb/1024)
	case mb >= 10:
		return fmt.Sprintf("%.0f MB", mb)
	}
	return fmt.Sprintf("%.1f MB", mb)
}

// Share writes a part of a limit.
func Share(s float64) string {
	if s < 0.01 {
		return "below 1 %"
	}
	return fmt.Sprintf("%.0f %%", 100*s)
}

// Days writes a time that retention could be set to.
func Days(d float64) string {
	if d >= maxDays {
		return "10 years"
	}
	return Count(math.Floor(d)) + " d"
}

// Reading says in words what to make of a plan.
func Reading(r Report) string {
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	say("Fits within %s of the calls and all of the storage. Events that come evenly, one by one, share no", Share(r.Load.Budget))
	say("calls; those that come at once do. A day lies between the two. When half of the calls is used, polling")
	say("is paced: events that come one by one are applied later, up to a minute, and share calls.")
	for _, v := range r.Editions {
		switch v.Fits {
		case FitsCalls:
			say("%s: too many calls. Buy more, ask the provider for fewer event types, or ignore some at receipt.", v.Edition)
		case FitsStorage:
			if v.RetentionDays < 1 {
				say("%s: too many rows: not even those of a day.", v.Edition)
				continue
			}
			say("%s: too many rows. Set retention.row_after to %s at most.", v.Edition, Days(v.RetentionDays))
		case FitsBatches:
			say("%s: enough for bursts. Evenly spread they use more than the budget, and polling rests above it.", v.Edition)
		case FitsPaced:
			say("%s: enough; when calls get few, events that come one by one are applied up to a minute later.", v.Edition)
		}
	}
	return b.String()
}
