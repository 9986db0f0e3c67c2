package world

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sfbridge/bridge/store/storetest"
	"sfbridge/test/fault/traffic"
	"sfbridge/test/harness"
)

// tag compiles the failpoints in.
const tag = "failpoint"

// Config says what to run.
type Config struct {
	Instances int    // 0: one
	Redis     bool   // shared by the instances
	Ack       string // empty: auto
	Batch     int    // most events of one call
	Org       []string
	// Refuses is the status of the n-th request for an effect, from 1; 0 cuts the
	// connection after it was taken. nil: always 200.
	Refuses func(n int) int
	Delay   time.Duration // of each answer to a request for an effect
}

// World is what runs.
type World struct {
	Org      *harness.Org
	Redis    *storetest.Server // nil: none
	Receiver *Receiver

	began     time.Time
	asked     int // queries of the suite's own
	mu        sync.Mutex
	instances []*Instance
}

// Start runs everything.
func Start(t testing.TB, c Config) *World {
	t.Helper()
	w := &World{
		Org: harness.StartOrg(t, append([]string{"--samples"}, c.Org...)...), Receiver: startReceiver(t, c), began: time.Now(),
	}
	if c.Redis {
		w.Redis = storetest.StartRedis(t, storetest.Durable()...)
	}
	for n := range max(1, c.Instances) {
		w.instances = append(w.instances, w.newInstance(t, n, c))
	}
	return w
}

func (w *World) newInstance(t testing.TB, n int, c Config) *Instance {
	t.Helper()
	i := &Instance{points: t.TempDir()}
	env := traffic.Secrets()
	env["RECEIPT_URL"] = w.Receiver.URL + "/receipts"
	env["BRIDGE_FAILPOINTS"] = i.points
	mappings := map[string]string{}
	for _, p := range traffic.Providers() {
		mappings[p.Source+".yaml"] = p.Mapping
	}
	ack := c.Ack
	if ack == "" {
		ack = "auto"
	}
	settings := harness.Config{
		Name: fmt.Sprintf("bridge %d", n+1), Org: w.Org, Program: harness.BuildTagged(t, tag), Mappings: mappings, Env: env,
		Outbound: fmt.Sprintf("{allow: [%q]}", strings.TrimPrefix(w.Receiver.URL, "http://")),
		Receiver: fmt.Sprintf("{linger: 5ms, ack: %s, ack_timeout: 2s, batch: %d}", ack, c.Batch),
		Poller:   fmt.Sprintf("{interval: 100ms, idle: 1s, batch: %d, max_attempts: 40, backoff: {base: 100ms, max: 2s}}", c.Batch),
	}
	if w.Redis != nil {
		env["REDIS_URL"] = w.Redis.URL()
		settings.Store = `{dir: ./data, redis: "${REDIS_URL}"}`
	}
	i.bridge = harness.StartBridge(t, settings)
	i.starts++
	return i
}

// Target is the address for the n-th try: the instances take turns.
func (w *World) Target(n int) string { return w.instances[n%len(w.instances)].bridge.URL() }

// Instance gives an instance.
func (w *World) Instance(n int) *Instance { return w.instances[n] }

// Instances is the number of processes at once.
func (w *World) Instances() int { return len(w.instances) }

// Kills counts the processes that were killed.
func (w *World) Kills() int {
	n := 0
	for _, i := range w.instances {
		n += i.kills
	}
	return n
}

// Forward moves the clocks of all processes on and starts them again, so that
// pauses of minutes are over.
func (w *World) Forward(t testing.TB, by time.Duration) {
	t.Helper()
	for _, i := range w.instances {
		i.Clock(t, by)
		i.Restart(t)
	}
}

// count asks the org for a number; the call is the suite's own.
func (w *World) count(t testing.TB, soql string) int {
	t.Helper()
	w.mu.Lock()
	w.asked++
	w.mu.Unlock()
	return w.Org.Count(t, soql)
}

// spooled is how many events wait in spools, as the processes tell.
func (w *World) spooled(t testing.TB) int {
	t.Helper()
	depths := []int{0}
	for _, i := range w.instances {
		depths = append(depths, i.metric(t, "bridge_spool_depth"))
	}
	return slices.Max(depths)
}
