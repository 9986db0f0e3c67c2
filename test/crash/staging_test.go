package crash_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"sfbridge/test/harness"
)

// The receiver dies while its staging call is under way. The sender has no
// answer and sends again: one row, one record.
func TestStagingMeetsItsFate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fate func(*testing.T, world, *harness.Call)
		want string // answer to the second delivery
	}{
		"killed before the org had it": {
			fate: func(*testing.T, world, *harness.Call) {}, want: "accepted"},
		"killed after it": {
			fate: func(t *testing.T, _ world, first *harness.Call) { first.Forward(t) }, want: "duplicate"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t)
			d := deliveries(1)[0]
			call := w.wire.Trap(harness.Stages)
			lost := send(t, w, d)
			c.fate(t, w, call(t))
			w.bridge.Kill(t)
			assert.Error(t, <-lost, "no answer may have come")
			w.bridge.Start(t)
			assert.Equal(t, c.want, post(t, w.bridge, d))
			w.org.Settle(t)
			checkAll(t, w.org, []delivery{d})
			w.bridge.Stop(t)
		})
	}
}

// The dead receiver's call reaches the org after the event was staged again and
// applied: the org refuses it.
func TestStagingCarriedOutLate(t *testing.T) {
	t.Parallel()
	w := start(t)
	d := deliveries(1)[0]
	call := w.wire.Trap(harness.Stages)
	lost := send(t, w, d)
	first := call(t)
	w.bridge.Kill(t)
	assert.Error(t, <-lost)
	w.bridge.Start(t)
	assert.Equal(t, "accepted", post(t, w.bridge, d))
	w.org.Settle(t)
	assert.Contains(t, string(first.Forward(t).Body), "DUPLICATE_VALUE")
	checkAll(t, w.org, []delivery{d})
	w.bridge.Stop(t)
}

// send delivers an event in the background; the channel has the error.
func send(t *testing.T, w world, d delivery) <-chan error {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		_, err := w.bridge.Post(t.Context(), "shop", signed(d.body()), d.body())
		done <- err
	}()
	return done
}
