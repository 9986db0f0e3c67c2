package apply_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"sfbridge/bridge/apply"
)

// BenchmarkApply measures full batches of new records against the simulated
// org in the same process, the org's work included.
func BenchmarkApply(b *testing.B) {
	bed := newBed(b, shop)
	n := 0
	for b.Loop() {
		b.StopTimer()
		events := make([]ev, apply.MaxBatch)
		for i := range events {
			n++
			events[i] = charge(fmt.Sprintf("e%d", n), fmt.Sprintf("ch_%d", n), 1, "Pending")
		}
		bed.stage(events...)
		batch := bed.due()
		b.StartTimer()
		_, err := bed.applier.Apply(bed.ctx, batch)
		require.NoError(b, err)
	}
	b.ReportMetric(float64(b.N*apply.MaxBatch)/b.Elapsed().Seconds(), "events/s")
}
