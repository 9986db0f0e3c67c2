package fault

import (
	"context"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"sfbridge/test/fault/world"
	"sfbridge/test/harness"
)

// shared is two instances that spool into one Redis first.
var shared = world.Config{Instances: 2, Redis: true, Ack: "spooled"}

// broken breaks something while a part of the traffic is delivered and until it
// was felt. A part that nobody can take is given up after so many refusals.
func broken(hurt func(*run), felt func(*run) bool, heal func(*run)) func(*run) {
	return func(r *run) {
		r.send(r.size)
		r.until(0.2, 0)
		hurt(r)
		r.until(0.5, 50)
		r.w.Until(r, "nothing of it was felt", func() bool { return felt(r) })
		heal(r)
		r.healed = time.Now()
		r.taken()
	}
}

func redisFaults() []scenario {
	return []scenario{
		{name: "redis_killed", breaks: "Redis is killed and started again", world: shared,
			play: broken(func(r *run) { r.w.Redis.Kill(r) }, logged("connection refused"), func(r *run) { r.w.Redis.Start(r) })},
		{name: "redis_killed_full", breaks: "the org is away, and Redis is killed with everything in it", world: shared, play: redisKilledFull},
		{name: "redis_and_org", breaks: "Redis and the org are away: nobody takes anything", world: shared, play: broken(
			func(r *run) { r.w.Org.Plant(r, away); r.w.Redis.Kill(r) }, logged("connection refused"),
			func(r *run) { r.w.Redis.Start(r); r.w.Org.ClearFaults(r) })},
		{name: "redis_flushed", breaks: "Redis is flushed while nothing waits in it", world: shared, play: redisFlushed},
		{name: "redis_full", breaks: "Redis is at maxmemory", world: shared,
			play: broken(redisConfig("maxmemory", "1"), logged("OOM"), redisConfig("maxmemory", "0"))},
		{name: "redis_readonly", breaks: "Redis is a replica that takes no writes", world: shared,
			play: broken(redisDo("REPLICAOF", "127.0.0.1", "1"), logged("READONLY"), redisDo("REPLICAOF", "NO", "ONE"))},
		{name: "redis_blocked", breaks: "Redis answers nothing", world: shared, play: redisBlocked},
		{name: "redis_dropped", breaks: "Redis drops all connections again and again", world: shared, play: redisDropped},
	}
}

// logged holds when an instance has logged a text.
func logged(text string) func(*run) bool {
	return func(r *run) bool { return r.any(func(i *world.Instance) bool { return i.Logged(text) }) }
}

// any tells whether something holds of an instance.
func (r *run) any(holds func(*world.Instance) bool) bool {
	found := false
	each(r, func(i *world.Instance) { found = found || holds(i) })
	return found
}

// away is an org that refuses everything.
var away = harness.Fault{"operation": "*", "fault": "unavailable", "times": 0}

func redisDo(args ...any) func(*run) {
	return func(r *run) { require.NoError(r, client(r).Do(r.Context(), args...).Err()) }
}

func redisConfig(name, value string) func(*run) { return redisDo("CONFIG", "SET", name, value) }

func client(r *run) *redis.Client { return r.w.Redis.Client(r) }

func redisKilledFull(r *run) {
	r.w.Org.Plant(r, away)
	r.send(r.size)
	r.until(0.5, 0)
	r.w.Redis.Kill(r)
	r.w.Redis.Start(r)
	r.taken()
	r.w.Org.ClearFaults(r)
	r.healed = time.Now()
}

// redisFlushed takes all that Redis knows: leases, groups, keys that were
// confirmed, the count of calls. Entries that wait would be lost: Redis has
// said that they are durable.
func redisFlushed(r *run) {
	r.send(r.size / 2)
	r.taken()
	r.w.Drained(r)
	redisDo("FLUSHALL")(r)
	r.send(r.size - r.size/2)
	r.taken()
}

func redisBlocked(r *run) {
	r.send(r.size)
	r.until(0.2, 0)
	r.w.Redis.Signal(r, syscall.SIGSTOP)
	r.until(0.3, 50)
	r.w.Redis.Signal(r, syscall.SIGCONT)
	r.healed = time.Now()
	r.taken()
}

func redisDropped(r *run) {
	r.send(r.size)
	c := client(r)
	for share := 0.1; share < 0.9; share += 0.1 {
		r.until(share, 0)
		ctx, cancel := context.WithTimeout(r.Context(), patience)
		require.NoError(r, c.Do(ctx, "CLIENT", "KILL", "TYPE", "normal").Err())
		cancel()
	}
	r.healed = time.Now()
	r.taken()
}
