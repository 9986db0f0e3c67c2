package poll

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/apply"
	"sfbridge/bridge/event"
	"sfbridge/bridge/store"
	"sfbridge/salesforce"
)

// pass lets time pass and everything happen that happens meanwhile.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// many makes n due events of as many entities.
func many(n int) []*event.Event {
	rows := make([]*event.Event, n)
	for i := range rows {
		rows[i] = row(fmt.Sprintf("o%05d-", i), int64(i))
	}
	return rows
}

func TestRunOnceWorksOnWhatIsDue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		waiting := retryable(row("w", 1), event.CodeLock)
		waiting.NextAttempt = time.Now().Add(time.Hour)
		o := newFakeOrg(append(many(500), waiting)...)
		require.NoError(t, o.poller(t, nil).RunOnce(t.Context()))
		assert.Equal(t, 500, o.see().count(event.Completed))
		assert.Equal(t, 1, o.see().count(event.Retryable))
		assert.Equal(t, map[string]int{"Created": 500}, o.see().outcomes)
		assert.Empty(t, o.see().inWork, "the journal is cleared")
		assert.Len(t, o.see().batches, 3, "full batches")
	})
}

func TestRunOnceGivesUpAtTheFirstFailure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		down := outage(salesforce.ClassRetryable, 0)
		o := newFakeOrg(many(1)...)
		o.failures = []error{down}
		assert.ErrorIs(t, o.poller(t, nil).RunOnce(t.Context()), down)
		assert.Equal(t, 1, o.see().count(event.Received))
	})
}

func TestRunOnceWithoutQueues(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		leases := store.NewMemoryLeases(nil)
		queues := make([]string, event.Queues)
		for n := range queues {
			queues[n] = event.QueueName(event.ByBridge, n)
		}
		_, err := leases.Acquire(t.Context(), "another", queues, time.Minute)
		require.NoError(t, err)
		o := newFakeOrg(many(1)...)
		require.NoError(t, o.poller(t, func(c *Config) { c.Leases = leases }).RunOnce(t.Context()))
		assert.Empty(t, o.see().asked, "nothing is ours to ask for")
	})
}

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
		assert.LessOrEqual(t, len(o.see().asked), 12)
		assert.LessOrEqual(t, len(o.see().batches), events/200+4)
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

func TestFailedEventHoldsBackItsEntityOnly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newFakeOrg(row("a", 1), row("a", 2), row("c", 3))
		o.onApply = func(batch []*event.Event) (apply.Report, error) {
			var report apply.Report
			for _, e := range batch {
				result := apply.Result{Disposition: apply.Left, Reason: apply.Held}
				switch {
				case e.RowID == "a1" && e.Status == event.Received:
					result = o.retry("a1", time.Now().Add(20*time.Second))
				case e.RowID != "a2" || o.see().rows["a1"].Status == event.Completed:
					result = o.complete([]*event.Event{e}).Results[0]
				}
				report.Results = append(report.Results, result)
			}
			return report, nil
		}
		start(t, o.poller(t, nil))
		pass(10 * time.Second)
		assert.Equal(t, event.Completed, o.see().rows["c3"].Status)
		assert.Equal(t, event.Received, o.see().rows["a2"].Status)
		assert.Len(t, o.see().batches, 1, "what is held back costs no calls")
		pass(15 * time.Second)
		assert.Equal(t, 3, o.see().count(event.Completed))
		assert.Equal(t, []string{"a1", "a2"}, o.see().batches[1])
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

func TestStopFinishesWhatIsInWork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newFakeOrg(many(1000)...)
		leases := store.NewMemoryLeases(nil)
		stop := start(t, o.poller(t, func(c *Config) { c.Leases = leases }))
		pass(o.latency*2 + o.latency/2) // the first batches are being applied
		require.Len(t, o.see().batches, 4)
		stop()
		assert.Equal(t, 800, o.see().count(event.Completed), "the batches in work are finished, no more are begun")
		assert.Empty(t, o.see().inWork)
		held, err := leases.Acquire(t.Context(), "another", []string{"B00", "B15"}, time.Minute)
		require.NoError(t, err)
		assert.Len(t, held, 2, "the leases are given back")
	})
}

func TestStopWhileReadingAppliesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newFakeOrg(many(10)...)
		stop := start(t, o.poller(t, nil))
		pass(o.latency + o.latency/2)
		stop()
		assert.Empty(t, o.see().batches)
		assert.Equal(t, 10, o.see().count(event.Received))
		assert.Empty(t, o.see().inWork)
	})
}

