package console_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/console"
	"sfbridge/bridge/event"
	"sfbridge/bridge/operate"
)

const token = "t0ken-of-the-test"

var noon = time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)

// desk is a desk whose answers the test decides; it notes what it was asked.
type desk struct {
	events  []*event.Event
	groups  []operate.Group
	grouped operate.Filter
	story   operate.Story
	report  operate.Report
	err     error
	page    operate.Filter
	effect  operate.EffectFilter
	replay  operate.Order
	discard operate.Order
	accept  operate.Order
}

func (d *desk) Page(_ context.Context, f operate.Filter, _ operate.Cursor) ([]*event.Event, operate.Cursor, error) {
	d.page = f
	return d.events, operate.Cursor{}, d.err
}

func (d *desk) Groups(_ context.Context, f operate.Filter) ([]operate.Group, error) {
	d.grouped = f
	return d.groups, d.err
}

func (d *desk) Show(_ context.Context, id string) (operate.Story, error) {
	if d.story.Event == nil || d.story.Event.ID != id {
		return operate.Story{}, fmt.Errorf("%w: %s", operate.ErrNotFound, id)
	}
	return d.story, d.err
}

func (d *desk) Effects(_ context.Context, f operate.EffectFilter) ([]operate.StoredEffect, error) {
	d.effect = f
	return []operate.StoredEffect{{Effect: effect(), EventID: "shop:1"}}, d.err
}

func (d *desk) Replay(_ context.Context, r operate.Order) (operate.Report, error) {
	d.replay = r
	return d.report, d.err
}

func (d *desk) Discard(_ context.Context, r operate.Order) (operate.Report, error) {
	d.discard = r
	return d.report, d.err
}

func (d *desk) Accept(_ context.Context, r operate.Order) (operate.Report, error) {
	d.accept = r
	return d.report, d.err
}

func effect() *event.Effect {
	return &event.Effect{Key: "shop:1:mail:ch_1", Name: "mail", Status: event.EffectDone, Code: "200", History: "a\nb"}
}

func stored() *event.Event {
	order := int64(5)
	return &event.Event{
		RowID: "a00000000000000001", ID: "shop:order/1 +2%", Source: "shop", Type: "charge.updated", ObjectID: "ch_1", Order: &order,
		Status: event.Review, ErrorCode: event.CodeField, Error: "no number", ReceivedAt: noon,
		Payload: []byte(`{"a":1.10}`), Context: []byte(`{}`), History: "one\ntwo",
	}
}

func done() operate.Report {
	return operate.Report{Action: "replay", Matched: 1, Done: 1, ByStatus: map[string]int{"Review": 1}, ByCode: map[string]int{"FIELD": 1}, Skipped: map[string]int{}}
}

func view(v any) console.View { return func(context.Context) (any, error) { return v, nil } }

type bench struct {
	http.Handler
	t    *testing.T
	desk *desk
	log  *bytes.Buffer
}

func newBench(t *testing.T, change func(*console.Config)) *bench {
	t.Helper()
	oldest := noon
	b := &bench{t: t, log: &bytes.Buffer{}, desk: &desk{events: []*event.Event{stored()}, report: done(), groups: []operate.Group{
		{Status: event.Review, Source: "shop", Type: "charge.updated", Code: event.CodeField, Events: 2, Oldest: &oldest}}}}
	b.desk.story = operate.Story{
		Event: stored(), Conflicts: []*event.Event{stored()}, Effects: []*event.Effect{effect()}, Original: stored(),
		Changes: []operate.Change{{Path: "$.a", Kind: "changed", From: json.Number("1.10"), To: "x"}},
	}
	cfg := console.Config{
		Desk: b.desk, Token: token, Stats: view(map[string]any{"bridge_due_events": 3}), Drift: view([]any{}),
		Sources: view([]any{map[string]any{"source": "shop", "provider": "generic", "url": "x", "processor": "bridge"}}),
		Spool:   &spool{apart: []string{"B03/1", "B04/2"}},
		Log:     slog.New(slog.NewJSONHandler(b.log, nil)),
	}
	if change != nil {
		change(&cfg)
	}
	h, err := console.NewHandler(cfg)
	require.NoError(t, err)
	b.Handler = h
	return b
}

type reply struct {
	status int
	header http.Header
	body   string
}

