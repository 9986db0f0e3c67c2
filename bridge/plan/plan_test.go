package plan_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"sfbridge/bridge/plan"
)

// load is what the command plans for when only the events are given.
func load(events float64) plan.Load {
	return plan.Load{EventsPerDay: events, Burst: 10, Objects: 1, RetentionDays: 90, PayloadBytes: 2000, Budget: 0.8}
}

func made(t require.TestingT, l plan.Load) plan.Report {
	r, err := plan.Make(l)
	require.NoError(t, err)
	return r
}

// against is the verdict of one edition.
func against(t require.TestingT, l plan.Load, edition string) plan.Verdict {
	l.Edition = edition
	r := made(t, l)
	require.Len(t, r.Editions, 1)
	return r.Editions[0]
}

// TestTheArithmetic is done by hand for a million events a day.
func TestTheArithmetic(t *testing.T) {
	t.Parallel()
	l := load(1_000_000)
	l.RetentionDays, l.Licenses, l.Effects, l.Objects = 10, 50, 2, 3
	r := made(t, l)
	assert.InDelta(t, 11.574, r.PerSecond, 0.001)
	assert.InDelta(t, 115.74, r.Peak, 0.01)
	assert.InDelta(t, 0.025+2*0.015+2*0.01, r.Calls.FullPerEvent, 1e-9)
	assert.InDelta(t, 75_000+3000, r.Calls.FullPerDay, 1e-6)
	assert.InDelta(t, 30_000_000, r.Storage.Rows, 1e-6, "an event and its two effects, for ten days")
	assert.InDelta(t, 58_593.75, r.Storage.MB, 1e-6, "2 KB a row")
	assert.InDelta(t, 11.574*3600*(500+1.2*2000)/1024/1024, r.Redis.MBPerHour, 0.01)
	assert.InDelta(t, 10*r.Redis.MBPerHour, r.Redis.MBPerPeakHour, 1e-6)
	assert.Equal(t, 1, r.Processes)
	enterprise := r.Editions[1]
	assert.Equal(t, "enterprise", enterprise.Edition)
	assert.Equal(t, 150_000, enterprise.CallLimit, "100,000 and 1,000 for each license")
	assert.InDelta(t, 0.52, enterprise.FullShare, 1e-6)
	assert.InDelta(t, 10*1024+20*50, enterprise.StorageMB, 1e-6)
	assert.InDelta(t, 1.918, enterprise.RetentionDays, 0.001)
}

func TestWhatFits(t *testing.T) {
	t.Parallel()
	days := func(l plan.Load, n int) plan.Load { l.RetentionDays = n; return l }
	licensed := func(l plan.Load, n int) plan.Load { l.Licenses = n; return l }
	for _, c := range []struct {
		name, edition string
		load          plan.Load
		fits          string
	}{
		{"a small developer org", "developer", days(load(500), 5), plan.FitsYes},
		{"rows fill it", "developer", load(500), plan.FitsStorage},
		{"a call for each step of each event", "enterprise", days(load(50_000), 30), plan.FitsPaced},
		{"a call to stage each event", "enterprise", days(load(100_000), 30), plan.FitsBatches},
		{"five million events a day with full batches", "unlimited", days(load(3_000_000), 1), plan.FitsBatches},
		{"more than any batch carries", "enterprise", days(load(10_000_000), 1), plan.FitsCalls},
		{"a few thousand", "enterprise", load(10_000), plan.FitsYes},
		{"staging alone is more than the budget", "unlimited", licensed(days(load(1_000_000), 5), 100), plan.FitsBatches},
	} {
		assert.Equal(t, c.fits, against(t, c.load, c.edition).Fits, c.name)
	}
}

func TestProcessesForThePeak(t *testing.T) {
	t.Parallel()
	for peak, want := range map[float64]int{1: 1, 999: 1, 1001: 2, 4500: 5} {
		l := load(peak * 86_400)
		l.Burst = 1
		assert.Equal(t, want, made(t, l).Processes, "%v events/s", peak)
	}
}

func TestWhatCannotBePlannedIsNamed(t *testing.T) {
	t.Parallel()
	_, err := plan.Make(plan.Load{EventsPerDay: math.NaN(), Objects: 21, Effects: -1, PayloadBytes: 1 << 30, Licenses: -1, Budget: 2, Edition: "gold"})
	require.Error(t, err)
	for _, flag := range []string{"events-per-day", "burst", "objects", "effects", "retention-days", "payload", "licenses", "budget", "edition"} {
		assert.ErrorContains(t, err, "--"+flag+" ")
	}
	assert.ErrorContains(t, err, "developer, enterprise, unlimited")
}

// TestMoreCostsMore: whatever the load, more events, effects, objects or days
// never need less, and evenly spread events never cost fewer calls than full
// batches.
func TestMoreCostsMore(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := load(rapid.Float64Range(1, 5e8).Draw(t, "events"))
		l.Effects = rapid.Float64Range(0, 10).Draw(t, "effects")
		l.Objects = rapid.IntRange(1, 10).Draw(t, "objects")
		l.RetentionDays = rapid.IntRange(1, 1000).Draw(t, "days")
		before := made(t, l)
		require.GreaterOrEqual(t, before.Calls.EvenPerDay, before.Calls.FullPerDay*(1-1e-9))
		require.LessOrEqual(t, before.Calls.PacedPerDay, before.Calls.EvenPerDay)
		require.GreaterOrEqual(t, before.Calls.PacedPerDay, before.Calls.FullPerDay*(1-1e-9))
		more := l
		switch rapid.IntRange(0, 3).Draw(t, "what") {
		case 0:
			more.EventsPerDay *= rapid.Float64Range(1, 2).Draw(t, "times")
		case 1:
			more.Effects++
		case 2:
			more.Objects++
		case 3:
			more.RetentionDays++
		}
		after := made(t, more)
		require.GreaterOrEqual(t, after.Calls.FullPerDay, before.Calls.FullPerDay)
		require.GreaterOrEqual(t, after.Storage.Rows, before.Storage.Rows)
		require.GreaterOrEqual(t, after.Processes, before.Processes)
		require.LessOrEqual(t, after.Calls.EvenPerEvent, before.Calls.EvenPerEvent*(1+1e-9)+
			before.Calls.EvenPerEvent*boolean(more.Effects > l.Effects || more.Objects > l.Objects), "more events share more calls")
	})
}

func boolean(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
