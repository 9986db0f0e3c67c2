package operate_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/event"
	"sfbridge/bridge/operate"
	"sfbridge/salesforce"
	"sfbridge/salesforce/auth"
	"sfbridge/salesforce/simorg"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// bed is a simulated org with a desk in front of it.
type bed struct {
	*operate.Desk
	t      *testing.T
	sim    *simorg.Server
	client *salesforce.Client
	woken  int
}

func newBed(t *testing.T) *bed {
	t.Helper()
	sim, err := simorg.New(simorg.Config{})
	require.NoError(t, err)
	server := httptest.NewServer(sim.Handler())
	transport := salesforce.NewTransport()
	sessions, err := auth.New(auth.Config{Flow: auth.ClientCredentials, LoginURL: server.URL, ClientID: "sim",
		ClientSecret: "sim", AllowHTTP: true, Transport: transport})
	require.NoError(t, err)
	b := &bed{t: t, sim: sim}
	b.client, err = salesforce.New(salesforce.Config{Sessions: sessions, Transport: transport})
	require.NoError(t, err)
	b.Desk = b.desk(b.client)
	t.Cleanup(func() {
		b.client.CloseIdle()
		server.Close()
		_ = sim.Close()
	})
	return b
}

func (b *bed) desk(org operate.Org) *operate.Desk {
	b.t.Helper()
	d, err := operate.New(operate.Config{Org: org, Now: func() time.Time { return noon }, Wake: func(n int) { b.woken += n }})
	require.NoError(b.t, err)
	return d
}

// ev is event n of source shop, received n minutes after noon; change says what
// differs.
func ev(n int, change func(*event.Event)) *event.Event {
	e := &event.Event{
		ID: fmt.Sprintf("shop:%d", n), Source: "shop", Type: "charge.updated", ObjectID: fmt.Sprintf("ch_%d", n),
		Status: event.Review, ErrorCode: event.CodeField, Error: "Amount__c: no number", Trust: event.SignedBody,
		ReceivedAt: noon.Add(time.Duration(n) * time.Minute), History: "staged",
	}
	e.HomeQueue = event.HomeQueue(event.ByBridge, e.Entity())
	if change != nil {
		change(e)
	}
	return e
}

func as(s event.Status) func(*event.Event) {
	return func(e *event.Event) {
		e.Status = s
		if s == event.Completed {
			e.Outcome, e.ErrorCode, e.Error = event.Created, "", ""
		}
	}
}

func (b *bed) stage(extra map[string]any, events ...*event.Event) {
	b.t.Helper()
	stored, err := event.EncodePayload([]byte(`{"a":1}`))
	require.NoError(b.t, err)
	for start := 0; start < len(events); start += 200 {
		var rows []salesforce.Row
		for _, e := range events[start:min(start+200, len(events))] {
			fields := e.Insert(stored)
			for name, value := range extra {
				fields[name] = value
			}
			rows = append(rows, salesforce.Row{Object: event.Object, Fields: fields})
		}
		results, err := b.client.InsertAll(b.t.Context(), rows, true)
		require.NoError(b.t, err)
		for i, r := range results {
			require.True(b.t, r.Success, "%+v", r.Errors)
			events[start+i].RowID = r.ID
		}
	}
}

// now reads an event as it stands.
func (b *bed) now(id string) *event.Event {
	b.t.Helper()
	story, err := b.Show(b.t.Context(), id)
	require.NoError(b.t, err)
	return story.Event
}

func ids(events []*event.Event) []string {
	list := []string{}
	for _, e := range events {
		list = append(list, e.ID)
	}
	return list
}

