package reconcile_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"sfbridge/bridge/event"
	"sfbridge/bridge/identify"
	"sfbridge/bridge/outbound"
	"sfbridge/bridge/reconcile"
	"sfbridge/bridge/store"
	"sfbridge/mapping"
	"sfbridge/mapping/path"
	"sfbridge/salesforce"
	"sfbridge/salesforce/auth"
	"sfbridge/salesforce/simorg"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// shopMapping takes charges; the reconcile key is the test's.
const shopMapping = `source: shop
provider: generic
secrets: ["${S}"]
event: {id: $.id, type: $.type, object: $.data.id, order: {from: $.at, as: unix_s}}
reconcile: %s
routes:
  - name: charge
    when: {type: charge.*}
    records:
      - object: Payment__c
        key: {field: Stripe_Charge_Id__c, from: $.data.id}
        order: true
        state: {field: Status__c, allow: {Pending: [Succeeded]}}
        fields:
          Amount__c: {from: $.data.amount, as: number}
          Status__c: $.data.status
          Note__c: $.data.note
`

const whole = `{list: "https://api.example.com/charges", items: "$.data[*]", next: $.next, type: charge.listed, into: $.data, order: {from: "@.updated", as: unix_s}, auth: "Bearer ${KEY}", repair: true}`

// now is the time of the tests; old and young are times of objects.
var (
	now   = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	old   = now.Add(-time.Hour).Unix()
	young = now.Add(-time.Minute).Unix()
)

// provider answers with pages by address.
type provider struct {
	mu    sync.Mutex
	pages map[string]outbound.Response
	asked []string
	auth  []string
	fault func(n int, address string) (outbound.Response, error, bool)
}

func (p *provider) Do(_ context.Context, r outbound.Request) (outbound.Response, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked, p.auth = append(p.asked, r.URL), append(p.auth, r.Header.Get("Authorization"))
	if p.fault != nil {
		if reply, err, faulty := p.fault(len(p.asked), r.URL); faulty {
			return reply, err
		}
	}
	if reply, found := p.pages[r.URL]; found {
		return reply, nil
	}
	return outbound.Response{Status: http.StatusNotFound}, nil
}

func (p *provider) page(address, body string, header ...string) {
	h := http.Header{}
	for i := 0; i+1 < len(header); i += 2 {
		h.Add(header[i], header[i+1])
	}
	p.pages[address] = outbound.Response{Status: http.StatusOK, Header: h, Body: []byte(body)}
}

// memory keeps notes and what else outlives a process.
type memory struct {
	mu    sync.Mutex
	notes map[string][]byte
}

func (m *memory) Get(name string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.notes[name], nil
}

func (m *memory) Put(name string, text []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.notes[name] = text
	return nil
}

type counted struct {
	mu    sync.Mutex
	drift map[string]int
}

func (c *counted) Drift(source, kind string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drift[source+" "+kind] += n
}

type journal struct {
	suspects map[string]int
	done     []string
}

func (j *journal) Suspects() map[string]int { return j.suspects }
func (j *journal) Done(rows []string) error { j.done = append(j.done, rows...); return nil }

// bed is a simulated org, a provider and what a process keeps.
type bed struct {
	t        *testing.T
	client   *salesforce.Client
	provider *provider
	notes    *memory
	metrics  *counted
	journal  *journal
	usage    salesforce.Usage
	staged   []*event.Event
	slept    []time.Duration
	stage    func(e *event.Event) error // nil: into the org
	file     *mapping.File
	maker    reconcile.Maker
	now      time.Time
}

func newBed(t *testing.T, plan string) *bed {
	t.Helper()
	sim, err := simorg.New(simorg.Config{Samples: true, Now: func() time.Time { return now.Add(-time.Hour) }})
	require.NoError(t, err)
	server := httptest.NewServer(sim.Handler())
	transport := salesforce.NewTransport()
	sessions, err := auth.New(auth.Config{Flow: auth.ClientCredentials, LoginURL: server.URL, ClientID: "sim", ClientSecret: "sim", AllowHTTP: true, Transport: transport})
	require.NoError(t, err)
	b := &bed{
		t: t, now: now, provider: &provider{pages: map[string]outbound.Response{}}, notes: &memory{notes: map[string][]byte{}},
		metrics: &counted{drift: map[string]int{}}, journal: &journal{suspects: map[string]int{}},
	}
	b.client, err = salesforce.New(salesforce.Config{Sessions: sessions, Transport: transport})
	require.NoError(t, err)
	t.Cleanup(func() {
		b.client.CloseIdle()
		server.Close()
		_ = sim.Close()
	})
	b.file, err = mapping.Parse("shop.yaml", fmt.Appendf(nil, shopMapping, plan))
	require.NoError(t, err)
	b.maker = identity(t)
	return b
}

