package event_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"sfbridge/bridge/event"
)

func TestCompare(t *testing.T) {
	t.Parallel()
	order := func(n int64) *int64 { return &n }
	sorted := []*event.Event{
		{ID: "s:b"}, {ID: "s:c"},
		{ID: "s:z", Order: order(-1)},
		{ID: "s:Z", Order: order(7)}, {ID: "s:a", Order: order(7)},
		{ID: "s:0", Order: order(8)},
	}
	for i, a := range sorted {
		for j, b := range sorted {
			got := event.Compare(a, b)
			switch {
			case i < j:
				assert.Negative(t, got, "%s before %s", a.ID, b.ID)
			case i > j:
				assert.Positive(t, got, "%s after %s", a.ID, b.ID)
			default:
				assert.Zero(t, got)
			}
		}
	}
}

func TestHoldsBack(t *testing.T) {
	t.Parallel()
	tests := []struct {
		status event.Status
		code   string
		want   bool
	}{
		{event.Received, "", true},
		{event.Received, event.CodeParent, true}, // replayed: the old code says nothing any more
		{event.Retryable, event.CodeLock, true},
		{event.Retryable, event.CodeParent, false},
		{event.Retryable, event.CodeTarget, false},
		{event.Applied, "", false},
		{event.Completed, "", false},
		{event.Review, "", false},
	}
	for _, tt := range tests {
		e := &event.Event{Status: tt.status, ErrorCode: tt.code}
		assert.Equal(t, tt.want, e.HoldsBack(), "%s %s", tt.status, tt.code)
	}
}
