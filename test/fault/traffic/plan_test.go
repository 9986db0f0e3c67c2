package traffic_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"sfbridge/test/fault/traffic"
)

// A plan tells every event at least once, some of them again, not in their
// order, and the same seed tells the same.
func TestPlan(t *testing.T) {
	t.Parallel()
	p := traffic.Plan(traffic.Config{Events: 400, Seed: 3, Prefix: "t"})
	assert.Len(t, p.Events, 400)
	told, sources := map[string]int{}, map[string]int{}
	for _, d := range p.Deliveries {
		told[d.Event.ID]++
	}
	for _, e := range p.Events {
		assert.Positive(t, told[e.ID], e.ID)
		sources[e.Object]++
	}
	assert.Len(t, told, 400, "ids differ")
	assert.Greater(t, len(p.Deliveries), 450)
	assert.Len(t, sources, len(traffic.Providers()))
	overtaken := 0
	seen := map[string]traffic.Event{}
	for _, d := range p.Deliveries {
		if before, known := seen[d.Event.Key]; known && before.Later(d.Event) {
			overtaken++
		}
		seen[d.Event.Key] = d.Event
	}
	assert.Greater(t, overtaken, 50)
	assert.Equal(t, p.Deliveries[7].Event.ID, traffic.Plan(traffic.Config{Events: 400, Seed: 3, Prefix: "t"}).Deliveries[7].Event.ID)
}

// States of a payment never go back in its history, so that every history is
// permitted in whatever order it arrives.
func TestHistoriesArePermitted(t *testing.T) {
	t.Parallel()
	place := map[string]int{traffic.Pending: 1, traffic.Succeeded: 2, traffic.Refunded: 3}
	last := map[string]traffic.Event{}
	for _, e := range traffic.Plan(traffic.Config{Events: 600, Seed: 5}).Events {
		if before, known := last[e.Key]; known && e.State != "" {
			assert.GreaterOrEqual(t, place[e.State], place[before.State], e.ID)
			assert.False(t, e.At.Before(before.At), e.ID)
		}
		last[e.Key] = e
	}
}
