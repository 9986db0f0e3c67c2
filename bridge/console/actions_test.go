package console_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/event"
	"sfbridge/bridge/operate"
)

func TestActionsCarryOutWhatTheBodySays(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	by := func(r *http.Request) { r.Header.Set("X-Actor", "ada\tlovelace") }
	r := b.do("POST", "/admin/v1/replay", `{"filter":{"ids":["shop:1"],"status":["review"],"since":"2026-01-05T12:00:00Z","limit":9},"reason":" fixed ","force":true,"dry_run":true}`, by)
	require.Equal(t, 200, r.status, r.body)
	assert.Equal(t, operate.Order{Who: "ada lovelace", Reason: "fixed", Force: true, DryRun: true,
		Filter: operate.Filter{IDs: []string{"shop:1"}, Status: []event.Status{event.Review}, Since: noon, Limit: 9}}, b.desk.replay)
	require.Equal(t, 200, b.do("POST", "/admin/v1/discard", `{"filter":{"source":"shop"},"reason":"test"}`).status)
	assert.Equal(t, operate.Order{Who: "admin API", Reason: "test", Filter: operate.Filter{Source: "shop"}}, b.desk.discard)
	require.Equal(t, 200, b.do("POST", "/admin/v1/accept", `{"filter":{"code":"CONFLICT"},"reason":"yes"}`).status)
	assert.Equal(t, operate.Order{Who: "admin API", Reason: "yes", Filter: operate.Filter{Code: "CONFLICT"}}, b.desk.accept)
	require.Equal(t, 200, b.do("POST", "/admin/v1/events/shop:1/replay", "").status, "no body, nothing special")
	assert.Equal(t, operate.Order{Who: "admin API", Filter: operate.Filter{IDs: []string{"shop:1"}}}, b.desk.replay)

	b.desk.replay = operate.Order{}
	for body, status := range map[string]int{
		`{"filter":{"sorce":"shop"}}`: 400, `{"filters":{}}`: 400, `[]`: 400, `{} {}`: 400, `{"filter":{"status":["over"]}}`: 400, `{`: 400,
		`{"reason":"` + strings.Repeat("x", 300<<10) + `"}`: 413,
	} {
		r := b.do("POST", "/admin/v1/replay", body)
		assert.Equal(t, status, r.status, "%.40s", body)
		r.problem(t)
	}
	assert.Equal(t, 400, b.do("POST", "/admin/v1/events/shop:1/replay", `{"filter":{"source":"shop"}}`).status)
	assert.Equal(t, operate.Order{}, b.desk.replay, "nothing was done")
}

func TestWhatAnActionOnOneEventCantDo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		report operate.Report
		err    error
		status int
		code   string
	}{
		"not there":   {report: operate.Report{Skipped: map[string]int{operate.NoSuchEvent: 1}}, status: 404, code: "not_found"},
		"not free":    {report: operate.Report{Skipped: map[string]int{"status Received": 1}}, status: 409, code: "conflict"},
		"moved on":    {report: operate.Report{Matched: 1, Moved: 1}, status: 409, code: "conflict"},
		"refused":     {report: operate.Report{Matched: 1, Failed: 1, Refusals: []operate.Refusal{{Code: "X"}}}, status: 502, code: "unavailable"},
		"wrong use":   {err: &operate.UsageError{Problem: "a reason is needed"}, status: 400, code: "bad_request"},
		"org is down": {err: errors.New("down"), status: 502, code: "unavailable"},
		"too slow":    {err: fmt.Errorf("replaying: %w", context.DeadlineExceeded), status: 504, code: "timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, nil)
			b.desk.report, b.desk.err = c.report, c.err
			r := b.do("POST", "/admin/v1/events/shop:1/replay", "")
			assert.Equal(t, c.status, r.status, r.body)
			assert.Equal(t, c.code, r.problem(t))
		})
	}
}

func TestEveryActionLeavesALine(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.do("POST", "/admin/v1/events/shop:1/discard", `{"reason":"a test of the shop's"}`, func(r *http.Request) { r.Header.Set("X-Actor", "ada") })
	var line map[string]any
	require.NoError(t, json.Unmarshal(b.log.Bytes(), &line), "one line: %s", b.log)
	assert.Equal(t, "admin action", line["msg"])
	assert.Equal(t, "discard", line["action"])
	assert.Equal(t, "ada", line["by"])
	assert.Equal(t, `{"id_count":1,"ids":["shop:1"]}`, line["filter"])
	assert.Equal(t, "a test of the shop's", line["reason"])
	assert.EqualValues(t, 1, line["done"])
	b.log.Reset()
	b.desk.err = errors.New("down")
	b.do("POST", "/admin/v1/replay", `{"filter":{"source":"shop"}}`)
	assert.Contains(t, b.log.String(), `"error":"down"`)
	b.log.Reset()
	b.do("GET", "/admin/v1/stats", "")
	assert.Empty(t, b.log.String(), "reading leaves none")
}