func TestList(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.stage(nil, ev(1, nil), ev(2, as(event.Completed)), ev(3, func(e *event.Event) { e.ErrorCode = event.CodeUnmatched }),
		ev(4, func(e *event.Event) { e.Source, e.ID, e.Type = "other", "other:4", "it's" }))
	tests := []struct {
		name   string
		filter operate.Filter
		want   []string
	}{
		{"all, newest first", operate.Filter{}, []string{"other:4", "shop:3", "shop:2", "shop:1"}},
		{"by id", operate.Filter{IDs: []string{"shop:2", "shop:9"}}, []string{"shop:2"}},
		{"by source", operate.Filter{Source: "other"}, []string{"other:4"}},
		{"by type, whatever it holds", operate.Filter{Type: "it's"}, []string{"other:4"}},
		{"by object", operate.Filter{ObjectID: "ch_3"}, []string{"shop:3"}},
		{"by status", operate.Filter{Status: []event.Status{event.Completed}}, []string{"shop:2"}},
		{"by several", operate.Filter{Status: []event.Status{event.Review}, Code: event.CodeField, Source: "shop"}, []string{"shop:1"}},
		{"by code", operate.Filter{Code: event.CodeUnmatched}, []string{"shop:3"}},
		{"since", operate.Filter{Since: noon.Add(3 * time.Minute)}, []string{"other:4", "shop:3"}},
		{"until", operate.Filter{Until: noon.Add(2 * time.Minute)}, []string{"shop:1"}},
		{"limit", operate.Filter{Limit: 2}, []string{"other:4", "shop:3"}},
		{"nothing", operate.Filter{Code: "NONE"}, []string{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			events, err := b.List(t.Context(), tt.filter)
			require.NoError(t, err)
			assert.Equal(t, tt.want, ids(events))
		})
	}
}

func TestListOfManyIDs(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	var events []*event.Event
	var wanted []string
	for n := range 700 {
		e := ev(n, func(e *event.Event) { e.ID = fmt.Sprintf("shop:%s%d", strings.Repeat("x", 100), n) })
		events, wanted = append(events, e), append(wanted, e.ID)
	}
	b.stage(nil, events...)
	found, err := b.List(t.Context(), operate.Filter{IDs: wanted})
	require.NoError(t, err)
	assert.ElementsMatch(t, wanted, ids(found))
	found, err = b.List(t.Context(), operate.Filter{IDs: wanted, Limit: 250})
	require.NoError(t, err)
	assert.Len(t, found, 250)
}

func TestWrongUse(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	replay := func(r operate.Replay) error {
		_, err := b.Replay(t.Context(), r)
		return err
	}
	list := func(f operate.Filter) error {
		_, err := b.List(t.Context(), f)
		return err
	}
	_, noID := b.Show(t.Context(), "")
	_, noStatus := operate.ParseStatus("open")
	for name, err := range map[string]error{
		"unknown status":         list(operate.Filter{Status: []event.Status{"Open"}}),
		"a limit of -1":          list(operate.Filter{Limit: -1}),
		"nothing lies between":   list(operate.Filter{Since: noon, Until: noon}),
		"can't be written":       list(operate.Filter{Type: "\x00"}),
		"say which":              replay(operate.Replay{Filter: operate.Filter{Limit: 5}}),
		"only with force":        replay(operate.Replay{Filter: operate.Filter{Status: []event.Status{event.Completed}}}),
		"an event id is needed":  noID,
		"received, applied, com": noStatus,
	} {
		var wrong *operate.UsageError
		assert.ErrorAs(t, err, &wrong, name)
		assert.ErrorContains(t, err, name)
	}
	status, err := operate.ParseStatus("review")
	require.NoError(t, err)
	assert.Equal(t, event.Review, status)
	_, err = operate.New(operate.Config{})
	assert.ErrorContains(t, err, "client")
	_, err = operate.New(operate.Config{Org: b.client, Rate: -1})
	assert.ErrorContains(t, err, "rate")
}

func TestShow(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	e := ev(1, nil)
	b.stage(nil, e)
	conflict := ev(2, func(c *event.Event) { c.ID, c.ConflictOf = event.ConflictID("shop:1", "abcd"), e.RowID })
	b.stage(nil, conflict)
	for _, id := range []string{"shop:1", e.RowID} {
		story, err := b.Show(t.Context(), id)
		require.NoError(t, err)
		assert.Equal(t, "shop:1", story.Event.ID)
		assert.JSONEq(t, `{"a":1}`, string(story.Event.Payload))
		assert.Equal(t, "staged", story.Event.History)
		assert.Equal(t, []string{conflict.ID}, ids(story.Conflicts))
	}
	_, err := b.Show(t.Context(), "shop:none")
	assert.ErrorIs(t, err, operate.ErrNotFound)
	assert.ErrorContains(t, err, "shop:none")
}

