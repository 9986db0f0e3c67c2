package outbound

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// RetryAfter is the pause that an answer asks for, in seconds or as a date;
// zero for none.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	text := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, err := strconv.ParseInt(text, 10, 32); err == nil {
		return time.Duration(max(0, seconds)) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}
