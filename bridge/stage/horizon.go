package stage

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"sfbridge/bridge/event"
	"sfbridge/salesforce"
	"sfbridge/salesforce/soql"
)

// horizonsFor is how long the horizons of queues are used before they are read
// again. Retention waits longer than that, and than a batch may take, between
// moving a horizon on and deleting rows.
const horizonsFor = 10 * time.Second

// recent is the age from which an event can be older than a horizon: rows are
// kept longer than that by every setting, whatever the clocks.
const recent = 30 * time.Minute

// horizons are up to when retention has deleted the rows of each queue: an event
// from before can't be told from one that was worked on and is gone. They are
// only asked for when an event is old enough to be concerned.
type horizons struct {
	mu     sync.Mutex
	read   time.Time // when the answer was asked for; zero: never
	queues map[string]time.Time
	flight singleflight.Group
}

// screen sends an event that is older than its queue's horizon to review. What
// reconciliation made is told from others by its time and is not concerned.
func (s *Stager) screen(ctx context.Context, e *event.Event) (*event.Event, error) {
	now := s.cfg.Now()
	if !e.Open() || e.SourceTime.IsZero() || now.Sub(e.SourceTime) < recent || event.IsRepair(e.ID) {
		return e, nil
	}
	queues, err := s.knownHorizons(ctx, now)
	if err != nil {
		return nil, err
	}
	// Rows of the entity may be gone from the other processor's queue.
	horizon := queues[e.HomeQueue]
	if other := queues[event.SisterQueue(e.HomeQueue)]; other.After(horizon) {
		horizon = other
	}
	if !e.SourceTime.Before(horizon) {
		return e, nil
	}
	return reviewCopy(e, reviewed{id: e.ID, code: event.CodeTooOld, at: now,
		why: fmt.Sprintf("from %s: rows received up to %s are deleted, so it can't be told whether it was worked on before",
			e.SourceTime.UTC().Format(time.RFC3339), horizon.UTC().Format(time.RFC3339))}), nil
}

// knownHorizons gives the horizons, read anew when they are too long known. All
// who need them meanwhile wait for one call.
func (s *Stager) knownHorizons(ctx context.Context, now time.Time) (map[string]time.Time, error) {
	h := &s.horizons
	h.mu.Lock()
	queues, fresh := h.queues, !h.read.IsZero() && now.Sub(h.read) < horizonsFor
	h.mu.Unlock()
	if fresh {
		return queues, nil
	}
	done := h.flight.DoChan("", func() (any, error) {
		ctx, cancel := context.WithTimeout(s.root, s.cfg.Timeout)
		defer cancel()
		return s.readHorizons(ctx)
	})
	select {
	case r := <-done:
		if r.Err != nil {
			return nil, unknownHorizons(r.Err)
		}
		return r.Val.(map[string]time.Time), nil
	case <-ctx.Done():
		return nil, &Unavailable{Reason: "not staged in time", Cause: ctx.Err()}
	}
}

// unknownHorizons tells an org that is away from one that refuses to answer: the
// one comes back by itself, the other needs an administrator.
func unknownHorizons(err error) error {
	if e, ok := salesforce.AsError(err); ok && e.Status == 0 {
		return unavailable("Salesforce can't be reached", err)
	}
	return unavailable("Salesforce does not say which events are too old", err)
}

func (s *Stager) readHorizons(ctx context.Context) (map[string]time.Time, error) {
	asked := s.cfg.Now()
	q, err := soql.Select(event.QueueFieldName, event.QueueFieldHorizon).From(event.QueueObject).
		Where(soql.NotNull(event.QueueFieldHorizon)).Build()
	if err != nil {
		return nil, err
	}
	records, err := s.cfg.Salesforce.Query(ctx, q)
	if err != nil {
		return nil, err
	}
	queues := make(map[string]time.Time, len(records))
	for _, r := range records {
		queues[r.String(event.QueueFieldName)], _ = r.Time(event.QueueFieldHorizon)
	}
	s.horizons.mu.Lock()
	defer s.horizons.mu.Unlock()
	s.horizons.read, s.horizons.queues = asked, queues
	return queues, nil
}
