package bench

import (
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// small is a run that is over soon.
func small(t *testing.T) *world {
	t.Helper()
	w, err := newWorld(Config{
		Senders: 8, Events: 100_000, Latency: 2 * time.Millisecond, Window: 200 * time.Millisecond, WarmUp: 50 * time.Millisecond, Outage: 400,
	}.withDefaults())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.close()) })
	return w
}

func TestSpoolOnAFileIsMeasuredAroundAnOutage(t *testing.T) {
	t.Parallel()
	w, r := small(t), Report{}
	require.NoError(t, w.measureSpoolFile(t.Context(), &r))
	require.Len(t, r.Table, 2)
	o := r.Spooled.File
	assert.Positive(t, o.Receive.EventsPerSecond)
	assert.Zero(t, o.Receive.CallsPerEvent, "the org is away")
	assert.Positive(t, o.Receive.P99)
	assert.Equal(t, 400, o.Drain.Events, "every event comes out")
	assert.Positive(t, o.Drain.CallsPerEvent)
	assert.Less(t, o.Drain.CallsPerEvent, 0.5, "in batches")
	assert.Zero(t, o.Drain.P99, "nobody waits for a drain")
}

// Events that are used up before the warm-up is over are measured all the same.
func TestAShortOutageIsMeasuredFromItsBeginning(t *testing.T) {
	t.Parallel()
	w := small(t)
	w.cfg.WarmUp = time.Hour
	o, err := w.outage(t.Context(), "file", setup{}, 40)
	require.NoError(t, err)
	assert.Equal(t, 40, o.Receive.Events)
	assert.Positive(t, o.Receive.P99)
	assert.Equal(t, 40, o.Drain.Events)
}

func TestRedisIsMeasuredBesideABareServerOrItIsSaidWhyNot(t *testing.T) {
	t.Parallel()
	w, r := small(t), Report{}
	require.NoError(t, w.measureSpoolRedis(t.Context(), &r))
	if _, err := exec.LookPath("redis-server"); err != nil {
		assert.Contains(t, r.Spooled.WithoutWhy, "apt-get install redis-server")
		assert.Empty(t, r.Table)
		return
	}
	require.Len(t, r.Table, 3)
	assert.Equal(t, 400, r.Spooled.Redis.Drain.Events)
	assert.Positive(t, r.Spooled.Redis.Receive.EventsPerSecond)
	assert.Positive(t, r.Spooled.Bare.EventsPerSecond)
	assert.Zero(t, r.Spooled.Bare.CallsPerEvent)
}

func TestBulkIsMeasuredBesideCollections(t *testing.T) {
	t.Parallel()
	w, r := small(t), Report{}
	require.NoError(t, w.measureBulk(t.Context(), &r))
	require.Len(t, r.Bulk, 3)
	for _, way := range r.Bulk {
		assert.Equal(t, 400, way.Events, way.Name)
		assert.Positive(t, way.EventsPerSecond, way.Name)
	}
	assert.Equal(t, 2, r.Bulk[0].APICalls)
	for n, jobs := range []int{1, 4} {
		assert.GreaterOrEqual(t, r.Bulk[n+1].APICalls, 7*jobs, "a job is made, filled, closed, asked for and read")
	}
}

// A curve has a point for each value, and measures none twice.
func TestACurveTurnsOneKnob(t *testing.T) {
	t.Parallel()
	w := small(t)
	var turned []int
	k := knob{"batch", "Rows a call", "rows", []int{20, 200}, func(p *place, v int) {
		turned = append(turned, v)
		p.batch = v
	}}
	usual := place{latency: w.cfg.Latency}
	known := map[spot]Point{{200, 4, 1, w.cfg.Latency}: {Staged: 7}}
	c, err := w.curve(t.Context(), k, usual, known)
	require.NoError(t, err)
	assert.Equal(t, []int{20, 200}, turned)
	require.Len(t, c.Points, 2)
	assert.Equal(t, Point{X: 200, Staged: 7}, c.Points[1], "known")
	first := c.Points[0]
	assert.Equal(t, 20.0, first.X)
	for name, v := range map[string]float64{"staged": first.Staged, "spooled": first.Spooled, "drain": first.Drain, "business": first.Business} {
		assert.Positive(t, v, name)
	}
	assert.Len(t, known, 2)
}

func TestKnobsTurnWhatTheySay(t *testing.T) {
	t.Parallel()
	got := map[string]place{}
	for _, k := range knobs(Config{}.withDefaults()) {
		var p place
		k.turn(&p, k.values[len(k.values)-1])
		got[k.name] = p
	}
	assert.Equal(t, map[string]place{
		"batch": {setup: setup{batch: 200}}, "lanes": {setup: setup{lanes: 8}},
		"latency": {latency: 400 * time.Millisecond}, "instances": {setup: setup{instances: 4}, latency: 400 * time.Millisecond},
	}, got)
}

// Several bridges share the senders, and what they have used is added up.
func TestAFleetSharesTheSenders(t *testing.T) {
	t.Parallel()
	w := small(t)
	f, err := w.launch(t.Context(), setup{instances: 2, roles: []string{"receive"}})
	require.NoError(t, err)
	require.Len(t, f.addresses(), 2)
	assert.NotEqual(t, f.addresses()[0], f.addresses()[1])
	got, err := w.receive(t.Context(), "two", f)
	require.NoError(t, err)
	assert.Positive(t, got.Events)
	require.NoError(t, f.stop())
}
