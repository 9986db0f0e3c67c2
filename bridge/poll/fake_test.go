package poll

import (
	"context"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sfbridge/bridge/apply"
	"sfbridge/bridge/event"
	"sfbridge/bridge/store"
	"sfbridge/salesforce"
)

// fakeOrg is the staging table, the applier and the journal of a poller under
// test. Every call takes latency.
type fakeOrg struct {
	latency time.Duration
	onApply func(batch []*event.Event) (apply.Report, error) // nil: all are Completed, Created

	mu       sync.Mutex
	failures []error // of the next calls, whatever they are
	applying int     // batches
	seen
}

// seen is what a fakeOrg holds and has met.
type seen struct {
	rows     map[string]*event.Event
	calls    int
	asked    []time.Time // due queries
	loads    int         // payload queries
	batches  [][]string
	mostWork int // rows in the journal when a transaction began
	most     int // batches at once
	inWork   map[string]bool
	crashes  map[string]int
	alone    map[string]bool // rows that ran while nothing else did
	outcomes map[string]int
	review   int
	due      int       // as the metrics were told last
	oldest   time.Time // and when the oldest of them was received
}

// see returns a copy of what the fake holds and has met.
func (o *fakeOrg) see() seen {
	o.mu.Lock()
	defer o.mu.Unlock()
	s := o.seen
	s.rows = map[string]*event.Event{}
	for id, e := range o.rows {
		c := *e
		s.rows[id] = &c
	}
	s.asked, s.batches = slices.Clone(o.asked), slices.Clone(o.batches)
	s.inWork, s.crashes = maps.Clone(o.inWork), maps.Clone(o.crashes)
	s.alone, s.outcomes = maps.Clone(o.alone), maps.Clone(o.outcomes)
	return s
}

// count counts the rows in a state.
func (s seen) count(status event.Status) int {
	n := 0
	for _, e := range s.rows {
		if e.Status == status {
			n++
		}
	}
	return n
}

func newFakeOrg(rows ...*event.Event) *fakeOrg {
	o := &fakeOrg{latency: 100 * time.Millisecond, seen: seen{
		rows: map[string]*event.Event{}, inWork: map[string]bool{}, crashes: map[string]int{},
		alone: map[string]bool{}, outcomes: map[string]int{},
	}}
	o.add(rows...)
	return o
}

func (o *fakeOrg) add(rows ...*event.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, e := range rows {
		o.rows[e.RowID] = e
	}
}

