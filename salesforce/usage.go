package salesforce

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// Usage is the org's daily count of API calls as last heard from Salesforce. It
// lags and counts all of the org's users.
type Usage struct {
	Used, Max int64
	// At is when it was heard; zero: never yet.
	At time.Time
}

// Share is the part of the day's calls that is used, 0 when not known.
func (u Usage) Share() float64 {
	if u.Max <= 0 {
		return 0
	}
	return float64(u.Used) / float64(u.Max)
}

// Limit is one of the org's limits.
type Limit struct {
	Max       int64 `json:"Max"`
	Remaining int64 `json:"Remaining"`
}

// Usage gives the last count of API calls heard.
func (c *Client) Usage() Usage {
	if u := c.usage.Load(); u != nil {
		return *u
	}
	return Usage{}
}

// Limits asks for all limits of the org by name.
func (c *Client) Limits(ctx context.Context) (map[string]Limit, error) {
	var limits map[string]Limit
	err := c.call(ctx, request{op: OpLimits, method: http.MethodGet, path: "limits"}, jsonInto(&limits))
	return limits, err
}

// noteUsage keeps what a reply's header tells; a header it can't read is ignored.
func noteUsage(kept *atomic.Pointer[Usage], h http.Header, now time.Time) {
	if used, limit, ok := parseUsage(h.Get(headerLimitInfo)); ok {
		kept.Store(&Usage{Used: used, Max: limit, At: now})
	}
}

// parseUsage reads "api-usage=18/5000; per-app-api-usage=17/250(appName=x)".
func parseUsage(header string) (used, limit int64, ok bool) {
	for part := range strings.SplitSeq(header, ";") {
		name, value, found := strings.Cut(strings.TrimSpace(part), "=")
		if !found || strings.TrimSpace(name) != "api-usage" {
			continue
		}
		before, after, _ := strings.Cut(value, "/")
		used, err1 := strconv.ParseInt(strings.TrimSpace(before), 10, 64)
		limit, err2 := strconv.ParseInt(strings.TrimSpace(after), 10, 64)
		return used, limit, err1 == nil && err2 == nil && used >= 0 && limit > 0
	}
	return 0, 0, false
}
