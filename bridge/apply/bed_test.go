package apply_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sfbridge/bridge/apply"
	"sfbridge/bridge/event"
	"sfbridge/mapping"
	"sfbridge/salesforce"
	"sfbridge/salesforce/auth"
	"sfbridge/salesforce/simorg"
	"sfbridge/salesforce/simorg/fault"
	"sfbridge/salesforce/soql"
)

// bed is a simulated org with an applier in front of it.
type bed struct {
	t       testing.TB
	ctx     context.Context
	org     *simorg.Server
	url     string
	stop    func() // ends the org's server when its work in flight is done
	client  *salesforce.Client
	applier *apply.Applier
	workers []*apply.Applier // of tests with several
	now     time.Time
	files   map[string]*mapping.File
	taken   int // staged events so far
}

type bedConfig struct {
	org   simorg.Config
	apply apply.Config
	wrap  func(apply.Org) apply.Org
}

func newBed(t testing.TB, mappings string, change ...func(*bedConfig)) *bed {
	t.Helper()
	b := &bed{t: t, ctx: context.Background(), now: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC), files: map[string]*mapping.File{}}
	b.maps(mappings)
	cfg := bedConfig{org: simorg.Config{Samples: true}}
	for _, c := range change {
		c(&cfg)
	}
	org, err := simorg.New(cfg.org)
	require.NoError(t, err)
	server := httptest.NewServer(org.Handler())
	b.org, b.url, b.stop = org, server.URL, server.Close
	t.Cleanup(func() {
		server.Close()
		_ = org.Close()
	})
	b.client = b.newClient(0)
	b.applier = b.newApplier(cfg)
	return b
}

// newClient makes a client with a login of its own; a timeout of 0 is the
// standard one.
func (b *bed) newClient(timeout time.Duration) *salesforce.Client {
	b.t.Helper()
	transport := salesforce.NewTransport()
	sessions, err := auth.New(auth.Config{
		Flow: auth.ClientCredentials, LoginURL: b.url, ClientID: "sim", ClientSecret: "sim", AllowHTTP: true, Transport: transport,
	})
	require.NoError(b.t, err)
	client, err := salesforce.New(salesforce.Config{Sessions: sessions, Transport: transport, Timeout: timeout})
	require.NoError(b.t, err)
	b.t.Cleanup(client.CloseIdle)
	return client
}

func (b *bed) newApplier(cfg bedConfig) *apply.Applier {
	b.t.Helper()
	c := cfg.apply
	c.Org = b.client
	if cfg.wrap != nil {
		c.Org = cfg.wrap(b.client)
	}
	c.Mappings = b
	c.Now = func() time.Time { return b.now }
	c.Intn, c.Float = rand.Int64N, rand.Float64
	c.Sleep = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	a, err := apply.New(c)
	require.NoError(b.t, err)
	return a
}

// Mapping gives the mapping of a source.
func (b *bed) Mapping(source string) (*mapping.File, bool) {
	f, known := b.files[source]
	return f, known
}

func (b *bed) maps(text string) {
	b.t.Helper()
	f, err := mapping.Parse("mapping.yaml", []byte(text))
	require.NoError(b.t, err)
	b.files[f.Source] = f
}

// ev is an event to stage: source "shop", received now.
type ev struct {
	id, kind, object string
	order            int64 // 0: none
	payload          string
	received         time.Duration
	change           map[string]any
}

// charge is an event about a payment of the samples.
func charge(id, object string, order int64, status string) ev {
	return ev{id: id, kind: "charge.updated", object: object, order: order,
		payload: fmt.Sprintf(`{"id":%q,"status":%q,"note":%q}`, object, status, id)}
}

func (e ev) with(change map[string]any) ev {
	payload := map[string]any{}
	_ = json.Unmarshal([]byte(e.payload), &payload)
	for k, v := range change {
		payload[k] = v
	}
	text, _ := json.Marshal(payload)
	e.payload = string(text)
	return e
}

func (b *bed) stage(events ...ev) {
	b.t.Helper()
	rows := make([]salesforce.Row, len(events))
	for i, e := range events {
		b.taken++
		row := event.Event{
			ID: "shop:" + e.id, Source: "shop", Type: e.kind, ObjectID: e.object, Status: event.Received,
			HomeQueue:  event.HomeQueue(event.ByBridge, event.Entity("shop", e.object, "shop:"+e.id)),
			SourceTime: b.now, ReceivedAt: b.now.Add(-e.received), Trust: event.SignedBody,
		}
		if e.order != 0 {
			row.Order = &e.order
		}
		stored, err := event.EncodePayload([]byte(e.payload))
		require.NoError(b.t, err)
		fields := row.Insert(stored)
		for name, value := range e.change {
			fields[name] = value
		}
		rows[i] = salesforce.Row{Object: event.Object, Fields: fields}
	}
	results, err := b.client.InsertAll(b.ctx, rows, true)
	require.NoError(b.t, err)
	for _, r := range results {
		require.True(b.t, r.Success, "%+v", r.Errors)
	}
}

