package simorg_test

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/salesforce/simorg"
)

// together runs n calls at once and returns how often each result came.
func together[T comparable](n int, call func(i int) T) map[T]int {
	var mu sync.Mutex
	var wg sync.WaitGroup
	counts := map[T]int{}
	for i := range n {
		wg.Go(func() {
			got := call(i)
			mu.Lock()
			defer mu.Unlock()
			counts[got]++
		})
	}
	wg.Wait()
	return counts
}

func TestOneOfManyInserts(t *testing.T) {
	t.Parallel()
	for _, latency := range []time.Duration{0, 20 * time.Millisecond} {
		s := setup(t, func(c *simorg.Config) { c.Latency = latency })
		got := together(50, func(int) string {
			a, err := s.try("POST", collections, records("Payment__c", false, charge("same")))
			if err != nil || a.StatusCode != http.StatusOK {
				return "failed"
			}
			var out []result
			a.into(t, &out)
			return out[0].code()
		})
		assert.Equal(t, map[string]int{"": 1, "DUPLICATE_VALUE": 49}, got)
		assert.Len(t, s.Rows("Payment__c"), 1)
	}
}

// Racing upserts of a new key: those that looked before the first committed
// lose with DUPLICATE_VALUE, the others update.
func TestRacingUpserts(t *testing.T) {
	t.Parallel()
	s := setup(t, func(c *simorg.Config) { c.Latency = 100 * time.Millisecond })
	got := together(10, func(int) string {
		a, err := s.try("PATCH", upsertPayments, records("Payment__c", false, charge("same")))
		if err != nil {
			return "failed"
		}
		var out []result
		a.into(t, &out)
		return out[0].code()
	})
	assert.Equal(t, 10, got[""]+got["DUPLICATE_VALUE"])
	assert.Positive(t, got[""])
	assert.Positive(t, got["DUPLICATE_VALUE"])
	assert.Len(t, s.Rows("Payment__c"), 1)
}

// Statements over the same rows in opposite order wait for each other, not in
// a circle.
func TestOppositeOrders(t *testing.T) {
	t.Parallel()
	s := setup(t, func(c *simorg.Config) { c.Latency = 4 * time.Millisecond })
	s.fill(40)
	forth, back := make([]string, 40), make([]string, 40)
	for i := range 40 {
		row := charge(fmt.Sprintf("ch_%04d", i)) + `,"Note__c":"n"`
		forth[i], back[39-i] = row, row
	}
	got := together(16, func(i int) string {
		list := forth
		if i%2 == 1 {
			list = back
		}
		a, err := s.try("PATCH", upsertPayments, records("Payment__c", true, list...))
		if err != nil {
			return "failed"
		}
		var out []result
		a.into(t, &out)
		return out[0].code()
	})
	assert.Equal(t, map[string]int{"": 16}, got)
}

// Two composites that lock two rows in opposite order: one is refused at once,
// not after the longest wait, and the other commits.
func TestDeadlockIsRefused(t *testing.T) {
	t.Parallel()
	s := setup(t, func(c *simorg.Config) { c.LockWait = time.Hour })
	s.fill(2)
	rows := s.Rows("Payment__c")
	patch := func(ref string, i int) string {
		return step("PATCH", fmt.Sprintf("sobjects/Payment__c/%v", rows[i]["Id"]), ref, `{"Note__c":"x"}`)
	}
	for range 50 {
		got := together(4, func(i int) int {
			a, err := s.try("POST", "composite", composite(true, patch("a", i%2), patch("b", 1-i%2)))
			if err != nil {
				return 0
			}
			return a.StatusCode
		})
		require.Equal(t, map[int]int{200: 4}, got)
	}
}

// revise moves a staging row from one revision to the next, the way a writer
// who read it does.
func revise(id string, read, next int) string {
	return fmt.Sprintf(`{"attributes":{"type":"Inbound_Event__c"},"Id":"%s","Status__c":"Completed","Expected_Revision__c":%d,"Revision__c":%d}`, id, read, next)
}

