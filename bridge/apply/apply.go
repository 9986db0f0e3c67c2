package apply

import (
	"context"

	"sfbridge/bridge/event"
)

// MaxBatch is the largest number of events of one call.
const MaxBatch = 200

// Applier applies batches of events. It is safe for concurrent use by lanes
// that hold disjoint queues.
type Applier struct {
	cfg    Config
	shapes *shapes
	pauses *pauses
	traits *traits
}

// New makes an Applier.
func New(cfg Config) (*Applier, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	return &Applier{
		cfg:    cfg,
		shapes: newShapes(cfg),
		pauses: newPauses(cfg),
		traits: &traits{},
	}, nil
}

// Apply decides and commits a batch: at most MaxBatch due events, read with
// their payload and history, all from queues that the caller holds. An event
// with an empty payload goes to Review as unreadable.
//
// The error is that of a call that failed as a whole (an outage, a limit, a
// refused login, a configuration of the staging objects; see
// salesforce.ClassOf): the caller backs off, no attempt was charged. The report
// is valid with an error too; what is not settled is Left.
//
// ctx bounds the whole call. To stop a process cleanly, let the call end and
// start no other; a ctx that ends in between only costs a later look at rows
// that were already moved.
func (a *Applier) Apply(ctx context.Context, batch []*event.Event) (Report, error) {
	r := newRun(a, batch)
	err := r.work(ctx)
	if err == nil {
		err = r.flush(ctx)
	}
	return r.report(), err
}
