package fault

import (
	"math/rand/v2"
	"time"

	"sfbridge/test/fault/world"
	"sfbridge/test/harness"
)

func mixedFaults() []scenario {
	return []scenario{
		{name: "mixed", breaks: "all of the org's passing faults by chance, and kill -9", share: 15, play: mixed(killOne)},
		{name: "mixed_shared", breaks: "the same with two instances, and Redis killed", world: world.Config{Instances: 2, Redis: true},
			share: 15, long: true, play: mixed(killAnything)},
	}
}

// passing are faults that may strike anything at any time, and are nobody's
// fault. Those that ask for a pause of minutes have scenarios of their own; so
// would a limit that strikes a login.
var passing = []string{
	"lock_row", "lock_nested", "unavailable", "html_503", "html_200", "drop_before", "drop_after",
	"expire_session", "malformed", "truncated", "moved", "slow",
}

// mixed has upsets strike while the traffic is delivered: a few faults of the
// org each time, and every fourth time something dies.
func mixed(kill func(*run, *rand.Rand)) func(*run) {
	return func(r *run) {
		random := rand.New(rand.NewPCG(r.seed, 1))
		upsets := 8 + r.size/longEvents
		r.send(r.size)
		for n := range upsets {
			r.until(float64(n+1)/float64(upsets+2), 0)
			for range 3 {
				r.w.Org.Plant(r, harness.Fault{
					"fault": passing[random.IntN(len(passing))], "after": random.IntN(5), "times": 1 + random.IntN(3), "delay": "200ms",
				})
			}
			if n%4 == 3 {
				kill(r, random)
			}
		}
		r.w.Org.ClearFaults(r)
		r.healed = time.Now()
		r.taken()
	}
}

func killOne(r *run, random *rand.Rand) {
	r.w.Instance(random.IntN(r.w.Instances())).Kill(r)
}

// killAnything kills an instance or Redis.
func killAnything(r *run, random *rand.Rand) {
	if random.IntN(2) == 0 {
		r.w.Redis.Kill(r)
		r.w.Redis.Start(r)
		return
	}
	killOne(r, random)
}
