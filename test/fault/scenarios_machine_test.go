package fault

import (
	"net/http"
	"time"

	"sfbridge/internal/failpoint"
	"sfbridge/test/fault/ledger"
	"sfbridge/test/fault/world"
	"sfbridge/test/harness"
)

func machineFaults() []scenario {
	return []scenario{
		{name: "disk_full", breaks: "no file can be written", play: broken(fillDisks, logged("file too large"), freeDisks)},
		{name: "disk_full_spooling", breaks: "no file can be written while the org is away: nobody takes anything", play: broken(
			func(r *run) { r.w.Org.Plant(r, away); fillDisks(r) }, logged("file too large"),
			func(r *run) { freeDisks(r); r.w.Org.ClearFaults(r) })},
		{name: "disk_slow", breaks: "each write of spool and journal takes 150 ms", world: world.Config{Ack: "spooled"}, play: broken(
			armed("delay 150ms", failpoint.SpoolCommitting, failpoint.JournalCommitting), always,
			armed("delay 1us", failpoint.SpoolCommitting, failpoint.JournalCommitting))},
		{name: "clock_forward", breaks: "the clock jumps an hour ahead, and back again", play: broken(clock(time.Hour), logged("too_old"), clock(0))},
		{name: "clock_back", breaks: "the clock jumps an hour back, and ahead again", play: broken(clock(-time.Hour), logged("too_new"), clock(0))},
		{name: "dns_gone", breaks: "the org's name resolves no more, connections break", play: broken(dnsGone, logged("no such host"), dnsBack)},
		{name: "effects_refused", breaks: "the receiver of effects refuses, or breaks off after it took one", play: func(r *run) {
			r.send(r.size)
			r.taken()
		}, world: world.Config{Refuses: moody}, terms: ledger.Terms{}},
	}
}

// moody answers two of three requests badly: an error, and no answer at all.
func moody(n int) int {
	switch n % 6 {
	case 0, 1:
		return http.StatusInternalServerError
	case 3, 4:
		return 0
	}
	return http.StatusOK
}

func each(r *run, do func(*world.Instance)) {
	for n := range r.w.Instances() {
		do(r.w.Instance(n))
	}
}

// always holds: what it stands for can't be missed.
func always(*run) bool { return true }

func fillDisks(r *run) { each(r, func(i *world.Instance) { i.FillDisk(r) }) }
func freeDisks(r *run) { each(r, func(i *world.Instance) { i.FreeDisk(r) }) }

// armed sets failpoints on every instance.
func armed(what string, points ...failpoint.Point) func(*run) {
	return func(r *run) {
		each(r, func(i *world.Instance) {
			for _, p := range points {
				i.Arm(r, p, what)
			}
		})
	}
}

func clock(off time.Duration) func(*run) {
	return func(r *run) { each(r, func(i *world.Instance) { i.Clock(r, off) }) }
}

// dnsGone breaks the connections that are open, and no new one can be made.
func dnsGone(r *run) {
	armed("fail", failpoint.Dial)(r)
	r.w.Org.Plant(r, harness.Fault{"operation": "*", "fault": "drop_before", "times": 0})
}

func dnsBack(r *run) {
	each(r, func(i *world.Instance) { i.Disarm(r, failpoint.Dial) })
	r.w.Org.ClearFaults(r)
}