func TestShowLargePayload(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	e := ev(1, nil)
	b.stage(map[string]any{event.FieldEncoding: "Chunked", event.FieldPayload: nil}, e)
	for i, part := range []string{"eyJhIjo=", "MX0="} {
		_, err := b.client.Insert(t.Context(), salesforce.Row{Object: event.ChunkObject, Fields: map[string]any{
			event.ChunkFieldEvent: e.RowID, event.ChunkFieldIndex: i, event.ChunkFieldData: part}})
		require.NoError(t, err)
	}
	assert.Equal(t, `{"a":1}`, string(b.now("shop:1").Payload))
}

func TestReplay(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.stage(map[string]any{event.FieldAttempts: 12, event.FieldReplayCount: 1, event.FieldMappingVersion: "abc"}, ev(1, nil))
	before := b.now("shop:1")
	report, err := b.Replay(t.Context(), operate.Replay{
		Filter: operate.Filter{IDs: []string{"shop:1"}}, Who: "ada", Reason: "the mapping\nis fixed",
	})
	require.NoError(t, err)
	assert.Equal(t, 1, report.Matched)
	assert.Equal(t, 1, report.Replayed)
	assert.Equal(t, 1, b.woken)
	e := b.now("shop:1")
	assert.Equal(t, event.Received, e.Status)
	assert.Equal(t, e.HomeQueue, e.Queue)
	assert.Zero(t, e.Attempts)
	assert.Equal(t, 2, e.ReplayCount)
	assert.Empty(t, e.ErrorCode+e.Error)
	assert.True(t, e.NextAttempt.IsZero())
	assert.Equal(t, "abc", e.MappingVersion, "it tells whether there is anything to do")
	assert.Greater(t, e.Revision, before.Revision)
	assert.Equal(t, "staged\n2026-01-01T12:00:00Z Review -> Received by ada: replay: the mapping is fixed", e.History)
}

func TestReplayChooses(t *testing.T) {
	t.Parallel()
	all := []*event.Event{
		ev(1, nil), ev(2, func(e *event.Event) { e.ErrorCode = event.CodeUnmatched }), ev(3, as(event.Completed)),
		ev(4, as(event.Received)), ev(5, as(event.Retryable)), ev(6, as(event.Applied)),
		ev(7, func(e *event.Event) { e.ID, e.ErrorCode = event.ConflictID("shop:1", "abcd"), event.CodeConflict }),
	}
	shop := operate.Filter{Source: "shop"}
	one := shop
	one.Limit = 1
	tests := []struct {
		name     string
		replay   operate.Replay
		replayed int
		byCode   map[string]int
		skipped  int
	}{
		{"by source", operate.Replay{Filter: shop}, 2, map[string]int{"FIELD": 1, "UNMATCHED": 1}, 5},
		{"with force", operate.Replay{Filter: shop, Force: true}, 3, map[string]int{"FIELD": 1, "UNMATCHED": 1, "": 1}, 4},
		{"dry run", operate.Replay{Filter: shop, DryRun: true}, 0, map[string]int{"FIELD": 1, "UNMATCHED": 1}, 5},
		{"limit", operate.Replay{Filter: one}, 1, map[string]int{"FIELD": 1}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t)
			b.stage(nil, all...)
			report, err := b.Replay(t.Context(), tt.replay)
			require.NoError(t, err)
			assert.Equal(t, tt.replayed, report.Replayed)
			assert.Equal(t, tt.byCode, report.ByCode)
			skipped := 0
			for _, n := range report.Skipped {
				skipped += n
			}
			assert.Equal(t, tt.skipped, skipped, "%v", report.Skipped)
			left, err := b.List(t.Context(), operate.Filter{Status: []event.Status{event.Received}})
			require.NoError(t, err)
			assert.Len(t, left, tt.replayed+1)
		})
	}
}

// brokenOff fails a call of UpdateAll, and lets somebody else move rows first.
type brokenOff struct {
	*salesforce.Client
	calls  int
	failAt int
	race   func()
	err    error
}

func (o *brokenOff) UpdateAll(ctx context.Context, rows []salesforce.Row, allOrNone bool) ([]salesforce.SaveResult, error) {
	o.calls++
	if o.race != nil {
		o.race()
	}
	if o.calls == o.failAt {
		return nil, o.err
	}
	return o.Client.UpdateAll(ctx, rows, allOrNone)
}

