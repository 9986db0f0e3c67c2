package poll

import (
	"context"
	"fmt"
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

func TestWhatIsDueIsToldAsBatchesEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newFakeOrg(many(500)...)
		received := time.Now().Add(-time.Minute)
		for _, e := range o.rows {
			e.ReceivedAt = received
			received = received.Add(time.Millisecond)
		}
		first := true
		o.onApply = func(batch []*event.Event) (apply.Report, error) {
			if s := o.see(); first {
				assert.Equal(t, 500, s.due)
				assert.Equal(t, received.Add(-500*time.Millisecond), s.oldest, "rows in work count")
				first = false
			}
			return o.complete(batch), nil
		}
		start(t, o.poller(t, func(c *Config) { c.Lanes = 1 }))
		pass(time.Second)
		require.Equal(t, 500, o.see().count(event.Completed))
		assert.Len(t, o.see().asked, 1, "no query since")
		assert.Zero(t, o.see().due)
		assert.Zero(t, o.see().oldest)
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

func TestStopFinishesWhatIsInWork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newFakeOrg(many(1000)...)
		leases := store.NewMemoryLeases(nil)
		stop := start(t, o.poller(t, func(c *Config) { c.Leases = leases }))
		pass(o.latency*2 + o.latency/2) // the first batches are being applied
		require.Len(t, o.see().batches, 2)
		stop()
		assert.Equal(t, 400, o.see().count(event.Completed), "the batches in work are finished, no more are begun")
		assert.Empty(t, o.see().inWork)
		held, err := leases.Acquire(t.Context(), "another", []string{"B00", "B15"}, time.Minute)
		require.NoError(t, err)
		assert.Len(t, held, 2, "the leases are given back")
	})
}

// A call that never ends is broken off after StopWait; its rows are released.
func TestStopDoesNotWaitForEver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newFakeOrg(many(10)...)
		o.latency = time.Hour
		stop := start(t, o.poller(t, func(c *Config) { c.CallTimeout = 2 * time.Hour; c.BatchTimeout = 10 * time.Hour }))
		pass(2*o.latency + o.latency/2)
		require.Len(t, o.see().batches, 1)
		began := time.Now()
		stop()
		assert.Equal(t, 6*time.Second, time.Since(began))
		assert.Equal(t, 10, o.see().count(event.Received))
		assert.Empty(t, o.see().inWork, "nothing is left that would look like a crash")
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

// Another process without a common store has worked on the same rows.
func TestRowsThatAnotherMovedOnAreNotReadOneByOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rows := many(1900)
		o := newFakeOrg(rows...)
		p := o.poller(t, func(c *Config) { c.Lanes = 1 })
		start(t, p)
		pass(o.latency + o.latency/2)
		o.complete(rows[:1800])
		pass(10 * time.Second)
		assert.Equal(t, 1900, o.see().count(event.Completed))
		assert.LessOrEqual(t, o.see().calls, 15, "one by one they would be twice as many")
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