// due reads the open rows as a poller would.
func (b *bed) due() []*event.Event {
	b.t.Helper()
	events, err := b.tryDue()
	require.NoError(b.t, err)
	return events
}

func (b *bed) tryDue() ([]*event.Event, error) {
	text, err := soql.Select(event.AllFields()...).From(event.Object).
		Where(soql.In(event.FieldStatus, []string{string(event.Received), string(event.Retryable)})).
		OrderBy(event.FieldSourceTime, "Id").Limit(apply.MaxBatch).Build()
	if err != nil {
		return nil, err
	}
	records, err := b.client.Query(b.ctx, text)
	if err != nil {
		return nil, err
	}
	events := make([]*event.Event, len(records))
	for i, r := range records {
		if events[i], err = event.FromRecord(r); err != nil {
			return nil, err
		}
	}
	return events, nil
}

// apply applies what is due.
func (b *bed) apply() apply.Report {
	b.t.Helper()
	report, err := b.applier.Apply(b.ctx, b.due())
	require.NoError(b.t, err)
	return report
}

// event reads one staging row.
func (b *bed) event(id string) *event.Event {
	b.t.Helper()
	text, err := soql.Select(event.AllFields()...).From(event.Object).Where(soql.Eq(event.FieldID, "shop:"+id)).Build()
	require.NoError(b.t, err)
	records, err := b.client.Query(b.ctx, text)
	require.NoError(b.t, err)
	require.Len(b.t, records, 1, id)
	e, err := event.FromRecord(records[0])
	require.NoError(b.t, err)
	return e
}

// ended is "Status Outcome Code" of a row, without what is empty.
func (b *bed) ended(id string) string {
	b.t.Helper()
	e := b.event(id)
	text := string(e.Status)
	for _, part := range []string{string(e.Outcome), e.ErrorCode} {
		if part != "" {
			text += " " + part
		}
	}
	return text
}

// records reads all rows of an object by their key.
func (b *bed) records(object, key string, fields ...string) map[string]salesforce.Record {
	b.t.Helper()
	text, err := soql.Select(append([]string{"Id", key}, fields...)...).From(object).Build()
	require.NoError(b.t, err)
	rows, err := b.client.Query(b.ctx, text)
	require.NoError(b.t, err)
	out := map[string]salesforce.Record{}
	for _, r := range rows {
		require.NotContains(b.t, out, r.String(key), "one key twice")
		out[r.String(key)] = r
	}
	return out
}

func (b *bed) payments() map[string]salesforce.Record {
	b.t.Helper()
	return b.records("Payment__c", "Stripe_Charge_Id__c", "Status__c", "Note__c", "Amount__c", "Customer__c",
		"Source_Order__c", "Source_Event__c", "Source_Prior__c")
}

// calls counts the API calls that a piece of work makes.
func (b *bed) calls(work func()) int {
	before := b.org.Stats().APICalls.Total
	work()
	return b.org.Stats().APICalls.Total - before
}

func (b *bed) plant(faults ...fault.Fault) {
	b.t.Helper()
	for i := range faults {
		if faults[i].Times == 0 {
			faults[i].Times = 1
		}
		require.NoError(b.t, faults[i].Validate())
	}
	b.org.AddFaults(faults...)
}

const shop = `
source: shop
provider: stripe
secrets: ["${S}"]
routes:
  - name: customer
    when: {type: customer.updated}
    records:
      - object: Customer__c
        key: {field: Stripe_Customer_Id__c, from: $.id}
        order: true
        fields: {Email__c: $.email}
  - name: charge
    when: {type: charge.updated}
    records:
      - object: Payment__c
        key: {field: Stripe_Charge_Id__c, from: $.id}
        order: true
        state: {field: Status__c, allow: {Pending: [Succeeded, Failed], Succeeded: [Refunded]}}
        fields:
          Status__c: $.status
          Note__c: $.note
          Amount__c: {from: $.amount, as: number}
          Customer__r: {lookup: Customer__c, by: Stripe_Customer_Id__c, from: $.customer}
  - {name: ping, when: {type: ping}, ignore: true}
`