// call counts a call, lets it take its time, and fails it when it is to fail.
func (o *fakeOrg) call(ctx context.Context) error {
	select {
	case <-time.After(o.latency):
	case <-ctx.Done():
		return ctx.Err()
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.calls++
	if len(o.failures) == 0 {
		return nil
	}
	err := o.failures[0]
	o.failures = o.failures[1:]
	return err
}

func (o *fakeOrg) ask(ctx context.Context, q question) (answer, error) {
	o.mu.Lock()
	o.asked = append(o.asked, time.Now())
	o.mu.Unlock()
	if err := o.call(ctx); err != nil {
		return answer{}, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	a := answer{further: q.after != nil}
	for _, e := range o.rows {
		c := *e
		switch {
		case !e.Open() || !slices.Contains(q.queues, e.Queue):
		case e.NextAttempt.After(q.now):
			a.waiting = append(a.waiting, &c)
			if a.nextDue.IsZero() || e.NextAttempt.Before(a.nextDue) {
				a.nextDue = e.NextAttempt
			}
		case q.after == nil || fetchOrder(&c, q.after) > 0:
			a.due = append(a.due, &c)
		}
	}
	if len(q.elsewhere) > 0 {
		a.others = map[string]int{}
	}
	for _, e := range o.rows {
		if e.Open() && slices.Contains(q.elsewhere, e.Queue) && !e.NextAttempt.After(q.now) {
			a.others[e.Queue]++
		}
	}
	slices.SortFunc(a.due, fetchOrder)
	a.total = len(a.due)
	if len(a.due) > pageLimit {
		a.due, a.cut = a.due[:pageLimit], true
	}
	return a, nil
}

func (o *fakeOrg) load(ctx context.Context, batch []*event.Event) (loaded, error) {
	if err := o.call(ctx); err != nil {
		return loaded{}, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.loads++
	var l loaded
	for _, e := range batch {
		now := *o.rows[e.RowID]
		if !now.Open() || now.NextAttempt.After(time.Now()) {
			l.moved = append(l.moved, &now)
			continue
		}
		now.Payload = []byte(`{}`)
		l.events = append(l.events, &now)
	}
	return l, nil
}

func (o *fakeOrg) outline(ctx context.Context, batch []*event.Event) ([]*event.Event, error) {
	l, err := o.load(ctx, batch)
	return append(l.events, l.moved...), err
}

func (o *fakeOrg) open(ctx context.Context, ids []string) (map[string]bool, error) {
	if err := o.call(ctx); err != nil {
		return nil, err
	}
	open := map[string]bool{}
	rows := o.see().rows
	for _, id := range ids {
		open[id] = rows[id] != nil && rows[id].Open()
	}
	return open, nil
}

func (o *fakeOrg) Suspects() map[string]int { return o.see().crashes }

func (o *fakeOrg) reviews(ctx context.Context) (int, error) {
	err := o.call(ctx)
	return 7, err
}

// Apply takes three calls' time, as reading targets and a commit do, and one.
func (o *fakeOrg) Apply(ctx context.Context, batch []*event.Event) (apply.Report, error) {
	o.began(batch)
	defer o.ended()
	if err := o.call(ctx); err != nil {
		return apply.Report{}, err
	}
	if err := o.call(ctx); err != nil {
		return apply.Report{}, err
	}
	if o.onApply != nil {
		return o.onApply(batch)
	}
	return o.complete(batch), nil
}

func (o *fakeOrg) began(batch []*event.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.batches = append(o.batches, idsOf(batch))
	o.mostWork = max(o.mostWork, len(o.inWork))
	o.applying++
	o.most = max(o.most, o.applying)
	if o.applying == 1 && len(batch) == 1 {
		o.alone[batch[0].RowID] = true
	}
}

func (o *fakeOrg) ended() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.applying--
}

// complete moves a batch to Completed.
func (o *fakeOrg) complete(batch []*event.Event) apply.Report {
	o.mu.Lock()
	defer o.mu.Unlock()
	var report apply.Report
	for _, e := range batch {
		r := o.rows[e.RowID]
		r.Status, r.Queue, r.Outcome = event.Completed, "", event.Created
		report.Results = append(report.Results, apply.Result{Disposition: apply.Moved, Status: event.Completed, Outcome: event.Created})
	}
	return report
}

// retry moves a row to Retryable.
func (o *fakeOrg) retry(id string, at time.Time) apply.Result {
	o.mu.Lock()
	defer o.mu.Unlock()
	r := o.rows[id]
	r.Status, r.NextAttempt, r.ErrorCode = event.Retryable, at, event.CodeLock
	return apply.Result{Disposition: apply.Moved, Status: event.Retryable, Code: event.CodeLock, NotBefore: at}
}

func (o *fakeOrg) UpdateAll(ctx context.Context, rows []salesforce.Row, _ bool) ([]salesforce.SaveResult, error) {
	if err := o.call(ctx); err != nil {
		return nil, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	results := make([]salesforce.SaveResult, len(rows))
	for i, row := range rows {
		e := o.rows[row.ID]
		e.Status, e.Queue = event.Status(row.Fields[event.FieldStatus].(string)), ""
		e.ErrorCode = row.Fields[event.FieldErrorCode].(string)
		e.History = row.Fields[event.FieldHistory].(string)
		results[i] = salesforce.SaveResult{ID: row.ID, Success: true}
	}
	return results, nil
}

func (o *fakeOrg) Composite(context.Context, []salesforce.Subrequest, bool) ([]salesforce.Subresponse, error) {
	panic("rows are read through staging")
}

func (o *fakeOrg) Query(context.Context, string) ([]salesforce.Record, error) {
	panic("rows are read through staging")
}

func (o *fakeOrg) QueryEach(context.Context, string, func(salesforce.Record) error) error {
	panic("rows are read through staging")
}

func (o *fakeOrg) Begin(ids []string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, id := range ids {
		o.inWork[id] = true
	}
	return nil
}

func (o *fakeOrg) Done(ids []string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, id := range ids {
		delete(o.inWork, id)
		delete(o.crashes, id)
	}
	return nil
}

func (o *fakeOrg) Crashes(id string) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.crashes[id]
}

func (o *fakeOrg) Due(events int, oldest time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.due, o.oldest = events, oldest
}

func (o *fakeOrg) Review(n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.review = n
}

func (o *fakeOrg) Event(_, outcome string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.outcomes[outcome]++
}

// poller makes a poller over the fake.
func (o *fakeOrg) poller(t *testing.T, change func(*Config)) *Poller {
	t.Helper()
	c := Config{
		Org: o, Applier: o, Journal: o, Leases: store.NewMemoryLeases(nil), Metrics: o, Owner: "test",
		Random: func() float64 { return 1 },
	}
	if change != nil {
		change(&c)
	}
	p, err := New(c)
	require.NoError(t, err)
	p.rows = o
	return p
}

// start runs a poller until the test ends or stop is called.
func start(t *testing.T, p *Poller) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		require.NoError(t, <-ended)
	})
	t.Cleanup(stop)
	return stop
}
