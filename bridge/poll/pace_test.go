package poll

import (
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/apply"
	"sfbridge/bridge/event"
	"sfbridge/salesforce"
)

// The budget: 0.025 calls for an event at full batches, of which staging takes
// 1 call for 200 events.
func TestBurstKeepsTheBudget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const events = 2000
		o := newFakeOrg()
		p := o.poller(t, nil)
		start(t, p)
		pass(10 * time.Second)
		before := o.see().calls
		rows := many(events)
		for len(rows) > 0 { // as staging brings them: a call of 200 every 20 ms
			o.add(rows[:200]...)
			p.Wake(200)
			rows = rows[200:]
			pass(20 * time.Millisecond)
		}
		pass(10 * time.Second)
		assert.Equal(t, events, o.see().count(event.Completed))
		calls := o.see().calls - before + events/200
		assert.LessOrEqual(t, float64(calls)/events, 0.025, "%d calls", calls)
		assert.LessOrEqual(t, o.see().most, 4)
	})
}

func TestSteadyStreamFillsBatches(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const events = 9_000
		o := newFakeOrg()
		p := o.poller(t, nil)
		start(t, p)
		pass(time.Second)
		before := o.see().calls
		for n, rows := 0, many(events); n < events; n += 30 { // 1,500 a second
			o.add(rows[n : n+30]...)
			p.Wake(30)
			pass(20 * time.Millisecond)
		}
		pass(5 * time.Second)
		assert.Equal(t, events, o.see().count(event.Completed))
		assert.LessOrEqual(t, float64(o.see().calls-before)/events, 0.020)
	})
}

func TestBacklogDrainsWithFewQueries(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const events = 10_000
		o := newFakeOrg(many(events)...)
		require.NoError(t, o.poller(t, nil).RunOnce(t.Context()))
		assert.Equal(t, events, o.see().count(event.Completed))
		assert.LessOrEqual(t, len(o.see().asked), 7, "page after page, no row is read twice")
		assert.LessOrEqual(t, len(o.see().batches), events/200+4)
		assert.LessOrEqual(t, o.see().loads, events/400+4, "a query reads the payloads of several transactions")
	})
}

func TestSingleEventGoesAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newFakeOrg()
		p := o.poller(t, nil)
		start(t, p)
		pass(30 * time.Second)
		o.add(many(1)...)
		p.Wake(1)
		pass(quiet + 4*o.latency + time.Millisecond)
		assert.Equal(t, 1, o.see().count(event.Completed))
	})
}

func TestIdleDayKeepsTheBudget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newFakeOrg()
		start(t, o.poller(t, nil))
		pass(24 * time.Hour)
		assert.LessOrEqual(t, o.see().calls, 3000)
		assert.GreaterOrEqual(t, len(o.see().asked), 1400, "rows that came another way are found")
		assert.Equal(t, 7, o.see().review)
	})
}

func TestNextAttemptIsMet(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := retryable(row("a", 1), event.CodeLock)
		e.NextAttempt = time.Now().Add(17 * time.Second)
		o := newFakeOrg(e)
		start(t, o.poller(t, nil))
		pass(18 * time.Second)
		assert.Equal(t, 1, o.see().count(event.Completed))
	})
}

// outage is a failed call of a class, with the pause that the org asks for.
func outage(class salesforce.Class, pause time.Duration) error {
	return &salesforce.Error{Op: salesforce.OpComposite, Fault: salesforce.Fault{Class: class, Pause: pause}}
}

