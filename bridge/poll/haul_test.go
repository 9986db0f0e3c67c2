package poll

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/apply"
	"sfbridge/bridge/event"
	"sfbridge/salesforce"
)

// oneLane makes a single lane read the payloads of several transactions.
func oneLane(c *Config) { c.Lanes = 1 }

func TestPayloadsOfSeveralTransactionsAreReadAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newFakeOrg(many(800)...)
		require.NoError(t, o.poller(t, oneLane).RunOnce(t.Context()))
		s := o.see()
		assert.Equal(t, 800, s.count(event.Completed))
		assert.Equal(t, 1, s.loads)
		assert.Len(t, s.batches, 4)
		assert.Equal(t, 200, s.mostWork, "the journal holds the rows of the transaction, not of the query")
		assert.Empty(t, s.inWork)
	})
}

// Events of one entity that are read together but go in several transactions
// keep their order when one of them fails.
func TestEventWaitsForAnEarlierTransaction(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var rows []*event.Event
		for n := range int64(200) {
			rows = append(rows, row("a", n), row("c", n))
		}
		o := newFakeOrg(rows...)
		o.onApply = func(batch []*event.Event) (apply.Report, error) {
			var report apply.Report
			for _, e := range batch {
				result := apply.Result{Reason: apply.Held}
				switch {
				case e.RowID == "a7":
					result = o.retry(e.RowID, time.Now().Add(time.Hour))
				case e.ObjectID == "c" || *e.Order < 7:
					result = o.complete([]*event.Event{e}).Results[0]
				}
				report.Results = append(report.Results, result)
			}
			return report, nil
		}
		require.NoError(t, o.poller(t, oneLane).RunOnce(t.Context()))
		s := o.see()
		assert.Equal(t, 207, s.count(event.Completed))
		assert.Equal(t, event.Retryable, s.rows["a7"].Status)
		assert.Equal(t, 1, s.loads, "all were read together")
		assert.Len(t, s.batches, 2)
		assert.NotContains(t, s.batches[1], "a100")
		assert.Contains(t, s.batches[1], "c100")
	})
}

// An event that another worker has moved on to a later time holds back what was
// read together with it, in the first transaction as in the others.
func TestEventWaitsForWhatAnotherWorkerMovedOn(t *testing.T) {
	t.Parallel()
	for code, want := range map[string][]string{
		event.CodeLock:   {"a1", "c1"},
		event.CodeParent: {"a1", "a3", "c1"},
	} {
		synctest.Test(t, func(t *testing.T) {
			o := newFakeOrg(row("a", 1), retryable(row("a", 2), code), row("a", 3), row("c", 1))
			l := &lane{cfg: o.poller(t, nil).cfg, rows: o, size: 200}
			out := l.journaled(t.Context(), nil, []*event.Event{row("a", 1), row("a", 2), row("a", 3), row("c", 1)})
			require.NoError(t, out.err)
			assert.Equal(t, [][]string{want}, o.see().batches, code)
			assert.Len(t, out.fates, 4, "each has a fate")
			assert.Empty(t, o.see().inWork)
			assert.Zero(t, out.fits, "it says nothing about the room for payloads")
		})
	}
}

// An event that can't be read holds back until it is set aside.
func TestEventWaitsForWhatCannotBeSetAside(t *testing.T) {
	t.Parallel()
	waiting := row("a", 1)
	for _, tt := range []struct {
		name string
		fate fate
		held []string
	}{
		{"set aside", fate{event: &event.Event{Source: "s", ObjectID: "a", Order: waiting.Order, Status: event.Review}, ended: true}, nil},
		{"refused", fate{event: waiting}, []string{"a2", "a3"}},
		{"of another entity", fate{event: row("c", 1)}, nil},
		{"a later one", fate{event: row("a", 2)}, []string{"a3"}},
	} {
		free, held := behind([]fate{tt.fate}, []*event.Event{row("a", 2), row("a", 3), row("i", 4)})
		assert.ElementsMatch(t, tt.held, idsOf(held), tt.name)
		assert.Len(t, free, 3-len(held), tt.name)
	}
}

func TestFailedCallEndsTheHaul(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newFakeOrg(many(800)...)
		down := outage(salesforce.ClassRetryable, 0)
		o.onApply = func([]*event.Event) (apply.Report, error) { return apply.Report{}, down }
		assert.ErrorIs(t, o.poller(t, oneLane).RunOnce(t.Context()), down)
		assert.Len(t, o.see().batches, 1, "what was read further is not tried")
		assert.Equal(t, 800, o.see().count(event.Received))
		assert.Empty(t, o.see().inWork)
	})
}

func TestStopEndsTheHaul(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newFakeOrg(many(800)...)
		stop := start(t, o.poller(t, oneLane))
		pass(o.latency*2 + o.latency/2) // the first transaction is being applied
		stop()
		assert.Equal(t, 200, o.see().count(event.Completed))
		assert.Equal(t, 600, o.see().count(event.Received))
		assert.Empty(t, o.see().inWork)
	})
}

func TestHaulFollowsMemory(t *testing.T) {
	t.Parallel()
	r := &run{Poller: &Poller{cfg: Config{Batch: 200, Lanes: 4}.withDefaults()}, limit: 200, haul: 800}
	assert.Equal(t, 200, r.share(390, 4))
	assert.Equal(t, 400, r.share(790, 4))
	assert.Equal(t, 600, r.share(2400, 4))
	assert.Equal(t, 800, r.share(5000, 1))
	r.resize(outcome{applied: true, fits: 60})
	assert.Equal(t, 60, r.share(5000, 1), "large payloads: what one query can bring")
	for range 20 {
		r.resize(outcome{applied: true})
	}
	assert.Equal(t, 800, r.share(5000, 1), "it grows back")
	r.resize(outcome{applied: true, limit: 100})
	assert.Equal(t, 100, r.share(5000, 1), "small transactions are read one by one")
}

func TestPatienceFollowsTheOrg(t *testing.T) {
	t.Parallel()
	r := &run{Poller: &Poller{cfg: Config{Interval: time.Second}.withDefaults()}}
	assert.Equal(t, time.Second, r.patience())
	for range 50 {
		r.took(3 * time.Second)
	}
	assert.InDelta(t, 6*time.Second, r.patience(), float64(time.Millisecond), "a slow org's batches are waited for")
	for range 50 {
		r.took(time.Minute)
	}
	assert.Equal(t, 10*time.Second, r.patience(), "within bounds")
}

func TestPassBeginsAnewFromTimeToTime(t *testing.T) {
	t.Parallel()
	c := Config{Interval: time.Second, Batch: 200, Lanes: 4}.withDefaults()
	r := &run{Poller: &Poller{cfg: c}, backlog: newBacklog(), schedule: schedule{interval: c.Interval, idle: c.Idle, full: 800}}
	last := row("a", 1)
	r.page(answer{due: []*event.Event{last}, cut: true}, noon)
	assert.Equal(t, last, r.after)
	r.page(answer{due: []*event.Event{last}, cut: true, further: true}, noon.Add(9*time.Second))
	assert.Equal(t, last, r.after, "the next page goes on behind the last")
	r.page(answer{due: []*event.Event{last}, cut: true, further: true}, noon.Add(10*time.Second))
	assert.Nil(t, r.after)
	r.page(answer{due: []*event.Event{last}, cut: true}, noon.Add(11*time.Second))
	assert.Equal(t, last, r.after, "a new pass")
}