func (b *bench) do(method, target, body string, change ...func(*http.Request)) reply {
	b.t.Helper()
	var content io.Reader
	if body != "" {
		content = strings.NewReader(body)
	}
	r := httptest.NewRequest(method, target, content)
	r.Header.Set("Authorization", "Bearer "+token)
	for _, c := range change {
		c(r)
	}
	w := httptest.NewRecorder()
	b.ServeHTTP(w, r)
	return reply{w.Code, w.Header(), w.Body.String()}
}

func (r reply) problem(t *testing.T) string {
	t.Helper()
	var p struct{ Error, Message string }
	require.NoError(t, json.Unmarshal([]byte(r.body), &p), r.body)
	require.NotEmpty(t, p.Message)
	return p.Error
}

func TestOnlyTheTokenOpens(t *testing.T) {
	t.Parallel()
	for name, header := range map[string]string{
		"none": "", "another": "Bearer other", "a beginning": "Bearer t0ken", "empty": "Bearer ", "no scheme": token, "another scheme": "Basic " + token,
	} {
		b := newBench(t, nil)
		for _, route := range []string{"/admin/v1/events", "/admin/v1/nothing", "/admin/v1/openapi.yaml"} {
			r := b.do("GET", route, "", func(r *http.Request) { r.Header.Set("Authorization", header) })
			assert.Equal(t, 401, r.status, name)
			assert.Equal(t, "unauthorized", r.problem(t))
			assert.Equal(t, "Bearer", r.header.Get("WWW-Authenticate"))
		}
		r := b.do("POST", "/admin/v1/replay", `{"filter":{"source":"shop"}}`, func(r *http.Request) { r.Header.Set("Authorization", header) })
		assert.Equal(t, 401, r.status)
		assert.Empty(t, b.desk.replay.Filter.Source, "nothing was done")
		assert.NotContains(t, b.log.String(), token)
	}
	assert.Equal(t, 200, newBench(t, nil).do("GET", "/admin/v1/events", "", func(r *http.Request) { r.Header.Set("Authorization", "bearer "+token) }).status)
}

func TestTheConfigIsChecked(t *testing.T) {
	t.Parallel()
	whole := console.Config{Desk: &desk{}, Token: "x", Stats: view(1), Drift: view(1), Sources: view(1)}
	_, err := console.NewHandler(whole)
	require.NoError(t, err)
	for name, spoil := range map[string]func(*console.Config){
		"no token": func(c *console.Config) { c.Token = "" }, "no desk": func(c *console.Config) { c.Desk = nil },
		"no drift": func(c *console.Config) { c.Drift = nil }, "rate": func(c *console.Config) { c.Rate = -1 },
	} {
		cfg := whole
		spoil(&cfg)
		_, err := console.NewHandler(cfg)
		assert.Error(t, err, name)
	}
}

func TestRequestsAreRateLimited(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(c *console.Config) { c.Rate, c.Burst = 1e-9, 2 })
	wrong := func(r *http.Request) { r.Header.Set("Authorization", "Bearer guess") }
	var guesses []int
	for range 7 {
		guesses = append(guesses, b.do("GET", "/admin/v1/stats", "", wrong).status)
	}
	assert.Equal(t, []int{401, 401, 401, 401, 401, 429, 429}, guesses)
	assert.Equal(t, 200, b.do("GET", "/admin/v1/stats", "").status, "guessers don't keep operators out")
	assert.Equal(t, 200, b.do("GET", "/admin/v1/stats", "").status)
	r := b.do("GET", "/admin/v1/stats", "")
	assert.Equal(t, 429, r.status)
	assert.Equal(t, "rate_limited", r.problem(t))
	assert.Equal(t, "1", r.header.Get("Retry-After"))
}

