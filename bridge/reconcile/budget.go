package reconcile

import (
	"context"
	"sync"
	"time"

	"sfbridge/bridge/event"
	"sfbridge/salesforce"
)

// meter counts the calls of a day.
type meter struct {
	Org
	now func() time.Time

	mu    sync.Mutex
	day   string
	calls int64
}

// pageRows is how many records Salesforce answers a call with.
const pageRows = 2000

func (m *meter) count(n int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if day := m.now().UTC().Format(time.DateOnly); day != m.day {
		m.day, m.calls = day, 0
	}
	m.calls += n
}

// spent is how many calls were made today.
func (m *meter) spent() int64 {
	m.count(0)
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.calls
}

func (m *meter) Query(ctx context.Context, soql string) ([]salesforce.Record, error) {
	records, err := m.Org.Query(ctx, soql)
	m.count(1 + int64(len(records)/pageRows))
	return records, err
}

func (m *meter) QueryEach(ctx context.Context, soql string, fn func(salesforce.Record) error) error {
	read := int64(0)
	err := m.Org.QueryEach(ctx, soql, func(r salesforce.Record) error { read++; return fn(r) })
	m.count(1 + read/pageRows)
	return err
}

func (m *meter) UpdateAll(ctx context.Context, rows []salesforce.Row, allOrNone bool) ([]salesforce.SaveResult, error) {
	m.count(1)
	return m.Org.UpdateAll(ctx, rows, allOrNone)
}

func (m *meter) Describe(ctx context.Context, object string) (*salesforce.Object, error) {
	m.count(1)
	return m.Org.Describe(ctx, object)
}

// rests says whether the calls that this work may make are used up.
func (r *Reconciler) rests() bool {
	u := r.cfg.Usage()
	if event.ReconcileWork.Yields(u.Used, u.Max, r.cfg.DailyBudget) {
		return true
	}
	return u.Max > 0 && float64(r.org.spent()) >= r.cfg.Share*float64(u.Max)
}
