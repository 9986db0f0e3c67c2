package crash_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/test/harness"
)

// A commit is stopped on the wire and meets each of these fates. Whatever
// becomes of it, every event is moved on exactly once.
func TestCommitMeetsItsFate(t *testing.T) {
	t.Parallel()
	for name, fate := range map[string]func(*testing.T, world, *harness.Call){
		"killed before the org had it": func(t *testing.T, w world, _ *harness.Call) {
			w.bridge.Kill(t)
			w.bridge.Start(t)
		},
		"killed while the org carries it out":                  killedDuring,
		"killed, carried out before the next process's commit": killedLate(true),
		"killed, carried out after the next process's commit":  killedLate(false),
		"killed after it, before the answer": func(t *testing.T, w world, first *harness.Call) {
			require.True(t, succeeded(t, first.Forward(t)))
			w.bridge.Kill(t)
			w.bridge.Start(t)
		},
		"answer lost": func(t *testing.T, _ world, first *harness.Call) {
			require.True(t, succeeded(t, first.Forward(t)))
			first.Cut()
		},
		"given up, carried out before it is sent again": givenUp(true),
		"given up, carried out after it was sent again": givenUp(false),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			events := deliveries(12)
			w := world{org: stage(t, events)}
			w.wire = harness.StartWire(t, w.org)
			commit := w.wire.Trap(harness.Commits)
			c := config(w.org)
			c.Via, c.Only = w.wire, []string{"process"}
			w.bridge = harness.StartBridge(t, c)
			fate(t, w, commit(t))
			w.org.Settle(t)
			checkAll(t, w.org, events)
			checkWrittenOnce(t, w.wire, len(events))
			w.bridge.Stop(t)
		})
	}
}

// killedDuring: the process dies while the org works on its call, which the org
// then carries out beside the next process.
func killedDuring(t *testing.T, w world, first *harness.Call) {
	w.org.Plant(t, harness.Fault{"operation": "composite", "fault": "slow", "delay": "700ms"})
	var wg sync.WaitGroup
	wg.Go(func() { first.Forward(t) })
	w.bridge.Kill(t)
	w.bridge.Start(t)
	wg.Wait()
}

// killedLate: the dead process's call reaches the org just before or just after
// that of the next process.
func killedLate(before bool) func(*testing.T, world, *harness.Call) {
	return func(t *testing.T, w world, first *harness.Call) {
		next := w.wire.Trap(harness.Commits)
		w.bridge.Kill(t)
		w.bridge.Start(t)
		inTurn(t, first, next(t), before)
	}
}

// givenUp: the client's connection ends without an answer, the client sends
// again, and the old call reaches the org before or after the new one.
func givenUp(before bool) func(*testing.T, world, *harness.Call) {
	return func(t *testing.T, w world, first *harness.Call) {
		again := w.wire.Trap(harness.Commits)
		first.Cut()
		inTurn(t, first, again(t), before)
	}
}

// inTurn has the org carry out two commits of the same events; the second one
// must be refused.
func inTurn(t *testing.T, first, second *harness.Call, before bool) {
	t.Helper()
	if before {
		assert.True(t, succeeded(t, first.Forward(t)))
		assert.False(t, succeeded(t, second.Forward(t)), "the second commit must be refused")
		second.Deliver(t)
		return
	}
	answer := second.Forward(t)
	second.Deliver(t)
	late := first.Forward(t)
	// The next process may have begun with a part of the events. Then the old
	// call, which has all of them, is refused for that part.
	assert.True(t, succeeded(t, answer))
	assert.False(t, succeeded(t, late), "the late commit must be refused")
}

// A process is killed at its first call to the org, the next one at its second,
// and so on, with that call carried out or not; then one may live.
func TestKilledAtEveryStep(t *testing.T) {
	t.Parallel()
	for name, carriedOut := range map[string]bool{"before the org has the call": false, "before the answer comes": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			events := deliveries(9)
			org := stage(t, events)
			w := world{org: org, wire: harness.StartWire(t, org)}
			c := config(org)
			c.Via, c.Only = w.wire, []string{"process"}
			const steps = 6 // the rows are in work at four of them; a fifth crash would send one to a person
			for step := range steps {
				seen := 0
				call := w.wire.Trap(func(*harness.Call) bool { seen++; return seen > step })
				if w.bridge == nil {
					w.bridge = harness.StartBridge(t, c)
				} else {
					w.bridge.Start(t)
				}
				stopped := call(t)
				if carriedOut {
					stopped.Forward(t)
				}
				w.bridge.Kill(t)
			}
			w.bridge.Start(t)
			org.Settle(t)
			checkAll(t, org, events)
			checkWrittenOnce(t, w.wire, len(events))
			w.bridge.Stop(t)
		})
	}
}
