package poll

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/event"
	"sfbridge/salesforce"
	"sfbridge/salesforce/auth"
	"sfbridge/salesforce/simorg"
	"sfbridge/salesforce/simorg/fault"
)

// bed is a simulated org with rows to read.
type bed struct {
	*rows
	t      *testing.T
	sim    *simorg.Server
	client *salesforce.Client
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
	client, err := salesforce.New(salesforce.Config{Sessions: sessions, Transport: transport})
	require.NoError(t, err)
	t.Cleanup(func() {
		client.CloseIdle()
		server.Close()
		_ = sim.Close()
	})
	r := &rows{org: client, timeout: time.Minute, maxBytes: maxPayload, now: func() time.Time { return noon }}
	return &bed{rows: r, t: t, sim: sim, client: client}
}

// stage inserts rows with a payload, and what change says beyond an insert.
func (b *bed) stage(payload string, change map[string]any, events ...*event.Event) {
	b.t.Helper()
	stored, err := event.EncodePayload([]byte(payload))
	require.NoError(b.t, err)
	for start := 0; start < len(events); start += 200 {
		var batch []salesforce.Row
		for _, e := range events[start:min(start+200, len(events))] {
			fields := e.Insert(stored)
			for name, value := range change {
				fields[name] = value
			}
			if !e.NextAttempt.IsZero() {
				fields[event.FieldNextAttempt] = event.FormatTime(e.NextAttempt)
			}
			if e.Queue != e.HomeQueue {
				fields[event.FieldQueue] = e.Queue
			}
			batch = append(batch, salesforce.Row{Object: event.Object, Fields: fields})
		}
		results, err := b.client.InsertAll(b.t.Context(), batch, true)
		require.NoError(b.t, err)
		for i, r := range results {
			require.True(b.t, r.Success, "%+v", r.Errors)
			events[start+i].RowID = r.ID
		}
	}
}

var allQueues = Config{}.withDefaults().Queues

func (b *bed) mustAsk(q question) answer {
	b.t.Helper()
	q.queues, q.now = allQueues, noon
	a, err := b.ask(b.t.Context(), q)
	require.NoError(b.t, err)
	return a
}

func eventIDs(events []*event.Event) []string {
	ids := []string{}
	for _, e := range events {
		ids = append(ids, e.ID)
	}
	return ids
}

func TestAsk(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	old := retryable(row("a", 1), event.CodeLock)
	old.NextAttempt = noon.Add(-time.Second)
	soon, late := retryable(row("b", 2), event.CodeLock), retryable(row("c", 3), event.CodeParent)
	soon.NextAttempt = noon.Add(time.Minute)
	sister := row("d", 4)
	sister.Queue = event.SisterQueue(sister.Queue)
	review := row("e", 5)
	review.Status = event.Review
	fresh := row("f", 0)
	b.stage("{}", nil, old, soon, late, sister, fresh)
	b.stage("{}", nil, review)
	before := b.sim.Stats().APICalls.Total

	a := b.mustAsk(question{count: true})
	assert.Equal(t, []string{fresh.ID, old.ID}, eventIDs(a.due), "in the order of their source time")
	assert.ElementsMatch(t, []string{soon.ID, late.ID, sister.ID}, eventIDs(a.waiting))
	assert.Equal(t, soon.NextAttempt, a.nextDue)
	assert.Equal(t, 2, a.total)
	assert.False(t, a.cut)
	assert.Equal(t, 1, b.sim.Stats().APICalls.Total-before, "one call for all queues")
	assert.Empty(t, a.due[0].Payload)

	n, err := b.reviews(t.Context())
	require.NoError(t, err)
	assert.Equal(t, 1, n)
}

