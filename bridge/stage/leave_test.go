package stage

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/event"
	"sfbridge/salesforce"
)

// silent is an org that doesn't answer a call before it is given up.
func silent(int, []salesforce.Row) error {
	time.Sleep(15 * time.Second)
	return &salesforce.Error{Op: "x", Fault: salesforce.Fault{Class: salesforce.ClassUnknownOutcome}}
}

// queued is what waits for a call: rows, bytes, and ids that are taken.
func (s *Stager) queued() (rows, bytes, live int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.queue), s.bytes, len(s.live)
}

// TestTheQueueHoldsWhatSomebodyWaitsFor: while the org doesn't answer, senders
// that have their 503 leave no rows behind.
func TestTheQueueHoldsWhatSomebodyWaitsFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		org, s := setup(t, nil)
		org.before = silent
		const patience, rate = 10, 100 // seconds; events a second
		var senders sync.WaitGroup
		for second := range 180 {
			for i := range rate {
				senders.Go(func() {
					ctx, cancel := context.WithTimeout(t.Context(), patience*time.Second)
					defer cancel()
					assert.Error(t, s.Stage(ctx, requests(newEvent(fmt.Sprint("e", second, "_", i), "aa")))[0].Err)
				})
			}
			time.Sleep(time.Second)
			synctest.Wait()
			rows, _, live := s.queued()
			require.LessOrEqual(t, rows, 2*(patience+1)*rate)
			require.LessOrEqual(t, live, (patience+1)*rate+s.cfg.Calls*s.cfg.Batch, "and those in flight")
		}
		senders.Wait()
		rows, bytes, _ := s.queued()
		assert.Zero(t, rows)
		assert.Zero(t, bytes)
		org.before = nil
		assert.Equal(t, Accepted, s.Stage(t.Context(), requests(newEvent("e0_0", "aa")))[0].Status)
		require.NoError(t, s.Close(t.Context()))
		assert.Empty(t, s.live)
	})
}

// TestOneWhoStaysKeepsTheRow, whoever brought it.
func TestOneWhoStaysKeepsTheRow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		org, s := setup(t, func(c *Config) { c.Calls = 1 })
		org.before = func(int, []salesforce.Row) error { time.Sleep(5 * time.Second); return nil }
		var senders sync.WaitGroup
		send := func(id string, patience time.Duration) (a Answer) {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			return s.Stage(ctx, requests(newEvent(id, "aa")))[0]
		}
		senders.Go(func() { send("first", time.Minute) })
		time.Sleep(time.Second) // its call has begun
		senders.Go(func() { assert.Error(t, send("both", time.Second).Err) })
		senders.Go(func() { assert.NoError(t, send("both", time.Minute).Err) })
		senders.Go(func() { assert.Error(t, send("nobody", time.Second).Err) })
		senders.Wait()
		assert.Contains(t, org.rows, "stripe:both")
		assert.NotContains(t, org.rows, "stripe:nobody")
		require.NoError(t, s.Close(t.Context()))
	})
}

// TestAConflictThatNobodyWaitsForIsGivenUp: its row waits in the place of the
// delivery's own.
func TestAConflictThatNobodyWaitsForIsGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		org, s := setup(t, func(c *Config) { c.Calls = 1 })
		s.Stage(t.Context(), requests(newEvent("e", "aa")))
		org.before = silent
		go s.Stage(t.Context(), requests(newEvent("in the way", "aa")))
		time.Sleep(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		assert.Error(t, s.Stage(ctx, requests(newEvent("e", "bb")))[0].Err)
		synctest.Wait()
		rows, _, _ := s.queued()
		assert.Zero(t, rows)
		require.NoError(t, s.Close(t.Context()))
	})
}

// TestWhoeverComesAndGoes: senders of few ids, some impatient, an org that is
// slow and fails; each has an answer, a 2xx means a row, and nothing is left.
func TestWhoeverComesAndGoes(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 1))
			pick := func(n int) time.Duration { return time.Duration(rnd.IntN(n)) * time.Millisecond }
			org, s := setup(t, func(c *Config) { c.Calls, c.Batch = 2, 5 })
			took := make([]time.Duration, 100)
			for i := range took {
				took[i] = pick(4000)
			}
			org.before = func(call int, _ []salesforce.Row) error {
				time.Sleep(took[call%len(took)])
				if call%7 == 3 {
					return &salesforce.Error{Op: "x", Fault: salesforce.Fault{Class: salesforce.ClassUnknownOutcome}}
				}
				return nil
			}
			var senders sync.WaitGroup
			for range 300 {
				e := newEvent(fmt.Sprint("e", rnd.IntN(60)), []string{"aa", "aa", "aa", "bb"}[rnd.IntN(4)])
				patience := pick(6000)
				senders.Go(func() {
					ctx, cancel := context.WithTimeout(t.Context(), patience)
					defer cancel()
					if a := s.Stage(ctx, requests(e))[0]; a.Err == nil {
						org.mu.Lock()
						defer org.mu.Unlock()
						assert.Contains(t, org.rows, a.EventID)
						assert.Contains(t, org.rows, e.ID)
					}
				})
				time.Sleep(pick(60))
			}
			senders.Wait()
			require.NoError(t, s.Close(t.Context()))
			rows, bytes, live := s.queued()
			assert.Zero(t, rows+bytes+live)
			for id, r := range org.rows {
				assert.Equal(t, id, r[event.FieldID])
			}
		})
	}
}
