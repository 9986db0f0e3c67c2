package effects_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"sfbridge/test/harness"
)

// Duplicates, older events and a replay of everything cause nothing twice.
func TestSentOnceUnderDuplicatesAndReplay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var want []string
	var wg sync.WaitGroup
	for i := range 12 {
		charge := fmt.Sprintf("ch_%02d", i)
		want = append(want, fmt.Sprintf("shop:%s-paid:receipt:%s", charge, charge))
		for range 4 {
			wg.Go(func() {
				w.deliver(charge+"-new", charge, "Pending", 1)
				w.deliver(charge+"-paid", charge, "Succeeded", 2)
				w.deliver(charge+"-again", charge, "Succeeded", 3)
			})
		}
	}
	wg.Wait()
	w.settle()
	// Whichever of the two that say so came first has made the transition.
	for i := range want {
		charge := fmt.Sprintf("ch_%02d", i)
		if again := fmt.Sprintf("shop:%s-again:receipt:%s", charge, charge); w.receiver.keys()[again] > 0 {
			want[i] = again
		}
	}
	w.check(want...)
	for key, n := range w.receiver.keys() {
		assert.Equal(t, 1, n, key)
	}
	for _, g := range w.receiver.got {
		assert.Equal(t, g.key, g.id)
		assert.Regexp(t, "^v1,", g.signature)
		assert.Contains(t, g.body, `"amount":12.50`)
	}
	out := harness.Invoke(t, w.env(), "replay", "--config", w.bridge.File(), "--source", "shop", "--force", "--reason", "test")
	require.Zero(t, out.Code, out.Err)
	w.settle()
	w.check(want...)
	assert.Len(t, w.receiver.got, 12, "nothing was sent again")
	w.bridge.Stop(t)
}

func (w *world) env() []string { return append(os.Environ(), w.bridge.Config.Environment()...) }

// The process dies after the request was sent and before its result is
// recorded: it is sent again, under the same key, and recorded once.
func TestKilledBetweenSendAndRecord(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	reached, hold := make(chan struct{}), make(chan struct{})
	w.receiver.answers(func(n int) int {
		if n == 1 {
			close(reached)
			<-hold
		}
		return 200
	})
	w.deliver("e1", "ch_1", "Succeeded", 1)
	<-reached
	w.bridge.Kill(t)
	close(hold)
	w.bridge.Start(t)
	w.settle()
	w.check("shop:e1:receipt:ch_1")
	assert.Equal(t, map[string]int{"shop:e1:receipt:ch_1": 2}, w.receiver.keys())
	w.bridge.Stop(t)
}

// results matches the transactions that record what was delivered.
func results(c *harness.Call) bool {
	return bytes.Contains(c.Body, []byte("Response_Code__c"))
}

// The process dies while it records: with the transaction carried out nothing
// is sent again, without it everything that was not recorded is.
func TestKilledWhileRecording(t *testing.T) {
	t.Parallel()
	for name, carriedOut := range map[string]bool{"before the org has it": false, "before the answer comes": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			record := w.wire.Trap(results)
			w.deliver("e1", "ch_1", "Succeeded", 1)
			call := record(t)
			sends := 2
			if carriedOut {
				require.True(t, call.Forward(t).OK())
				sends = 1
			}
			w.bridge.Kill(t)
			w.bridge.Start(t)
			w.settle()
			w.check("shop:e1:receipt:ch_1")
			assert.Equal(t, map[string]int{"shop:e1:receipt:ch_1": sends}, w.receiver.keys())
			w.bridge.Stop(t)
		})
	}
}

// The reply to a recorded result is lost, or the late call of a dead process
// meets that of the next one: the result stands once.
func TestResultRecordedTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	record := w.wire.Trap(results)
	w.deliver("e1", "ch_1", "Succeeded", 1)
	first := record(t)
	w.bridge.Kill(t)
	w.bridge.Start(t)
	w.settle()
	late := first.Forward(t)
	assert.Contains(t, string(late.Body), "REVISION", "the late result must be refused")
	w.check("shop:e1:receipt:ch_1")
	w.bridge.Stop(t)
}