func winners(t *testing.T, s *sim, body func(i int) string) int {
	t.Helper()
	got := together(12, func(i int) string {
		a, err := s.try("POST", "composite", body(i))
		if err != nil {
			return "failed"
		}
		var out struct{ CompositeResponse []sub }
		a.into(t, &out)
		if last := out.CompositeResponse[len(out.CompositeResponse)-1]; last.HTTPStatusCode >= 300 {
			return "refused"
		}
		return "won"
	})
	assert.Equal(t, 12, got["won"]+got["refused"])
	return got["won"]
}

// Exactly one of many writers that read the same revision moves a row on.
func TestOptimisticLock(t *testing.T) {
	t.Parallel()
	slow := func(c *simorg.Config) { c.Latency = 100 * time.Millisecond }
	unlocked := func(c *simorg.Config) { c.Unsure = []string{"priorvalue-unlocked"} }
	bare := func(id string) func(int) string {
		return func(i int) string {
			return composite(true, step("PATCH", "composite/sobjects", "rows", `{"records":[`+revise(id, 1, 2+i)+`]}`))
		}
	}
	locked := func(id, queue string) func(int) string {
		return func(i int) string {
			return composite(true,
				step("PATCH", "sobjects/Bridge_Queue__c/"+queue, "queue", `{"Touched__c":"2026-11-30T00:00:00Z"}`),
				step("PATCH", "composite/sobjects", "rows", `{"records":[`+revise(id, 1, 2+i)+`]}`))
		}
	}
	event := func(s *sim) string { return s.insert("Inbound_Event__c", `{"Event_Id__c":"e"}`) }
	queue := func(s *sim) string { return s.insert("Bridge_Queue__c", `{"Name__c":"B00"}`) }

	s := setup(t, slow)
	assert.Equal(t, 1, winners(t, s, bare(event(s))), "the rule reads the prior value under the row lock")
	s = setup(t, slow, unlocked)
	assert.Greater(t, winners(t, s, bare(event(s))), 1, "read before the wait, the rule lets several pass")
	s = setup(t, slow, unlocked)
	assert.Equal(t, 1, winners(t, s, locked(event(s), queue(s))), "unless all wait for another row first")
}

// A composite is isolated: nobody sees half of it, and concurrent increments
// under its row lock do not get lost.
func TestCompositeIsolation(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.insert("Payment__c", `{`+charge("left")+`,"Amount__c":100}`)
	s.insert("Payment__c", `{`+charge("right")+`,"Amount__c":0}`)
	var stop atomic.Bool
	var watcher sync.WaitGroup
	watcher.Go(func() {
		for !stop.Load() {
			sum := decimal.Zero
			for _, row := range s.Rows("Payment__c") {
				amount, _ := row["Amount__c"].(decimal.Decimal)
				sum = sum.Add(amount)
			}
			assert.True(t, sum.Equal(decimal.NewFromInt(100)), sum.String())
		}
	})
	key := "sobjects/Payment__c/Stripe_Charge_Id__c/"
	got := together(20, func(i int) int {
		amount := i
		a, err := s.try("POST", "composite", composite(true,
			step("PATCH", key+"left", "l", fmt.Sprintf(`{"Amount__c":%d}`, 100-amount)),
			step("PATCH", key+"right", "r", fmt.Sprintf(`{"Amount__c":%d}`, amount))))
		if err != nil {
			return 0
		}
		return a.StatusCode
	})
	stop.Store(true)
	watcher.Wait()
	assert.Equal(t, map[int]int{200: 20}, got)
}

// Who waits too long for a row is refused, and the other rows of the call go on.
func TestLockWaitEnds(t *testing.T) {
	t.Parallel()
	s := setup(t, func(c *simorg.Config) { c.LockWait, c.Latency = time.Nanosecond, 100*time.Millisecond })
	s.fill(2)
	got := together(8, func(int) string {
		a, err := s.try("PATCH", upsertPayments, records("Payment__c", false, charge("ch_0000")+`,"Note__c":"x"`, charge("ch_0001")))
		if err != nil {
			return "failed"
		}
		var out []result
		a.into(t, &out)
		return out[0].code()
	})
	assert.Equal(t, 8, got[""]+got["UNABLE_TO_LOCK_ROW"])
	assert.Positive(t, got["UNABLE_TO_LOCK_ROW"])
	require.Positive(t, got[""])
}