func TestOutageIsProbedNotStormed(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name      string
		err       error
		down      time.Duration
		mostCalls int
		back      time.Duration // all is done so long after the end of the outage
	}{
		{"outage of an hour", outage(salesforce.ClassRetryable, 0), time.Hour, 20, 16 * time.Minute},
		{"the day's calls are used up", outage(salesforce.ClassLimit, 5*time.Minute), time.Hour, 12, 21 * time.Minute},
		{"too many calls at once", outage(salesforce.ClassLimit, 5*time.Second), 30 * time.Second, 8, time.Minute},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				o := newFakeOrg(many(1000)...)
				end := time.Now().Add(tt.down)
				o.onApply = func(batch []*event.Event) (apply.Report, error) {
					if time.Now().Before(end) {
						return apply.Report{}, tt.err
					}
					return o.complete(batch), nil
				}
				start(t, o.poller(t, nil))
				pass(tt.down)
				assert.Zero(t, o.see().count(event.Completed))
				assert.LessOrEqual(t, len(o.see().batches), tt.mostCalls)
				pass(tt.back)
				assert.Equal(t, 1000, o.see().count(event.Completed))
			})
		})
	}
}

func TestBatchShrinksAndGrows(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newFakeOrg(many(1000)...)
		first := true
		o.onApply = func(batch []*event.Event) (apply.Report, error) {
			report := o.complete(batch)
			if first {
				report.BatchLimit = 100
			}
			first = false
			return report, nil
		}
		require.NoError(t, o.poller(t, func(c *Config) { c.Lanes = 1 }).RunOnce(t.Context()))
		var sizes []int
		for _, b := range o.see().batches {
			sizes = append(sizes, len(b))
		}
		assert.Equal(t, []int{200, 100, 125, 156, 195, 200, 24}, sizes)
	})
}

func TestPollingYieldsLast(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newFakeOrg()
		var used atomic.Int64
		used.Store(900)
		p := o.poller(t, func(c *Config) {
			c.Usage = func() salesforce.Usage { return salesforce.Usage{Used: used.Load(), Max: 1000} }
		})
		start(t, p)
		o.add(many(1)...)
		pass(2 * time.Minute)
		assert.Equal(t, 1, o.see().count(event.Completed), "above the share polling goes on for a while")
		assert.Zero(t, o.see().review, "counts don't")

		used.Store(970)
		o.add(row("b", 1))
		p.Wake(1)
		asked := len(o.see().asked)
		pass(time.Hour)
		assert.LessOrEqual(t, len(o.see().asked)-asked, 5, "only looks whether calls are to be had again")
		assert.Equal(t, 1, o.see().count(event.Completed))
		used.Store(100)
		pass(yieldPause + time.Minute)
		assert.Equal(t, 2, o.see().count(event.Completed))
	})
}

// The fewer calls the day has left, the more events share a query.
func TestSingleEventsShareQueriesAsCallsGetFew(t *testing.T) {
	t.Parallel()
	tests := []struct {
		used            int64 // of 1000, of which 800 are the budget
		atLeast, atMost int   // queries for 100 events, six seconds apart
	}{
		{0, 100, 110},
		{400, 100, 110},
		{600, 19, 22},
		{800, 9, 12},
		{950, 9, 12},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.used), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				o := newFakeOrg()
				p := o.poller(t, func(c *Config) {
					c.Usage = func() salesforce.Usage { return salesforce.Usage{Used: tt.used, Max: 1000} }
				})
				start(t, p)
				synctest.Wait()
				asked := len(o.see().asked)
				for n := range 100 {
					o.add(row(fmt.Sprint("e", n), 1))
					p.Wake(1)
					pass(6 * time.Second)
				}
				queries := len(o.see().asked) - asked
				assert.GreaterOrEqual(t, queries, tt.atLeast)
				assert.LessOrEqual(t, queries, tt.atMost)
				pass(time.Minute)
				assert.Equal(t, 100, o.see().count(event.Completed), "late, not lost")
			})
		})
	}
}

func TestRunOnceYields(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newFakeOrg(many(1)...)
		p := o.poller(t, func(c *Config) { c.Usage = func() salesforce.Usage { return salesforce.Usage{Used: 99, Max: 100} } })
		assert.ErrorIs(t, p.RunOnce(t.Context()), ErrYields)
		assert.Empty(t, o.see().batches)
	})
}
