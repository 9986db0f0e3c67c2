package poll

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"sfbridge/bridge/apply"
	"sfbridge/bridge/event"
	"sfbridge/bridge/store"
)

// team is several pollers on one org that share their leases.
type team struct {
	t      *testing.T
	org    *fakeOrg
	leases *store.MemoryLeases

	mu       sync.Mutex
	working  map[string]*mate // by queue
	problems []string
	mates    []*mate
	looked   func(by *mate, found map[string]int) // nil: each looks for itself
}

// mate is one poller of a team, as the leases see it.
type mate struct {
	*store.MemoryLeases
	team   *team
	name   string
	stop   func()
	poller *Poller

	mu      sync.Mutex
	away    bool // it can't reach the leases
	killed  bool // it gives nothing back
	granted time.Time
	cut     time.Time // when it was away last
}

func newTeam(t *testing.T) *team {
	t.Helper()
	return &team{t: t, org: newFakeOrg(), leases: store.NewMemoryLeases(nil), working: map[string]*mate{}}
}

// join adds a poller to the team.
func (w *team) join(name string) *mate {
	m := &mate{MemoryLeases: w.leases, team: w, name: name}
	m.poller = w.org.poller(w.t, func(c *Config) {
		c.Leases, c.Owner, c.Applier = m, name, m
		if w.looked != nil {
			c.Looked = func(found map[string]int) { w.looked(m, found) }
		}
	})
	w.mu.Lock()
	w.mates = append(w.mates, m)
	w.mu.Unlock()
	m.stop = start(w.t, m.poller)
	return m
}

// Acquire fails while the mate is away. Its answer takes its time.
func (m *mate) Acquire(ctx context.Context, owner string, names []string, ttl time.Duration) ([]string, error) {
	defer time.Sleep(200 * time.Millisecond) // of the bubble's clock
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.away {
		m.cut = time.Now()
		return nil, errors.New("away")
	}
	m.granted = time.Now()
	return m.MemoryLeases.Acquire(ctx, owner, names, ttl)
}

// Release does nothing for one that was killed.
func (m *mate) Release(ctx context.Context, owner string, names []string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.killed || m.away {
		return errors.New("away")
	}
	return m.MemoryLeases.Release(ctx, owner, names)
}

// Leave likewise.
func (m *mate) Leave(ctx context.Context, owner string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.killed || m.away {
		return errors.New("away")
	}
	return m.MemoryLeases.Leave(ctx, owner)
}

func (m *mate) set(away, killed bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.away, m.killed = away, killed
}

// batchTime bounds what the fake takes for a batch.
const batchTime = time.Second

// Apply checks that nobody else works on the queues of a batch, and that nothing
// earlier of its entities is open.
func (m *mate) Apply(ctx context.Context, batch []*event.Event) (apply.Report, error) {
	w := m.team
	queues := map[string]bool{}
	for _, e := range batch {
		queues[e.HomeQueue] = true
	}
	m.mu.Lock()
	late := time.Since(m.granted) > 30*time.Second+batchTime
	cut := !m.cut.IsZero() && time.Since(m.cut) < time.Minute
	m.mu.Unlock()
	w.mu.Lock()
	if late {
		w.problems = append(w.problems, m.name+" works without a lease")
	}
	for q := range queues {
		if other := w.working[q]; other != nil && !cut {
			w.problems = append(w.problems, fmt.Sprintf("%s is in the hands of %s and %s", q, other.name, m.name))
		}
		w.working[q] = m
	}
	w.problems = append(w.problems, w.org.outOfOrder(batch)...)
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		for q := range queues {
			if w.working[q] == m {
				delete(w.working, q)
			}
		}
	}()
	return w.org.Apply(ctx, batch)
}

// outOfOrder tells which events of a batch come before an earlier one that is open.
func (o *fakeOrg) outOfOrder(batch []*event.Event) []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	places, last := map[string]int{}, map[string]*event.Event{}
	var problems []string
	for i, e := range batch {
		if before := last[e.Entity()]; before != nil && *before.Order > *e.Order {
			problems = append(problems, before.RowID+" goes before "+e.RowID)
		}
		places[e.RowID], last[e.Entity()] = i, e
	}
	for id, row := range o.rows {
		e := last[row.Entity()]
		if _, among := places[id]; e != nil && !among && row.Open() && *row.Order < *e.Order {
			problems = append(problems, e.RowID+" goes before "+id)
		}
	}
	return problems
}

// holds counts the queues that each of the mates works on.
func holds(mates ...*mate) []int {
	counts := make([]int, len(mates))
	for i, m := range mates {
		for n := range event.Queues {
			if m.poller.Holds(event.QueueName(event.ByBridge, n)) {
				counts[i]++
			}
		}
	}
	return counts
}
