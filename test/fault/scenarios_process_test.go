package fault

import (
	"syscall"
	"time"

	"sfbridge/test/fault/world"
)

func processFaults() []scenario {
	return []scenario{
		{name: "restarted", breaks: "the process stops in order and starts again, five times", play: restarted},
		{name: "killed", breaks: "kill -9 at any moment, five times", play: killed},
		{name: "killed_shared", breaks: "one of two instances that share a Redis is killed", world: shared, long: true, play: killedShared},
		{name: "killed_in_redis_calls", breaks: "kill -9 while Redis has a write that it has not answered", world: world.Config{Redis: true, Ack: "spooled"},
			long: true, play: killedInRedis},
		{name: "frozen", breaks: "one of two instances stands still, and goes on", world: shared, long: true, play: frozen},
		{name: "killed_between_steps", breaks: "kill -9 between every two steps, staged in the org", world: world.Config{Org: unnamed}, play: killedAt(steps(false))},
		{name: "killed_between_steps_spooled", breaks: "kill -9 between every two steps, by way of the file", world: world.Config{Ack: "spooled", Org: unnamed},
			play: killedAt(steps(true))},
		{name: "killed_in_calls", breaks: "kill -9 while the org works on a call, for each kind of call", world: world.Config{Org: unnamed, Delay: 300 * time.Millisecond},
			play: killedAt(inCalls())},
	}
}

func restarted(r *run) { fiveTimes(r, func() { r.w.Instance(0).Restart(r) }) }

func killed(r *run) { fiveTimes(r, func() { r.w.Instance(0).Kill(r) }) }

// fiveTimes does it at five moments of the traffic.
func fiveTimes(r *run, do func()) {
	r.send(r.size)
	for n := range 5 {
		r.until(0.15*float64(n+1), 0)
		do()
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

// killedInRedis kills a process whose entries are on their way into a Redis that
// stands still: Redis takes them when it goes on, for senders that have no answer.
func killedInRedis(r *run) {
	r.send(r.size)
	r.until(0.3, 0)
	r.w.Redis.Signal(r, syscall.SIGSTOP)
	r.w.Until(r, "no delivery waits for Redis", r.waits)
	r.w.Instance(0).Kill(r)
	r.w.Redis.Signal(r, syscall.SIGCONT)
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