func TestPoisonedRows(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rows := many(300)
		once, twice, given := rows[10].RowID, rows[20].RowID, rows[30].RowID
		o := newFakeOrg(rows...)
		o.crashes = map[string]int{once: 1, twice: 2, given: 5, "ended before the crash": 1}
		require.NoError(t, o.poller(t, nil).RunOnce(t.Context()))
		assert.Contains(t, o.see().batches, []string{once})
		assert.Contains(t, o.see().batches, []string{twice})
		assert.True(t, o.see().alone[twice], "while nothing else was in work")
		assert.Equal(t, event.Review, o.see().rows[given].Status)
		assert.Equal(t, event.CodeAbandoned, o.see().rows[given].ErrorCode)
		assert.Contains(t, o.see().rows[given].History, "Received -> Review by bridge: ABANDONED")
		assert.Empty(t, o.see().crashes, "all have passed")
		assert.Equal(t, 299, o.see().count(event.Completed))
	})
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

func TestLeftRowsRest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newFakeOrg(row("a", 1))
		o.onApply = func(batch []*event.Event) (apply.Report, error) {
			return apply.Report{
				Results: []apply.Result{{Disposition: apply.Left, Reason: apply.Paused, NotBefore: time.Now().Add(time.Minute)}},
				Pauses:  []apply.Pause{{Source: "s", Route: "r", Until: time.Now().Add(time.Minute), Reason: "no such field"}},
			}, nil
		}
		start(t, o.poller(t, nil))
		pass(10 * time.Minute)
		assert.LessOrEqual(t, len(o.see().batches), 11)
		assert.GreaterOrEqual(t, len(o.see().batches), 9)
		assert.LessOrEqual(t, len(o.see().asked), 30)
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

func TestFailureKeepsWhatWasSettledBefore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newFakeOrg(row("a", 1), row("c", 2))
		down := outage(salesforce.ClassRetryable, 0)
		o.onApply = func(batch []*event.Event) (apply.Report, error) {
			report := o.complete(batch[:1])
			report.Results = append(report.Results, apply.Result{Reason: apply.Stopped})
			return report, down
		}
		assert.ErrorIs(t, o.poller(t, nil).RunOnce(t.Context()), down)
		assert.Equal(t, map[string]int{"Created": 1}, o.see().outcomes)
		assert.Equal(t, 1, o.see().count(event.Received))
	})
}

// A wrong count of results is a failed call, never a guess.
func TestResultsThatDontFit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newFakeOrg(many(2)...)
		o.onApply = func([]*event.Event) (apply.Report, error) { return apply.Report{Results: make([]apply.Result, 1)}, nil }
		assert.ErrorContains(t, o.poller(t, nil).RunOnce(t.Context()), "2 events gave 1 results")
	})
}

func TestBatchThatGetsNowhereRests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newFakeOrg(row("a", 1))
		o.onApply = func(batch []*event.Event) (apply.Report, error) {
			return apply.Report{Results: []apply.Result{{Disposition: apply.Left, Reason: apply.NoRoom}}}, nil
		}
		start(t, o.poller(t, nil))
		pass(time.Minute)
		assert.LessOrEqual(t, len(o.see().batches), 31)
		assert.GreaterOrEqual(t, len(o.see().batches), 10, "but not for ever")
	})
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

func TestBlockedRowsDontStarveTheRest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		blocker := retryable(row("a", 0), event.CodeLock)
		blocker.NextAttempt = time.Now().Add(time.Hour)
		rows := []*event.Event{blocker}
		for n := range int64(pageLimit + 500) {
			rows = append(rows, row("a", n+1))
		}
		o := newFakeOrg(append(rows, row("c", pageLimit+1000))...)
		require.NoError(t, o.poller(t, nil).RunOnce(t.Context()))
		assert.Equal(t, 1, o.see().count(event.Completed))
		assert.Len(t, o.see().asked, 2)
	})
}

func TestNewRefusesWhatMakesNoSense(t *testing.T) {
	t.Parallel()
	_, err := New(Config{Batch: 201, Lanes: 17, Interval: time.Minute, Idle: time.Second, DailyBudget: 2,
		Backoff: event.Backoff{Base: time.Hour, Max: time.Minute}})
	for _, part := range []string{"client", "applier", "journal", "leases", "owner", "poller.batch: 201",
		"poller.lanes: 17", "poller.idle: 1s", "daily_budget: 2", "poller.backoff"} {
		assert.ErrorContains(t, err, part)
	}
}

func TestRunEndsQuietly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		assert.NoError(t, newFakeOrg(many(1)...).poller(t, nil).Run(ctx))
	})
}
