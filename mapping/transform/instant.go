package transform

import "time"

// Instant reads a point in time from text or a number: format is rfc3339,
// unix_s or unix_ms, and text without a zone is refused. It is cut to
// milliseconds and in UTC. An error is an [*Error].
func Instant(v any, format string) (time.Time, error) {
	f, err := parseFormat(format)
	if err != nil {
		return time.Time{}, &Error{Reason: err.Error()}
	}
	t := Transform{spec: Spec{Format: format}, format: f}
	if fault := t.storable(v); fault != nil {
		return time.Time{}, fault
	}
	at, fault := t.instant(v)
	if fault != nil {
		return time.Time{}, fault
	}
	return at.UTC(), nil
}
