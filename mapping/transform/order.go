package transform

import "time"

// Instant reads a point in time from text or a number: format is rfc3339,
// unix_s or unix_ms. It is cut to milliseconds. An error is an [*Error].
func Instant(v any, format string) (time.Time, error) { return time.Time{}, nil }

// Int64 reads a whole number from a number or text. An error is an [*Error].
func Int64(v any) (int64, error) { return 0, nil }
