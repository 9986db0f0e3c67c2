package effect_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sfbridge/bridge/effect"
	"sfbridge/bridge/event"
	"sfbridge/bridge/outbound"
	"sfbridge/bridge/store"
	"sfbridge/salesforce"
	"sfbridge/salesforce/auth"
	"sfbridge/salesforce/simorg"
	"sfbridge/salesforce/soql"
)

// bed is a simulated org with a worker in front of it, and a receiver that
// writes down what it gets.
type bed struct {
	t       testing.TB
	ctx     context.Context
	org     *simorg.Server
	client  *salesforce.Client
	cfg     effect.Config
	worker  *effect.Worker
	now     time.Time
	receipt *receiver
	counts  counts
}

const url = "https://hooks.example.com/receipt"

func newBed(t testing.TB, change ...func(*simorg.Config)) *bed {
	t.Helper()
	b := &bed{t: t, ctx: context.Background(), now: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC), receipt: &receiver{}, counts: counts{}}
	cfg := simorg.Config{Samples: true}
	for _, c := range change {
		c(&cfg)
	}
	org, err := simorg.New(cfg)
	require.NoError(t, err)
	server := httptest.NewServer(org.Handler())
	t.Cleanup(func() {
		server.Close()
		_ = org.Close()
	})
	transport := salesforce.NewTransport()
	sessions, err := auth.New(auth.Config{
		Flow: auth.ClientCredentials, LoginURL: server.URL, ClientID: "sim", ClientSecret: "sim", AllowHTTP: true, Transport: transport,
	})
	require.NoError(t, err)
	client, err := salesforce.New(salesforce.Config{Sessions: sessions, Transport: transport})
	require.NoError(t, err)
	t.Cleanup(client.CloseIdle)
	b.org, b.client = org, client
	b.cfg = effect.Config{
		Org: client, Targets: b, HTTP: b.receipt, Leases: store.NewMemoryLeases(nil), Owner: "test", Metrics: b.counts,
		MaxAttempts: 3, Backoff: event.Backoff{Base: 10 * time.Second, Max: time.Hour},
		Now: func() time.Time { return b.now }, Random: func() float64 { return 0.5 }, IntN: rand.Int64N,
		Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	}
	b.worker = b.make(b.cfg)
	return b
}

func (b *bed) make(c effect.Config) *effect.Worker {
	b.t.Helper()
	w, err := effect.New(c)
	require.NoError(b.t, err)
	return w
}

// EffectTarget knows every effect but "unknown".
func (b *bed) EffectTarget(source, name string) (effect.Target, bool) {
	return effect.Target{URL: url, Key: []byte("key of " + source)}, name != "unknown"
}

// counts are the metrics.
type counts map[string]int

func (c counts) Effect(result string)         { c["effect "+result]++ }
func (c counts) Event(source, outcome string) { c["event "+outcome]++ }

// receiver answers as it is told and remembers what came, by key.
type receiver struct {
	mu     sync.Mutex
	got    []outbound.Request
	answer func(outbound.Request) (outbound.Response, error)
}

func (r *receiver) Do(_ context.Context, req outbound.Request) (outbound.Response, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.got = append(r.got, req)
	if r.answer != nil {
		return r.answer(req)
	}
	return outbound.Response{Status: 200, Body: []byte("thanks")}, nil
}

func (r *receiver) keys() map[string]int {
	out := map[string]int{}
	for _, req := range r.got {
		out[req.Header.Get("Idempotency-Key")]++
	}
	return out
}

func status(code int, header ...string) func(outbound.Request) (outbound.Response, error) {
	h := http.Header{}
	for i := 0; i+1 < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return func(outbound.Request) (outbound.Response, error) {
		return outbound.Response{Status: code, Header: h, Body: []byte("because")}, nil
	}
}

const post = `{"post":{"body":{"charge":"ch_1"}}}`

// applied stages an event that is Applied, with effects of these names and
// requests.
func (b *bed) applied(id string, effects map[string]string) {
	b.t.Helper()
	home := event.HomeQueue(event.ByBridge, "shop:"+id)
	row := event.Event{ID: "shop:" + id, Source: "shop", Status: event.Applied, Outcome: event.Created, HomeQueue: home,
		History: "staged", ReceivedAt: b.now, Trust: event.SignedBody}
	fields := row.Insert(event.StoredPayload{Encoding: event.Plain})
	saved, err := b.client.Insert(b.ctx, salesforce.Row{Object: event.Object, Fields: fields})
	require.NoError(b.t, err)
	for name, request := range effects {
		e := event.Effect{Key: event.EffectKey("shop:"+id, name, "ch_1"), EventRow: saved.ID, Name: name, Queue: home, Request: request}
		_, err := b.client.Insert(b.ctx, salesforce.Row{Object: event.EffectObject, Fields: e.Insert()})
		require.NoError(b.t, err)
	}
}

func (b *bed) run() {
	b.t.Helper()
	require.NoError(b.t, b.worker.RunOnce(b.ctx))
}

func (b *bed) event(id string) *event.Event {
	b.t.Helper()
	rows := b.rows(soql.Select(event.AllFields()...).From(event.Object).Where(soql.Eq(event.FieldID, "shop:"+id)))
	require.Len(b.t, rows, 1)
	e, err := event.FromRecord(rows[0])
	require.NoError(b.t, err)
	return e
}

func (b *bed) effect(key string) *event.Effect {
	b.t.Helper()
	rows := b.rows(soql.Select(event.EffectFields()...).From(event.EffectObject).Where(soql.Eq(event.EffectFieldKey, key)))
	require.Len(b.t, rows, 1)
	e, err := event.EffectFromRecord(rows[0])
	require.NoError(b.t, err)
	return e
}

func (b *bed) rows(q *soql.Query) []salesforce.Record {
	b.t.Helper()
	text, err := q.Build()
	require.NoError(b.t, err)
	rows, err := b.client.Query(b.ctx, text)
	require.NoError(b.t, err)
	return rows
}

func (b *bed) update(object, id string, fields map[string]any) {
	b.t.Helper()
	_, err := b.client.Update(b.ctx, salesforce.Row{Object: object, ID: id, Fields: fields})
	require.NoError(b.t, err)
}

func record(object, keyField, key string, fields map[string]any) string {
	text, _ := json.Marshal(map[string]any{"salesforce": map[string]any{
		"object": object, "key": map[string]any{"field": keyField, "value": key}, "fields": fields,
	}})
	return string(text)
}

func ids(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("e%03d", i)
	}
	return out
}
