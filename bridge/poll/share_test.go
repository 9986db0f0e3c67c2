package poll

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

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

// What is given up while the claims are being extended stays given up.
func TestGivingUpDuringAnExtension(t *testing.T) {
	t.Parallel()
	c, now := newClaims(), time.Now()
	held := func() []string { h, _, _ := c.state(); return h }
	c.granted([]string{"B00", "B01"}, now, 2)
	c.giveUp([]string{"B00"})
	c.granted([]string{"B00", "B01"}, now, 1)
	assert.Equal(t, []string{"B01"}, held())
	assert.Equal(t, []string{"B00"}, c.takeFreed())
	assert.Empty(t, c.takeFreed())
	c.granted([]string{"B00", "B01"}, now, 2)
	assert.Equal(t, []string{"B00", "B01"}, held(), "it can be had again later")
}

func TestPollersShareTheQueues(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newTeam(t)
		one := w.join("one")
		pass(time.Second)
		assert.Equal(t, []int{16}, holds(one), "alone")
		two := w.join("two")
		pass(15 * time.Second)
		assert.Equal(t, []int{8, 8}, holds(one, two), "the surplus is given back")
		three := w.join("three")
		pass(15 * time.Second)
		counts := holds(one, two, three)
		assert.Equal(t, 16, counts[0]+counts[1]+counts[2])
		assert.LessOrEqual(t, slices.Max(counts), 6)
		two.stop()
		pass(15 * time.Second)
		assert.Equal(t, []int{8, 8}, holds(one, three), "what a stop gives back is taken over")
		three.set(false, true)
		three.stop()
		pass(15 * time.Second)
		assert.Equal(t, []int{8}, holds(one), "the lease of one that was killed stands")
		pass(45 * time.Second)
		assert.Equal(t, []int{16}, holds(one), "until it ends")
	})
}

// A queue with a batch in work is given back when the batch has ended.
func TestASurplusIsGivenBackBetweenBatches(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newTeam(t)
		w.org.latency = 20 * time.Second // so that every queue is in work when the other one comes
		w.org.add(many(2000)...)
		one := w.join("one")
		pass(30 * time.Second)
		two := w.join("two")
		pass(15 * time.Minute)
		assert.Equal(t, []int{8, 8}, holds(one, two))
		assert.Equal(t, 2000, w.org.see().count(event.Completed))
		assert.Empty(t, w.problems)
	})
}

func TestAPollerThatCantExtendBeginsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newTeam(t)
		one := w.join("one")
		pass(time.Second)
		one.set(true, false)
		pass(29 * time.Second)
		w.org.add(many(10)...)
		one.poller.Wake(10)
		pass(10 * time.Second)
		assert.Equal(t, 10, w.org.see().count(event.Received), "its lease is over")
		one.set(false, false)
		pass(10 * time.Second)
		assert.Equal(t, 10, w.org.see().count(event.Completed))
		assert.Empty(t, w.problems)
	})
}

// However pollers come, go, are killed or lose sight of the leases: no queue is
// in two hands, no event overtakes an earlier one of its entity, every event is
// done once, and in the end the queues are shared evenly.
func TestPollersThatComeAndGo(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newTeam(t)
			var mates []*mate
			rows := 0
			for step := range rapid.IntRange(3, 25).Draw(rt, "steps") {
				at := rapid.IntRange(0, max(0, len(mates)-1)).Draw(rt, "who")
				switch what := rapid.IntRange(0, 9).Draw(rt, "what"); {
				case what < 3 && len(mates) < 4:
					mates = append(mates, w.join(fmt.Sprint("mate", step)))
				case what == 3 && len(mates) > 0:
					mates[at].set(false, rapid.Bool().Draw(rt, "killed"))
					mates[at].stop()
					mates = slices.Delete(mates, at, at+1)
				case what == 4 && len(mates) > 0:
					mates[at].set(true, false)
				case what == 5 && len(mates) > 0:
					mates[at].set(false, false)
				default:
					for range rapid.IntRange(1, 30).Draw(rt, "rows") {
						rows++
						w.org.add(row(fmt.Sprint("o", rapid.IntRange(0, 40).Draw(rt, "object"), "-"), int64(rows)))
					}
				}
				pass(time.Duration(rapid.IntRange(0, 20_000).Draw(rt, "ms")) * time.Millisecond)
			}
			mates = append(mates, w.join("last"))
			for _, m := range mates {
				m.set(false, false)
			}
			pass(5 * time.Minute)
			counts, total := holds(mates...), 0
			for _, n := range counts {
				total += n
				assert.LessOrEqual(t, n, ceil(event.Queues, len(mates)))
			}
			assert.Equal(t, event.Queues, total, counts)
			s := w.org.see()
			assert.Equal(t, rows, s.count(event.Completed))
			require.Empty(t, w.problems)
			for _, m := range mates {
				m.stop()
			}
		})
	})
}