func TestReplayOfManyIsResumed(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	var events []*event.Event
	for n := range 450 {
		events = append(events, ev(n, nil))
	}
	b.stage(nil, events...)
	org := &brokenOff{Client: b.client, failAt: 2, err: errors.New("gone away")}
	var told []int
	request := operate.Replay{
		Filter:   operate.Filter{Status: []event.Status{event.Review}},
		Progress: func(r operate.ReplayReport) { told = append(told, r.Replayed) },
	}
	report, err := b.desk(org).Replay(t.Context(), request)
	assert.ErrorIs(t, err, org.err)
	assert.ErrorContains(t, err, "start the replay again")
	assert.Equal(t, 200, report.Replayed)

	report, err = b.desk(org).Replay(t.Context(), request)
	require.NoError(t, err)
	assert.Equal(t, 250, report.Replayed)
	assert.Equal(t, []int{200, 200, 250}, told)
	assert.Equal(t, 4, org.calls, "200 a call")
	assert.Equal(t, 450, b.woken)
}

func TestReplayThatLosesARace(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	e, refused := ev(1, nil), ev(2, nil)
	b.stage(nil, e, refused)
	org := &brokenOff{Client: b.client, race: func() {
		_, err := b.client.Update(t.Context(), salesforce.Row{Object: event.Object, ID: e.RowID, Fields: map[string]any{
			event.FieldExpectedRevision: 1, event.FieldRevision: 2, event.FieldStatus: "Completed"}})
		require.NoError(t, err)
	}}
	report, err := b.desk(org).Replay(t.Context(), operate.Replay{Filter: operate.Filter{Source: "shop"}})
	require.NoError(t, err)
	assert.Equal(t, 1, report.Moved)
	assert.Equal(t, 1, report.Replayed)
	assert.Equal(t, event.Completed, b.now("shop:1").Status)
}

// refusing is an org that holds rows and refuses every change of them.
type refusing struct{ records []salesforce.Record }

func (o *refusing) Query(context.Context, string) ([]salesforce.Record, error) {
	page := o.records[:min(200, len(o.records))]
	o.records = o.records[len(page):]
	return page, nil
}

func (o *refusing) UpdateAll(_ context.Context, rows []salesforce.Row, _ bool) ([]salesforce.SaveResult, error) {
	results := make([]salesforce.SaveResult, len(rows))
	for i := range results {
		results[i].Errors = []salesforce.Fault{{Code: "INSUFFICIENT_ACCESS", Message: "no"}}
	}
	return results, nil
}

func newRefusing(n int) *refusing {
	o := &refusing{}
	for i := range n {
		o.records = append(o.records, salesforce.Record{"Id": fmt.Sprintf("a00%015d", i),
			event.FieldID: fmt.Sprintf("shop:%d", i), event.FieldStatus: "Review", event.FieldEncoding: "Plain"})
	}
	return o
}

func TestReplayNamesRefusals(t *testing.T) {
	t.Parallel()
	d, err := operate.New(operate.Config{Org: newRefusing(450)})
	require.NoError(t, err)
	report, err := d.Replay(t.Context(), operate.Replay{Filter: operate.Filter{Source: "shop"}})
	require.NoError(t, err)
	assert.Equal(t, 450, report.Failed)
	assert.Len(t, report.Refusals, 20, "all are counted, some are named")
	assert.Equal(t, operate.Refusal{EventID: "shop:0", Code: "INSUFFICIENT_ACCESS", Message: "no"}, report.Refusals[0])
}

func TestReplayIsRateLimited(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, err := operate.New(operate.Config{Org: newRefusing(600), Rate: 50})
		require.NoError(t, err)
		start := time.Now()
		_, err = d.Replay(t.Context(), operate.Replay{Filter: operate.Filter{Source: "shop"}})
		require.NoError(t, err)
		assert.Equal(t, 8*time.Second, time.Since(start), "the first 200 go at once")

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		d, err = operate.New(operate.Config{Org: newRefusing(600), Rate: 50})
		require.NoError(t, err)
		_, err = d.Replay(ctx, operate.Replay{Filter: operate.Filter{Source: "shop"}})
		assert.ErrorContains(t, err, "rate limit")
	})
}
