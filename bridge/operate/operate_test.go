package operate_test

import (
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
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
	woken  int // rows that are due again
	ready  int // effects that are
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
	d, err := operate.New(operate.Config{Org: org, Now: func() time.Time { return noon }, Wake: func(n int) { b.woken += n }, WakeEffects: func(n int) { b.ready += n }})
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
			if tt.filter.Limit > 0 {
				return
			}
			everything, err := b.List(t.Context(), operate.Filter{})
			require.NoError(t, err)
			matching := slices.DeleteFunc(everything, func(e *event.Event) bool { return !tt.filter.Matches(e) })
			assert.Equal(t, tt.want, ids(matching), "an archived event is chosen as one in the org")
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
	replay := func(r operate.Order) error {
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
		"say which":              replay(operate.Order{Filter: operate.Filter{Limit: 5}}),
		"only with force":        replay(operate.Order{Filter: operate.Filter{Status: []event.Status{event.Completed}}}),
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
