package fault

import (
	"time"

	"sfbridge/test/fault/world"
)

func processFaults() []scenario {
	return []scenario{
		{name: "restarted", breaks: "the process stops in order and starts again, five times", play: restarted},
		{name: "killed", breaks: "kill -9 at any moment, five times", play: killed},
		{name: "killed_shared", breaks: "one of two instances that share a Redis is killed", world: shared, long: true, play: killedShared},
		{name: "frozen", breaks: "one of two instances stands still, and goes on", world: shared, long: true, play: frozen},
		{name: "killed_between_steps", breaks: "kill -9 between every two steps, staged in the org", world: world.Config{Org: unnamed}, play: killedAt(steps(false))},
		{name: "killed_between_steps_spooled", breaks: "kill -9 between every two steps, by way of the file", world: world.Config{Ack: "spooled", Org: unnamed},
			play: killedAt(steps(true))},
		{name: "killed_in_calls", breaks: "kill -9 while the org works on a call, for each kind of call", world: world.Config{Org: unnamed},
			play: killedAt(inCalls())},
	}
}

func restarted(r *run) {
	r.send(r.size)
	for n := range 5 {
		r.until(0.15*float64(n+1), 0)
		r.w.Instance(0).Restart(r)
	}
	r.healed = time.Now()
	r.taken()
}

func killed(r *run) {
	r.send(r.size)
	for n := range 5 {
		r.until(0.15*float64(n+1), 0)
		r.w.Instance(0).Kill(r)
	}
	r.healed = time.Now()
	r.taken()
}

func killedShared(r *run) {
	r.send(r.size)
	r.until(0.4, 0)
	r.w.Instance(1).Kill(r)
	r.healed = time.Now()
	r.taken()
}

// frozen stops an instance for as long as the others take a part of the
// traffic. What it held goes on afterwards, late.
func frozen(r *run) {
	r.send(r.size)
	r.until(0.2, 0)
	r.w.Instance(1).Freeze(r)
	r.until(0.6, 20)
	r.w.Instance(1).Thaw(r)
	r.healed = time.Now()
	r.taken()
}