func TestAskPageByPage(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	const total = pageLimit + 300
	events := many(total)
	for i, e := range events {
		e.SourceTime = noon.Add(time.Duration(i/900) * time.Second) // many at the same time
		order := e.SourceTime.UnixMilli()
		e.Order = &order
	}
	events[0].SourceTime = time.Time{}
	b.stage("{}", nil, events...)

	first := b.mustAsk(question{count: true})
	require.Len(t, first.due, pageLimit)
	assert.True(t, first.cut)
	assert.Equal(t, total, first.total)
	assert.Equal(t, events[0].ID, first.due[0].ID, "without a source time it comes first")
	second := b.mustAsk(question{after: first.due[pageLimit-1]})
	assert.True(t, second.further)
	assert.Len(t, second.due, total-pageLimit)
	seen := map[string]bool{}
	for _, e := range append(first.due, second.due...) {
		seen[e.ID] = true
	}
	assert.Len(t, seen, total, "no row twice, none left out")
	assert.Len(t, b.mustAsk(question{after: first.due[0]}).due, pageLimit)
}

// An event whose order is a version waits for an earlier version that was
// received later, even when that one lies behind the page.
func TestAskLooksBehindThePage(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	events := many(pageLimit)
	for _, e := range events {
		order := e.SourceTime.UnixMilli()
		e.Order = &order
	}
	version := func(n int64, received time.Duration) *event.Event {
		e := row("versioned", n)
		e.SourceTime = noon.Add(received)
		return e
	}
	two, one, three := version(2, -time.Second), version(1, time.Hour), version(3, time.Hour)
	b.stage("{}", nil, append(events, two, one, three)...)

	a := b.mustAsk(question{})
	assert.Equal(t, two.ID, a.due[0].ID)
	assert.ElementsMatch(t, []string{one.ID, three.ID}, eventIDs(a.behind))
	l := newBacklog()
	l.merge(a)
	assert.NotContains(t, eventIDs(l.take(noon, 2*pageLimit, never)), two.ID)
}

func TestAskFails(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.sim.AddFaults(fault.Fault{Operation: fault.Query, Kind: fault.Limit})
	_, err := b.ask(t.Context(), question{queues: allQueues, now: noon})
	assert.Equal(t, salesforce.ClassLimit, salesforce.ClassOf(err))
}

func TestLoad(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	plain, moved, later := row("a", 1), row("b", 2), row("c", 3)
	b.stage(`{"n":1.50}`, nil, plain, moved, later)
	b.update(moved, map[string]any{event.FieldStatus: "Completed", event.FieldQueue: nil})
	b.update(later, map[string]any{event.FieldNextAttempt: noon.Add(time.Hour), event.FieldStatus: "Retryable"})

	l, err := b.load(t.Context(), []*event.Event{later, plain, moved})
	require.NoError(t, err)
	require.Equal(t, []string{plain.ID}, eventIDs(l.events))
	assert.Equal(t, `{"n":1.50}`, string(l.events[0].Payload))
	assert.Equal(t, []string{later.ID, moved.ID}, eventIDs(l.moved))
	assert.True(t, l.moved[0].HoldsBack(), "it is open, and not due any more")
	assert.False(t, l.moved[1].Open())
	assert.Empty(t, l.rest)

	open, err := b.open(t.Context(), rowIDs([]*event.Event{plain, moved, later}))
	require.NoError(t, err)
	assert.Equal(t, map[string]bool{plain.RowID: true, later.RowID: true}, open)
}

func (b *bed) update(e *event.Event, fields map[string]any) {
	b.t.Helper()
	fields[event.FieldExpectedRevision] = 1
	fields[event.FieldRevision] = 2
	_, err := b.client.Update(b.t.Context(), salesforce.Row{Object: event.Object, ID: e.RowID, Fields: fields})
	require.NoError(b.t, err)
}

func TestLoadStopsAtTheByteLimit(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	batch := []*event.Event{row("a", 1), row("b", 2), row("c", 3), row("a", 4)}
	b.stage(strings.Repeat("x", 1000), nil, batch...)
	b.maxBytes = 2500
	l, err := b.load(t.Context(), batch)
	require.NoError(t, err)
	assert.Equal(t, eventIDs(batch[:2]), eventIDs(l.events))
	assert.Equal(t, eventIDs(batch[2:]), eventIDs(l.rest))

	b.maxBytes = 1
	l, err = b.load(t.Context(), batch)
	require.NoError(t, err)
	assert.Equal(t, eventIDs(batch[:1]), eventIDs(l.events), "one is read whatever its size")
}

