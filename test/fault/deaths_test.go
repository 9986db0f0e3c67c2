package fault

import (
	"time"

	"github.com/stretchr/testify/require"

	"sfbridge/internal/failpoint"
	"sfbridge/test/harness"
)

// death is one place where the process dies.
type death struct {
	point failpoint.Point
	// before makes the point be passed by the next traffic.
	before   func(*run)
	call     bool // the point is a call: death comes while the org works on it
	starting bool // the point is passed when the process has started
	stopping bool // the point is passed when the process stops
}

// steps are the places between two steps that traffic passes, with what it
// takes to pass them. Only spooled traffic passes the spool.
func steps(spooled bool) []death {
	spool := map[failpoint.Point]bool{
		failpoint.SpoolAppending: true, failpoint.SpoolCommitting: true, failpoint.SpoolAppended: true,
		failpoint.DrainTaken: true, failpoint.DrainStaged: true, failpoint.DrainRemoving: true, failpoint.DrainRemoved: true,
	}
	var all []death
	for _, p := range failpoint.Steps() {
		d := death{point: p}
		switch p {
		case failpoint.GraphSending, failpoint.GraphAnswered:
			d.before = graphs
		case failpoint.StageJudging:
			d.before = forgetful
		case failpoint.CountSending, failpoint.CountAnswered:
			d.stopping = true
		}
		if spooled || !spool[p] {
			all = append(all, d)
		}
	}
	return all
}

// unnamed is an org whose answers don't tell which row made a transaction fail.
var unnamed = []string{"--unsure", "culprit-unnamed"}

// graphs makes the next transaction fail in such an org, so that its events go
// as graphs.
func graphs(r *run) {
	r.w.Org.Plant(r, harness.Fault{"operation": "composite", "object": "Payment__c", "fault": "validation"})
}

// inCalls are the kinds of calls; the process dies while the org is at work.
func inCalls() []death {
	return []death{
		{point: failpoint.Call("collections_insert"), call: true, before: slow("collections_insert")},
		{point: failpoint.Call("composite"), call: true, before: slow("composite")},
		{point: failpoint.Call("query"), call: true, before: slow("query")},
		{point: failpoint.EffectSending, call: true},
		{point: failpoint.Call("graph"), call: true, before: graphs},
		{point: failpoint.Call("token"), call: true, before: slow("token"), starting: true},
		{point: failpoint.Call("describe"), call: true, before: slow("describe"), starting: true},
		{point: failpoint.Call("collections_update"), call: true, before: slow("collections_update"), stopping: true},
	}
}

// forgetful starts the process again, so that it asks the org about what comes
// twice.
func forgetful(r *run) { r.w.Instance(0).Restart(r) }

func slow(operation string) func(*run) {
	return func(r *run) {
		r.w.Org.Plant(r, harness.Fault{"operation": operation, "fault": "slow", "delay": "300ms"})
	}
}

// fewest is how many events come for one death at least.
const fewest = 8

// killedAt has the process die at one place after the other. Each time some
// traffic comes, with some of what came before; it comes to rest before the
// next one, so that no event meets many deaths.
func killedAt(deaths []death) func(*run) {
	return func(r *run) {
		for _, d := range deaths {
			earlier := r.plan.Deliveries
			r.plot(max(fewest, r.size/len(deaths)))
			r.plan.Deliveries = append(r.plan.Deliveries, earlier[:min(len(earlier), fewest)]...)
			r.die(d)
			r.taken()
			r.healed = time.Now()
			r.w.Settle(r)
			r.w.Org.ClearFaults(r)
		}
	}
}

// die brings the process to one death, and back to life.
func (r *run) die(d death) {
	r.Helper()
	i := r.w.Instance(0)
	how := "kill"
	if d.call {
		how = "kill 60ms" // the org is at work then
	}
	if d.before != nil {
		d.before(r)
	}
	switch {
	case d.stopping:
		r.deliver(r.plan.Deliveries)
		r.taken()
		r.w.Settle(r)
		r.deliver(r.plan.Deliveries[:fewest]) // known by now: they are counted
		r.until(1, 0)
		i.Arm(r, d.point, how)
		i.Terminate(r)
	case d.starting:
		i.Arm(r, d.point, how)
		i.Kill(r)
		r.deliver(r.plan.Deliveries)
	default:
		i.Arm(r, d.point, how)
		r.deliver(r.plan.Deliveries)
	}
	select {
	case <-i.Exited():
	case <-time.After(patience):
		require.Fail(r, "the process never came to "+string(d.point))
	}
	require.True(r, i.Disarm(r, d.point), "it died of something else than %s", d.point)
	i.Revive(r)
}
