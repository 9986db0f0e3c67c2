package apply

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"sfbridge/bridge/event"
	"sfbridge/salesforce"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func waitingRun() *run {
	cfg := Config{Now: func() time.Time { return noon }, Float: rand.Float64, MaxAttempts: 3}.withDefaults()
	return &run{Applier: &Applier{cfg: cfg}}
}

func received(ago time.Duration, change ...func(*event.Event)) *item {
	ev := &event.Event{ID: "s:a", Status: event.Received, ReceivedAt: noon.Add(-ago)}
	for _, c := range change {
		c(ev)
	}
	return &item{ev: ev}
}

func TestAwait(t *testing.T) {
	t.Parallel()
	waited := func(ev *event.Event) { ev.Status, ev.ErrorCode = event.Retryable, event.CodeParent }
	used := func(ev *event.Event) { ev.Attempts = 2 }
	tests := []struct {
		name     string
		it       *item
		status   event.Status
		attempts int
		waits    bool
	}{
		{"CostsNothing", received(time.Minute), event.Retryable, 0, true},
		{"CostsNothingAgain", received(23*time.Hour, waited), event.Retryable, 0, true},
		{"WaitIsOver", received(25*time.Hour, waited), event.Review, 0, false},
		{"FirstLookAfterLongOutage", received(25 * time.Hour), event.Retryable, 1, true},
		{"AttemptsUsedUp", received(25*time.Hour, used), event.Review, 3, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			v := waitingRun().await(tt.it, event.CodeParent, "missing")
			assert.Equal(t, tt.status, v.status)
			assert.Equal(t, tt.attempts, v.attempts)
			assert.Equal(t, tt.waits, v.waits)
			assert.Equal(t, event.CodeParent, v.code)
			if v.status == event.Retryable {
				assert.False(t, v.next.Before(noon.Add(minWait)))
				assert.False(t, v.next.After(noon.Add(15*time.Minute)))
			}
		})
	}
}

func TestLocked(t *testing.T) {
	t.Parallel()
	fault := salesforce.Fault{Code: "UNABLE_TO_LOCK_ROW", Message: "unable to obtain exclusive access", Class: salesforce.ClassRetryable}
	fresh := waitingRun().locked(received(59*time.Minute), fault)
	assert.Equal(t, event.Retryable, fresh.status)
	assert.Zero(t, fresh.attempts)
	assert.False(t, fresh.waits, "a locked event holds later ones back")

	old := waitingRun().locked(received(2*time.Hour), fault)
	assert.Equal(t, event.Retryable, old.status)
	assert.Equal(t, 1, old.attempts)

	worn := waitingRun().locked(received(2*time.Hour, func(ev *event.Event) { ev.Attempts = 2 }), fault)
	assert.Equal(t, event.Review, worn.status)
}

func TestChargedHonoursTheHint(t *testing.T) {
	t.Parallel()
	v := waitingRun().charged(received(0), "UNKNOWN_EXCEPTION", "", time.Hour)
	assert.Equal(t, noon.Add(time.Hour), v.next)
	assert.Equal(t, 1, v.attempts)
}
