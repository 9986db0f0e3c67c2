package poll_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/apply"
	"sfbridge/bridge/event"
	"sfbridge/bridge/poll"
	"sfbridge/bridge/store"
	"sfbridge/mapping"
	"sfbridge/salesforce"
	"sfbridge/salesforce/auth"
	"sfbridge/salesforce/simorg"
	"sfbridge/salesforce/simorg/fault"
)

const shop = `
source: shop
provider: stripe
secrets: ["${S}"]
routes:
  - name: charge
    when: {type: charge.updated}
    records:
      - object: Payment__c
        key: {field: Stripe_Charge_Id__c, from: $.id}
        order: true
        fields:
          Note__c: $.note
`

// works is an org with everything that works on its staged events.
type works struct {
	mappings
	t       *testing.T
	url     string
	sim     *simorg.Server
	client  *salesforce.Client
	settled *settled
}

func newWorks(t *testing.T) *works {
	t.Helper()
	sim, err := simorg.New(simorg.Config{Samples: true})
	require.NoError(t, err)
	server := httptest.NewServer(sim.Handler())
	client, err := dial(server.URL)
	require.NoError(t, err)
	file, err := mapping.Parse("shop.yaml", []byte(shop))
	require.NoError(t, err)
	t.Cleanup(func() {
		client.CloseIdle()
		server.Close()
		_ = sim.Close()
	})
	return &works{t: t, url: server.URL, sim: sim, client: client, mappings: mappings{file}, settled: newSettled()}
}

func dial(url string) (*salesforce.Client, error) {
	transport := salesforce.NewTransport()
	sessions, err := auth.New(auth.Config{Flow: auth.ClientCredentials, LoginURL: url, ClientID: "sim",
		ClientSecret: "sim", AllowHTTP: true, Transport: transport})
	if err != nil {
		return nil, err
	}
	return salesforce.New(salesforce.Config{Sessions: sessions, Transport: transport})
}

// mappings is the mapping of the one source there is.
type mappings struct{ file *mapping.File }

func (m mappings) Mapping(source string) (*mapping.File, bool) {
	return m.file, source == m.file.Source
}

func newApplier(client *salesforce.Client, m mappings) (*apply.Applier, error) {
	return apply.New(apply.Config{
		Org: client, Mappings: m, Now: time.Now, Intn: rand.Int64N, Float: rand.Float64,
		Backoff: event.Backoff{Base: time.Millisecond, Max: 10 * time.Millisecond},
		Sleep:   func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	})
}

// settled counts the events that were moved on and tells when a number is
// reached.
type settled struct {
	mu       sync.Mutex
	outcomes map[string]int
	bell     chan struct{}
}

func newSettled() *settled {
	return &settled{outcomes: map[string]int{}, bell: make(chan struct{}, 1)}
}

func (s *settled) Due(int, time.Time) {}
func (s *settled) Review(int)         {}

func (s *settled) Event(_, outcome string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.outcomes[outcome]++
	select {
	case s.bell <- struct{}{}:
	default:
	}
}

// total is the number of events that came to an end.
func (s *settled) total() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for outcome, count := range s.outcomes {
		if outcome != string(event.Retryable) {
			n += count
		}
	}
	return n
}

// poller is one process. Its pace is the default one unless change makes it
// faster.
func (w *works) poller(owner string, change func(*poll.Config)) *poll.Poller {
	w.t.Helper()
	applier, err := newApplier(w.client, w.mappings)
	require.NoError(w.t, err)
	s, err := store.Open(store.Config{Dir: w.t.TempDir()})
	require.NoError(w.t, err)
	w.t.Cleanup(func() { assert.NoError(w.t, s.Close()) })
	c := poll.Config{
		Org: w.client, Applier: applier, Journal: s.Journal(), Leases: store.NewMemoryLeases(nil), Owner: owner, Metrics: w.settled,
	}
	change(&c)
	p, err := poll.New(c)
	require.NoError(w.t, err)
	return p
}

func normal(*poll.Config) {}

func fast(c *poll.Config) {
	c.Interval, c.Idle = 20*time.Millisecond, 50*time.Millisecond
	c.Backoff = event.Backoff{Base: time.Millisecond, Max: 10 * time.Millisecond}
}

