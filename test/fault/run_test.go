package fault

import (
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/test/fault/ledger"
	"sfbridge/test/fault/report"
	"sfbridge/test/fault/traffic"
	"sfbridge/test/fault/world"
	"sfbridge/test/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// Sizes of the two forms: events of a scenario, and of those that are large.
const (
	shortEvents, shortBatch, shortSenders = 90, 10, 8
	longEvents, longBatch, longSenders    = 1500, 200, 32
)

// scenario is one row of the table.
type scenario struct {
	name   string
	breaks string // what is broken, for the report
	world  world.Config
	terms  ledger.Terms
	share  int  // how many times the usual events the long form has; 0: once
	long   bool // only in the long form
	play   func(*run)
}

// run is a scenario being played.
type run struct {
	*testing.T
	w       *world.World
	size    int // events that the form allows
	senders int // deliveries under way at once
	seed    uint64
	plan    traffic.Planned
	counts  traffic.Counts
	flow    *traffic.Flow
	healed  time.Time // when the last thing that was broken was whole again
	rest    time.Duration
	waited  int // events that waited for a person before somebody replayed them
}

// TestFaults plays every scenario. With FAULT=long it is the long form, and
// FAULT_REPORT names the file whose table is written anew.
func TestFaults(t *testing.T) {
	long := os.Getenv("FAULT") == "long"
	var table report.Table
	t.Cleanup(func() {
		file := os.Getenv("FAULT_REPORT")
		if file == "" || t.Failed() {
			t.Log("what was kept:\n" + table.Markdown())
			return
		}
		require.NoError(t, table.Write(filepath.Clean(file)))
	})
	for _, sc := range scenarios() {
		if sc.long && !long {
			continue
		}
		t.Run(sc.name, func(t *testing.T) {
			t.Parallel()
			table.Add(play(t, sc, long))
		})
	}
}

// play runs a scenario, lets it come to rest and asks the ledger.
func play(t *testing.T, sc scenario, long bool) report.Row {
	t.Helper()
	name := fnv.New64a()
	_, _ = name.Write([]byte(sc.name)) // never fails
	r := &run{T: t, size: shortEvents, senders: shortSenders, seed: name.Sum64()}
	sc.world.Batch = shortBatch
	if long {
		r.size, r.senders, sc.world.Batch = longEvents*max(1, sc.share), longSenders, longBatch
	}
	r.w = world.Start(t, sc.world)
	sc.play(r)
	r.settle()
	cost := r.w.Cost(t)
	cost.Tries, cost.Events = r.counts.Deliveries+r.counts.Resent, len(r.counts.Answers)
	verdict := ledger.Check(ledger.Book{Events: r.plan.Events, Answers: r.counts.Answers}, r.w.Look(t), sc.terms)
	verdict.Review += r.waited
	if raceDetector {
		cost.RSS = 0
	}
	verdict.Bound(cost)
	assert.Empty(t, verdict.Problems[:min(20, len(verdict.Problems))])
	return row(sc, r, verdict, cost)
}

func row(sc scenario, r *run, v ledger.Verdict, c ledger.Cost) report.Row {
	duplicates := 0
	for _, words := range r.counts.Answers {
		duplicates += words["duplicate"]
	}
	return report.Row{
		Name: sc.name, Breaks: sc.breaks, Events: len(r.plan.Events), Accepted: v.Accepted, Duplicates: duplicates,
		Resent: r.counts.Resent, Killed: r.w.Kills(), Lost: v.Lost, Doubled: v.Doubled, Review: v.Review,
		Calls: c.Calls, Logins: c.Logins, RSS: c.RSS, Recovery: r.rest,
	}
}

// send begins to deliver a plan of so many events more.
func (r *run) send(events int) {
	r.Helper()
	r.plot(events)
	r.deliver(r.plan.Deliveries)
}

// plot draws what happens next at the providers.
func (r *run) plot(events int) {
	r.Helper()
	n := len(r.plan.Events)
	c := traffic.Config{Events: events, Seed: r.seed + uint64(n), Prefix: fmt.Sprintf("n%dx", n)}
	p := traffic.Plan(c)
	for ; !p.Pays(); c.Seed++ { // something has to happen to the outbox
		p = traffic.Plan(c)
	}
	r.plan.Events = append(r.plan.Events, p.Events...)
	r.plan.Deliveries = p.Deliveries
}

func (r *run) deliver(list []traffic.Delivery) {
	r.flow = traffic.Send(r.Context(), list, traffic.Senders{Target: r.w.Target, Parallel: r.senders})
}

// until waits until a share of what is being delivered was taken, or so many
// tries were refused since.
func (r *run) until(share float64, refused int) {
	r.Helper()
	_, before, _ := r.flow.Progress()
	late := time.After(patience)
	for {
		taken, now, moved := r.flow.Progress()
		if float64(taken) >= share*float64(r.flow.Total()) || refused > 0 && now-before >= refused {
			return
		}
		select {
		case <-moved:
		case <-late:
			require.Fail(r, "the providers got nowhere", "%d of %d taken, refused %v", taken, r.flow.Total(), r.flow.Counts().Refused)
		}
	}
}

// waits tells whether as many deliveries are under way as there are senders.
func (r *run) waits() bool { return r.flow.Waiting() == r.senders }

// patience is how long the providers may go on; it is no measure.
const patience = 5 * time.Minute

// taken waits until everything was delivered and keeps what the providers saw.
func (r *run) taken() {
	r.Helper()
	r.until(1, 0)
	<-r.flow.Done()
	r.counts.Add(r.flow.Counts())
	r.flow = nil
}

// settle waits for the world to come to rest, and notes how long that took
// since nothing was broken or sent any more.
func (r *run) settle() {
	r.Helper()
	began := time.Now()
	r.w.Settle(r)
	if since := time.Since(began); r.healed.IsZero() || r.healed.Before(began) {
		r.rest = since
	} else {
		r.rest = time.Since(r.healed)
	}
}