// What could not be read holds back what comes after it.
func TestSortOutKeepsTheOrderOfTheEntity(t *testing.T) {
	t.Parallel()
	first, second, other := row("a", 1), row("a", 2), row("b", 3)
	l := sortOut([]*event.Event{first, second, other}, reading{
		fresh: map[string]*event.Event{second.RowID: second, other.RowID: other}, cut: true, now: noon,
	})
	assert.Equal(t, eventIDs([]*event.Event{first, second}), eventIDs(l.rest))
	assert.Equal(t, []string{other.ID}, eventIDs(l.events))
}

func TestLoadJoinsChunks(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	raw := []byte(`{"text":"` + strings.Repeat("large ", 40_000) + `"}`)
	whole, broken, empty := row("a", 1), row("b", 2), row("c", 3)
	batch := []*event.Event{whole, broken, empty}
	b.stage(string(raw), nil, batch...)
	stored, err := event.EncodePayload(raw)
	require.NoError(t, err)
	require.Greater(t, len(stored.Chunks), 2)
	b.chunks(whole, stored.Chunks, 0)
	b.chunks(broken, stored.Chunks[1:], 1)

	l, err := b.load(t.Context(), batch)
	require.NoError(t, err)
	require.Equal(t, []string{whole.ID}, eventIDs(l.events))
	assert.Equal(t, raw, l.events[0].Payload)
	require.Len(t, l.broken, 2)
	assert.ErrorContains(t, l.broken[0].err, "chunk 1 stands where chunk 0 is expected")
	assert.ErrorContains(t, l.broken[1].err, "missing")
}

func (b *bed) chunks(e *event.Event, parts []string, first int) {
	b.t.Helper()
	for i, part := range parts {
		_, err := b.client.Insert(b.t.Context(), salesforce.Row{Object: event.ChunkObject, Fields: map[string]any{
			event.ChunkFieldEvent: e.RowID, event.ChunkFieldIndex: first + i, event.ChunkFieldData: part,
		}})
		require.NoError(b.t, err)
	}
}

func TestLoadFails(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	e := row("a", 1)
	b.stage("{}", nil, e)
	b.sim.AddFaults(fault.Fault{Operation: fault.Query, Kind: fault.Unavailable})
	_, err := b.load(t.Context(), []*event.Event{e})
	assert.Equal(t, salesforce.ClassRetryable, salesforce.ClassOf(err))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = b.load(ctx, []*event.Event{e})
	assert.True(t, errors.Is(err, context.Canceled), fmt.Sprint(err))
}

// Rows that can't be read go to a person, with the revision they were read at.
func TestUnreadableRowsGoToReview(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	bad, raced := row("a", 1), row("b", 2)
	b.stage("ok", map[string]any{event.FieldEncoding: "Base64", event.FieldPayload: "no base64!"}, bad, raced)
	l := &lane{cfg: Config{Org: b.client}.withDefaults(), rows: b.rows}
	read, err := b.load(t.Context(), []*event.Event{bad, raced})
	require.NoError(t, err)
	require.Len(t, read.broken, 2)
	b.update(raced, map[string]any{event.FieldAttempts: 1})

	out := l.setAside(t.Context(), read.broken)
	require.NoError(t, out.err)
	assert.True(t, out.fates[0].ended)
	assert.False(t, out.fates[1].ended, "somebody moved it on: read again")
	found, err := b.outline(t.Context(), []*event.Event{bad, raced})
	require.NoError(t, err)
	assert.Equal(t, event.Review, found[0].Status)
	assert.Equal(t, event.CodeUnreadable, found[0].ErrorCode)
	assert.Empty(t, found[0].Queue)
	assert.Contains(t, found[0].History, "Received -> Review by bridge: UNREADABLE: ")
	assert.Greater(t, found[0].Revision, int64(1))
	assert.Equal(t, event.Received, found[1].Status)
}