// A receiver that fails for good sends the event to a person; what the person
// replays goes under the same key, and the record isn't written again.
func TestReplayOfAFailedEffect(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.receiver.answers(func(int) int { return 500 })
	w.deliver("e1", "ch_1", "Succeeded", 1)
	w.org.Eventually(t, "the event is not in review", w.none("SELECT COUNT() FROM Inbound_Event__c WHERE Status__c != 'Review'"))
	const key = "shop:e1:receipt:ch_1"
	assert.Equal(t, map[string]int{key: 3}, w.receiver.keys())
	row := w.org.Query(t, "SELECT Error_Code__c, Error__c FROM Inbound_Event__c")[0]
	assert.Equal(t, "EFFECT", row["Error_Code__c"])
	assert.Contains(t, row["Error__c"], "effect receipt failed: HTTP 500")
	before := w.org.Query(t, "SELECT LastModifiedDate FROM Payment__c")[0]

	shown := harness.Invoke(t, w.env(), "show", "--config", w.bridge.File(), "--json", "shop:e1")
	require.Zero(t, shown.Code, shown.Err)
	assert.Contains(t, shown.Out, `"key":"shop:e1:receipt:ch_1"`)
	assert.Contains(t, shown.Out, "Retryable -> Review")

	w.receiver.answers(func(int) int { return 204 })
	out := harness.Invoke(t, w.env(), "replay", "--config", w.bridge.File(), "--status", "Review", "--reason", "receiver mended")
	require.Zero(t, out.Code, out.Err)
	w.settle()
	w.check(key)
	assert.Equal(t, map[string]int{key: 4}, w.receiver.keys())
	assert.Equal(t, before, w.org.Query(t, "SELECT LastModifiedDate FROM Payment__c")[0])
	w.bridge.Stop(t)
}

// Roles apart: one process applies, another delivers.
func TestRolesApart(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *harness.Config) { c.Only = []string{"receive", "process"} })
	w.deliver("e1", "ch_1", "Succeeded", 1)
	w.org.Eventually(t, "the event is not applied", w.none("SELECT COUNT() FROM Inbound_Event__c WHERE Status__c != 'Applied'"))
	assert.Empty(t, w.receiver.keys())
	c := w.bridge.Config
	c.Name, c.Only, c.Dir, c.Via = "effects", []string{"effects"}, t.TempDir(), nil
	worker := harness.StartBridge(t, c)
	w.settle()
	w.check("shop:e1:receipt:ch_1")
	worker.Stop(t)
	w.bridge.Stop(t)
}

// The budget of events that cause one effect each, at full batches: 0.04 calls an
// event, with everything counted. Each role works alone on all that the one before
// has left, so that batches are full however slow the machine is; staging, which
// depends on the senders, is taken at its full batches.
func TestCallsAtFullBatches(t *testing.T) {
	if testing.Short() {
		t.Skip("2,000 events")
	}
	t.Parallel()
	w := newWorld(t, func(c *harness.Config) {
		c.Via, c.Only, c.Poller = nil, []string{"receive"}, "{interval: 2s, idle: 60s}"
	})
	const events, batch = 2000, 200
	w.burst(events)
	w.bridge.Stop(t)
	spent, asked := events/batch, 0
	for _, part := range []struct {
		role string
		done func() bool
	}{
		{"process", func() bool { return w.org.Stats(t).Rows["Outbound_Effect__c"] == events }},
		{"effects", func() bool {
			if len(w.receiver.keys()) < events {
				return false
			}
			asked++ // a call of the test's own
			return w.org.Count(t, "SELECT COUNT() FROM Outbound_Effect__c WHERE Status__c = 'Done'") == events
		}},
	} {
		before := w.org.Stats(t).APICalls.Total
		c := w.bridge.Config
		c.Name, c.Only = part.role, []string{part.role}
		worker := harness.StartBridge(t, c)
		w.org.Eventually(t, part.role+" is not done", func(context.Context) (bool, error) { return part.done(), nil })
		worker.Stop(t)
		spent += w.org.Stats(t).APICalls.Total - before
	}
	each := float64(spent-asked) / events
	t.Logf("%.4f calls an event: %v", each, w.org.Stats(t).APICalls.ByOperation)
	assert.LessOrEqual(t, each, 0.04)
}

// burst delivers events of as many charges, many at once.
func (w *world) burst(events int) {
	w.t.Helper()
	var senders errgroup.Group
	senders.SetLimit(256)
	for i := range events {
		senders.Go(func() error {
			w.deliver(fmt.Sprintf("e%04d", i), fmt.Sprintf("ch_%04d", i), "Succeeded", i)
			return nil
		})
	}
	require.NoError(w.t, senders.Wait())
}
