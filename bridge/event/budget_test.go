package event_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"sfbridge/bridge/event"
)

func TestYieldsInOrder(t *testing.T) {
	t.Parallel()
	all := []event.Work{event.ReconcileWork, event.RetainWork, event.CountWork, event.EffectWork, event.PollWork}
	resting := func(used int64) int {
		n := 0
		for i, w := range all {
			if w.Yields(used, 1000, 0.8) {
				assert.Equal(t, i, n, "a later kind rests before an earlier one at %d", used)
				n++
			}
		}
		return n
	}
	for used, want := range map[int64]int{0: 0, 799: 0, 801: 1, 841: 2, 881: 3, 921: 4, 961: 5, 1000: 5, 2000: 5} {
		assert.Equal(t, want, resting(used), "%d of 1000 calls used", used)
	}
	assert.False(t, event.ReconcileWork.Yields(10, 0, 0.8), "an unknown limit")
}
