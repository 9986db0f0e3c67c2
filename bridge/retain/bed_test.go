package retain_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sfbridge/bridge/event"
	"sfbridge/bridge/retain"
	"sfbridge/salesforce"
	"sfbridge/salesforce/auth"
	"sfbridge/salesforce/simorg"
	"sfbridge/salesforce/soql"
)

const day = 24 * time.Hour

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// bed is a simulated org with a keeper in front of it.
type bed struct {
	t      testing.TB
	client *salesforce.Client
	cfg    retain.Config
	dir    string // of the archive
	slept  []time.Duration
}

func newBed(t testing.TB) *bed {
	t.Helper()
	sim, err := simorg.New(simorg.Config{})
	require.NoError(t, err)
	server := httptest.NewServer(sim.Handler())
	transport := salesforce.NewTransport()
	sessions, err := auth.New(auth.Config{Flow: auth.ClientCredentials, LoginURL: server.URL, ClientID: "sim",
		ClientSecret: "sim", AllowHTTP: true, Transport: transport})
	require.NoError(t, err)
	b := &bed{t: t, dir: filepath.Join(t.TempDir(), "archive")}
	b.client, err = salesforce.New(salesforce.Config{Sessions: sessions, Transport: transport})
	require.NoError(t, err)
	b.cfg = retain.Config{
		Org: b.client, PayloadAfter: 30 * day, RowAfter: 90 * day, ArchiveDir: b.dir, Now: func() time.Time { return noon },
		Sleep: func(_ context.Context, d time.Duration) error { b.slept = append(b.slept, d); return nil },
	}
	t.Cleanup(func() {
		b.client.CloseIdle()
		server.Close()
		_ = sim.Close()
	})
	return b
}

func (b *bed) sweep() retain.Report {
	b.t.Helper()
	k, err := retain.New(b.cfg)
	require.NoError(b.t, err)
	report, err := k.Sweep(b.t.Context())
	require.NoError(b.t, err)
	return report
}

// ev is event n of source shop, completed so many days ago; change says what
// differs.
func ev(n int, days int, change func(*event.Event)) *event.Event {
	e := &event.Event{
		ID: fmt.Sprintf("shop:%d", n), Source: "shop", Type: "charge.updated", ObjectID: fmt.Sprintf("ch_%d", n), Trust: event.SignedBody,
		Status: event.Completed, Outcome: event.Updated, ReceivedAt: noon.Add(-time.Duration(days) * day), History: "staged",
		Payload: []byte(fmt.Sprintf(`{"n":%d}`, n)), Context: []byte(`{"header.x":"1"}`), Hash: event.HashBytes([]byte{byte(n)}),
	}
	e.SourceTime = e.ReceivedAt
	e.HomeQueue = event.HomeQueue(event.ByBridge, e.Entity())
	if change != nil {
		change(e)
	}
	return e
}

func ended(o event.Outcome) func(*event.Event) { return func(e *event.Event) { e.Outcome = o } }

func in(s event.Status) func(*event.Event) {
	return func(e *event.Event) { e.Status, e.Outcome = s, "" }
}

func (b *bed) stage(events ...*event.Event) {
	b.t.Helper()
	for _, e := range events {
		stored, err := event.EncodePayload(e.Payload)
		require.NoError(b.t, err)
		f := e.Insert(stored)
		if e.Status == event.Completed {
			f[event.FieldProcessedAt] = event.FormatTime(e.ReceivedAt)
			f[event.FieldMappingVersion] = "abcdef012345"
		}
		subs := []salesforce.Subrequest{salesforce.InsertRow("e", salesforce.Row{Object: event.Object, Fields: f})}
		for i, data := range stored.Chunks {
			subs = append(subs, salesforce.InsertRow(fmt.Sprintf("c%d", i), salesforce.Row{Object: event.ChunkObject, Fields: map[string]any{
				event.ChunkFieldEvent: "@{e.id}", event.ChunkFieldIndex: i, event.ChunkFieldData: data}}))
		}
		answers, err := b.client.Composite(b.t.Context(), subs, true)
		require.NoError(b.t, err)
		require.True(b.t, salesforce.Committed(answers), "%+v", answers)
		e.RowID = answers[0].Results[0].ID
	}
}

func (b *bed) effect(e *event.Event, name string, status event.EffectStatus) {
	b.t.Helper()
	x := &event.Effect{Key: event.EffectKey(e.ID, name, "k"), EventRow: e.RowID, Name: name, Request: `{"post":{"body":1}}`}
	f := x.Insert()
	f[event.EffectFieldStatus], f[event.EffectFieldResponseCode] = string(status), "HTTP 200"
	f[event.EffectFieldResponse], f[event.EffectFieldHistory] = "to ada@example.com", "sent"
	_, err := b.client.Insert(b.t.Context(), salesforce.Row{Object: event.EffectObject, Fields: f})
	require.NoError(b.t, err)
}

// drop deletes a row of the outbox.
func (b *bed) drop(name string) {
	b.t.Helper()
	id := b.all(event.EffectObject, event.EffectFieldName)[name].ID()
	answers, err := b.client.Composite(b.t.Context(), []salesforce.Subrequest{salesforce.DeleteRows("d", []string{id}, true)}, true)
	require.NoError(b.t, err)
	require.True(b.t, salesforce.Committed(answers))
}

// outbox tells what the rows of the outbox hold of what was sent, by name.
func (b *bed) outbox() map[string]string {
	b.t.Helper()
	told := map[string]string{}
	for name, r := range b.all(event.EffectObject, event.EffectFieldName, event.EffectFieldStatus, event.EffectFieldRequest,
		event.EffectFieldResponseCode, event.EffectFieldResponse, event.EffectFieldHistory) {
		told[name] = strings.Join([]string{
			r.String(event.EffectFieldStatus), r.String(event.EffectFieldRequest), r.String(event.EffectFieldResponseCode),
			r.String(event.EffectFieldResponse), r.String(event.EffectFieldHistory),
		}, "|")
	}
	return told
}

// all reads the rows of an object by the value of a field.
func (b *bed) all(object, key string, fields ...string) map[string]salesforce.Record {
	b.t.Helper()
	text, err := soql.Select(append([]string{"Id", key}, fields...)...).From(object).Build()
	require.NoError(b.t, err)
	records, err := b.client.Query(b.t.Context(), text)
	require.NoError(b.t, err)
	found := map[string]salesforce.Record{}
	for _, r := range records {
		found[r.String(key)] = r
	}
	return found
}

func (b *bed) events() map[string]*event.Event {
	b.t.Helper()
	found := map[string]*event.Event{}
	for id, r := range b.all(event.Object, event.FieldID, event.AllFields()[2:]...) {
		e, err := event.FromRecord(r)
		require.NoError(b.t, err)
		found[id] = e
	}
	return found
}

func (b *bed) restore(change func(*retain.Restoring)) (retain.Restored, error) {
	b.t.Helper()
	r := retain.Restoring{Org: b.client, From: []string{b.dir}, Who: "ada", Reason: "asked for", Now: func() time.Time { return noon }}
	if change != nil {
		change(&r)
	}
	return retain.Restore(b.t.Context(), r)
}