func TestEventsAreChosenByTheQuery(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	r := b.do("GET", "/admin/v1/events?source=shop&type=t&object=o&status=review,Completed&status=received&code=FIELD&since=2026-01-05T12:00:00Z&until=2026-01-05T14:00:00%2B01:00&limit=7", "")
	require.Equal(t, 200, r.status, r.body)
	f := b.desk.page
	assert.True(t, f.Since.Equal(noon))
	assert.True(t, f.Until.Equal(noon.Add(time.Hour)))
	f.Since, f.Until = time.Time{}, time.Time{}
	assert.Equal(t, operate.Filter{Source: "shop", Type: "t", ObjectID: "o", Code: "FIELD", Limit: 7,
		Status: []event.Status{event.Review, event.Completed, event.Received}}, f)
	for _, query := range []string{
		"sorce=shop", "limit=0", "limit=x", "status=over", "since=noon", "cursor=!", "source=a&source=b", "limit=1;x=2", "%zz=1",
	} {
		r := b.do("GET", "/admin/v1/events?"+query, "")
		assert.Equal(t, 400, r.status, query)
		assert.Equal(t, "bad_request", r.problem(t))
	}
	require.Equal(t, 200, b.do("GET", "/admin/v1/groups?status=review&code=FIELD&source=shop", "").status)
	assert.Equal(t, operate.Filter{Source: "shop", Code: "FIELD", Status: []event.Status{event.Review}}, b.desk.grouped)
	assert.Equal(t, 400, b.do("GET", "/admin/v1/groups?limit=1", "").status, "groups are told whole")
	assert.Equal(t, 400, b.do("GET", "/admin/v1/groups?status=over", "").status)
	b.do("GET", "/admin/v1/effects?event=shop:1&name=mail&status=done&limit=3", "")
	assert.Equal(t, operate.EffectFilter{Event: "shop:1", Name: "mail", Status: []event.EffectStatus{event.EffectDone}, Limit: 3}, b.desk.effect)
	assert.Equal(t, 400, b.do("GET", "/admin/v1/effects?status=over", "").status)
}

// TestIdsWithAnythingInThem: the id of the stored event has a slash, a blank, a
// plus and a percent sign.
func TestIdsWithAnythingInThem(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	r := b.do("GET", "/admin/v1/events/shop:order%2F1%20+2%25", "")
	require.Equal(t, 200, r.status, r.body)
	assert.Contains(t, r.body, `"payload":{"a":1.10}`, "digits are kept")
	r = b.do("GET", "/admin/v1/events/shop:order%2F1%20%2B2%25/history", "")
	require.Equal(t, 200, r.status, r.body)
	assert.JSONEq(t, `{"event_id":"shop:order/1 +2%","history":["one","two"]}`, r.body)
	assert.Equal(t, 404, b.do("GET", "/admin/v1/events/shop:other", "").status)
	b.do("POST", "/admin/v1/events/shop:conflict%23conflict:00/discard", `{"reason":"r"}`)
	assert.Equal(t, []string{"shop:conflict#conflict:00"}, b.desk.discard.Filter.IDs)
}

func TestBothVersionsOfAConflict(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.desk.story.ChangesCut, b.desk.story.Effects[0].Request = 7, `{"to":1.10}`
	b.desk.story.Original.ID, b.desk.story.Original.Payload = "shop:first", []byte(`{"a":1.1000}`)
	r := b.do("GET", "/admin/v1/events/shop:order%2F1%20+2%25", "")
	require.Equal(t, 200, r.status, r.body)
	assert.Contains(t, r.body, `"changes":[{"path":"$.a","kind":"changed","from":1.10,"to":"x"}]`)
	assert.Contains(t, r.body, `"original":{"event_id":"shop:first",`)
	assert.Contains(t, r.body, `"changes_cut":7,"conflict_of":"shop:first"`)
	assert.Contains(t, r.body, `"request":{"to":1.10}`, "of its effects")
	assert.Contains(t, r.body, `"payload":{"a":1.1000}`)
	b.desk.story.Changes = nil
	assert.Contains(t, b.do("GET", "/admin/v1/events/shop:order%2F1%20+2%25", "").body, `"changes":null`, "one of the two was cleared")
	b.desk.story.Original = nil
	assert.Contains(t, b.do("GET", "/admin/v1/events/shop:order%2F1%20+2%25", "").body, `"original":null,"changes":null`)
}

func TestWhatTheRoutesAreNot(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	assert.Equal(t, "not_found", b.do("GET", "/admin/v1/nothing", "").problem(t))
	r := b.do("DELETE", "/admin/v1/events", "")
	assert.Equal(t, 405, r.status)
	assert.Equal(t, "method", r.problem(t))
	b = newBench(t, func(c *console.Config) { c.Stats = func(context.Context) (any, error) { panic("secret payload") } })
	assert.Equal(t, "failed", b.do("GET", "/admin/v1/stats", "").problem(t))
	assert.NotContains(t, b.log.String(), "secret payload")
	b = newBench(t, func(c *console.Config) {
		c.Drift = func(context.Context) (any, error) { return nil, errors.New("gone") }
	})
	assert.Equal(t, 502, b.do("GET", "/admin/v1/drift", "").status)
}