func identity(t *testing.T) *identify.Identifier {
	t.Helper()
	read := func(text string, e path.Escaping) path.Template {
		p, err := path.ParsePathOrTemplate(text, e)
		require.NoError(t, err)
		return p
	}
	at, err := path.Parse("$.at")
	require.NoError(t, err)
	i, err := identify.New(identify.Config{Source: "shop", Identity: identify.Identity{
		ID: []path.Template{read("$.id", path.EventID)}, Type: []path.Template{read("$.type", path.Identity)},
		Entities: []identify.Entity{{Object: read("$.data.id", path.Identity), Order: []identify.Order{{Paths: []path.Path{at}, As: identify.UnixSeconds}}}},
	}})
	require.NoError(t, err)
	return i
}

func (b *bed) reconciler(change ...func(*reconcile.Config)) *reconcile.Reconciler {
	b.t.Helper()
	cfg := reconcile.Config{
		Org: b.client, HTTP: b.provider, Notes: b.notes, Journal: b.journal, Leases: store.NewMemoryLeases(nil), Owner: "test",
		Metrics: b.metrics, Rate: 1e6, Now: func() time.Time { return b.now },
		Usage: func() salesforce.Usage { return b.usage },
		Credential: func(source, auth string) (string, bool) {
			return "Bearer s3cret", source == "shop" && auth == "Bearer ${KEY}"
		},
		Comparisons: func() []reconcile.Comparison {
			var list []reconcile.Comparison
			for _, plan := range b.file.Reconciles() {
				list = append(list, reconcile.Comparison{Mapping: b.file, Plan: plan, Maker: b.maker})
			}
			return list
		},
		Stage:       b.stageAll,
		DailyBudget: 0.8,
		Sleep:       func(ctx context.Context, d time.Duration) error { b.slept = append(b.slept, d); return ctx.Err() },
	}
	for _, f := range change {
		f(&cfg)
	}
	r, err := reconcile.New(cfg)
	require.NoError(b.t, err)
	return r
}

func (b *bed) stageAll(_ context.Context, events []*event.Event) []error {
	problems := make([]error, len(events))
	for i, e := range events {
		if b.stage != nil {
			problems[i] = b.stage(e)
		}
		if problems[i] == nil {
			b.staged = append(b.staged, e)
		}
	}
	return problems
}

// once makes the only sweep of the mapping.
func (b *bed) once(r *reconcile.Reconciler) reconcile.Sweep {
	b.t.Helper()
	report := r.Once(b.t.Context(), "")
	require.Len(b.t, report.Sweeps, 1)
	require.Empty(b.t, report.Rows.Problem)
	return report.Sweeps[0]
}

// payment puts a record into the org.
func (b *bed) payment(key string, fields map[string]any) {
	b.t.Helper()
	row := salesforce.Row{Object: "Payment__c", Fields: map[string]any{"Stripe_Charge_Id__c": key, "Source_Event__c": "shop:evt"}}
	for name, v := range fields {
		row.Fields[name] = v
	}
	_, err := b.client.Insert(b.t.Context(), row)
	require.NoError(b.t, err)
}

// row puts a staging row into the org.
func (b *bed) row(e event.Event, fields map[string]any) string {
	b.t.Helper()
	stored, err := event.EncodePayload([]byte(`{}`))
	require.NoError(b.t, err)
	if e.Source == "" {
		e.Source = "shop"
	}
	if e.Status == "" {
		e.Status = event.Received
	}
	if e.ReceivedAt.IsZero() {
		e.ReceivedAt = now.Add(-30 * time.Minute)
	}
	e.HomeQueue = event.HomeQueue(event.ByBridge, e.Entity())
	row := salesforce.Row{Object: event.Object, Fields: e.Insert(stored)}
	for name, v := range fields {
		row.Fields[name] = v
	}
	saved, err := b.client.Insert(b.t.Context(), row)
	require.NoError(b.t, err)
	return saved.ID
}

func (b *bed) read(id string) *event.Event {
	b.t.Helper()
	records, err := b.client.Query(b.t.Context(), "SELECT Id, Event_Id__c, Status__c, Queue__c, Home_Queue__c, History__c, Error_Code__c, Revision__c FROM Inbound_Event__c WHERE Id = '"+id+"'")
	require.NoError(b.t, err)
	require.Len(b.t, records, 1)
	e, err := event.FromRecord(records[0])
	require.NoError(b.t, err)
	return e
}

// charge is an object as the provider lists it.
func charge(id string, amount string, updated int64) string {
	return fmt.Sprintf(`{"id":%q,"amount":%s,"status":"Succeeded","note":null,"updated":%d}`, id, amount, updated)
}

func kinds(list []reconcile.Drift) map[string]reconcile.Kind {
	found := map[string]reconcile.Kind{}
	for _, d := range list {
		found[d.ObjectID+d.Key] = d.Kind
	}
	return found
}
