package app

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// value reads a metric without labels as a scrape would.
func value(t *testing.T, m *Metrics, name string) float64 {
	t.Helper()
	families, err := m.Registry.Gather()
	require.NoError(t, err)
	for _, f := range families {
		if f.GetName() == name {
			return f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	t.Fatalf("no metric %s", name)
	return 0
}

func TestTheAgeOfTheOldestDueRowGrowsBetweenQueries(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	m := NewMetrics(func() float64 { return 0 })
	m.now = func() time.Time { return now }
	assert.Zero(t, value(t, m, "bridge_oldest_due_seconds"), "nothing is known yet")

	m.Due(3, now.Add(-10*time.Second))
	assert.InDelta(t, 3, value(t, m, "bridge_due_events"), 0)
	assert.InDelta(t, 10, value(t, m, "bridge_oldest_due_seconds"), 0)
	now = now.Add(time.Hour)
	assert.InDelta(t, 3610, value(t, m, "bridge_oldest_due_seconds"), 0, "an org that is down stops no clock")
	now = now.Add(-2 * time.Hour)
	assert.Zero(t, value(t, m, "bridge_oldest_due_seconds"), "the org's clock may be ahead of ours")

	m.Due(0, time.Time{})
	assert.Zero(t, value(t, m, "bridge_due_events"))
	assert.Zero(t, value(t, m, "bridge_oldest_due_seconds"))
}