// stage inserts versions 1 to n of every object.
func (w *works) stage(objects, versions int) {
	w.t.Helper()
	var rows []salesforce.Row
	for version := 1; version <= versions; version++ {
		for o := range objects {
			object := fmt.Sprintf("ch_%d", o)
			order := int64(version)
			e := event.Event{
				ID: fmt.Sprintf("shop:%s.v%d", object, version), Source: "shop", Type: "charge.updated", ObjectID: object,
				Order: &order, Status: event.Received, SourceTime: time.Now(), ReceivedAt: time.Now(), Trust: event.SignedBody,
			}
			e.HomeQueue = event.HomeQueue(event.ByBridge, e.Entity())
			stored, err := event.EncodePayload(fmt.Appendf(nil, `{"id":%q,"note":"version %d"}`, object, version))
			require.NoError(w.t, err)
			rows = append(rows, salesforce.Row{Object: event.Object, Fields: e.Insert(stored)})
		}
	}
	rand.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	for start := 0; start < len(rows); start += 200 {
		results, err := w.client.InsertAll(w.t.Context(), rows[start:min(start+200, len(rows))], true)
		require.NoError(w.t, err)
		require.True(w.t, results[0].Success)
	}
}

// finished checks that every object stands at its last version and that no
// event is open.
func (w *works) finished(objects, versions int) {
	w.t.Helper()
	payments := w.sim.Rows("Payment__c")
	assert.Len(w.t, payments, objects)
	for _, p := range payments {
		require.Equal(w.t, fmt.Sprintf("version %d", versions), p["Note__c"], p["Stripe_Charge_Id__c"])
	}
	for _, e := range w.sim.Rows(event.Object) {
		require.Equal(w.t, "Completed", e[event.FieldStatus], "%v: %v", e[event.FieldID], e[event.FieldHistory])
		require.Equal(w.t, "0", fmt.Sprint(e[event.FieldAttempts]), "%v", e[event.FieldID])
	}
}

func TestBurstEndsAsRecordsWithinTheBudget(t *testing.T) {
	t.Parallel()
	w := newWorks(t)
	const events = 2000
	w.stage(events, 1)
	before := w.sim.Stats().APICalls.Total
	patient := func(c *poll.Config) { c.Interval, c.Idle = time.Hour, time.Hour } // however slow the machine is
	require.NoError(t, w.poller("one", patient).RunOnce(t.Context()))
	w.finished(events, 1)
	calls := w.sim.Stats().APICalls.Total - before + events/200
	assert.LessOrEqual(t, float64(calls)/events, 0.025, "%d calls: %v", calls, w.sim.Stats().APICalls.ByOperation)
}

func TestVersionsOfOneObjectGoInOrder(t *testing.T) {
	t.Parallel()
	w := newWorks(t)
	w.stage(20, 12)
	require.NoError(t, w.poller("one", normal).RunOnce(t.Context()))
	w.finished(20, 12)
	assert.Equal(t, map[string]int{"Created": 20, "Updated": 220}, w.settled.outcomes)
}

// Two processes without a common store, with failures of every kind of call.
func TestTwoPollersAndAFailingOrg(t *testing.T) {
	t.Parallel()
	w := newWorks(t)
	const objects, versions = 60, 5
	w.stage(objects, versions)
	for i, kind := range []fault.Kind{fault.DropAfter, fault.Unavailable, fault.HTML503, fault.DropBefore, fault.Truncated,
		fault.Malformed, fault.ExpireSession, fault.HTML200} {
		w.sim.AddFaults(fault.Fault{Operation: fault.Composite, Kind: kind, After: 2 * i, Times: 1},
			fault.Fault{Operation: fault.Query, Kind: kind, After: 3 * i, Times: 1})
	}
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	var pollers sync.WaitGroup
	for _, owner := range []string{"one", "two"} {
		p := w.poller(owner, fast)
		pollers.Go(func() { assert.NoError(t, p.Run(ctx)) })
	}
	for w.settled.total() < objects*versions && ctx.Err() == nil {
		select {
		case <-w.settled.bell:
		case <-ctx.Done():
		}
		if open(w) == 0 {
			break // what the other one's lost reply hides
		}
	}
	stop()
	pollers.Wait()
	w.finished(objects, versions)
}

func open(w *works) int {
	n := 0
	for _, e := range w.sim.Rows(event.Object) {
		if e[event.FieldQueue] != nil {
			n++
		}
	}
	return n
}
