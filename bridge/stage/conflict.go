package stage

import (
	"context"
	"sync"

	"sfbridge/bridge/event"
	"sfbridge/salesforce/soql"
)

// conflicts remembers how many conflict rows an original has, so that a sender
// who changes its body every time costs no query each.
type conflicts struct {
	mu   sync.Mutex
	seen map[string]map[string]bool // row id of the original -> event ids of its conflict rows
}

// maxOriginals bounds the memory; beyond it the oldest knowledge is dropped.
const maxOriginals = 10_000

// keepConflict stages other content under a known id as a row for review, up to
// MaxConflicts rows an event; further ones are counted on the original.
func (s *Stager) keepConflict(w *waiter, original known) {
	s.work.Add(1)
	go func() {
		defer s.work.Done()
		ctx, cancel := context.WithTimeout(s.root, s.cfg.Timeout)
		defer cancel()
		id := event.ConflictID(w.event.ID, w.event.Hash)
		room, err := s.conflictRoom(ctx, original.row, id)
		if err != nil {
			w.answer(Answer{EventID: w.event.ID, Err: unavailable("looking for conflicts", err)})
			return
		}
		if !room {
			s.counts.add(original.row, s.cfg.Now())
			w.answer(Answer{EventID: w.event.ID, Status: Conflict})
			return
		}
		s.stageConflict(w, original, id)
	}()
}

// conflictRoom says whether the conflict row may be staged, and takes its place
// among the original's.
func (s *Stager) conflictRoom(ctx context.Context, original, id string) (bool, error) {
	c := &s.conflicts
	c.mu.Lock()
	defer c.mu.Unlock()
	rows, ok := c.seen[original]
	if !ok {
		records, err := s.query(ctx, soql.Eq(event.FieldConflictOf, original))
		if err != nil {
			return false, err
		}
		rows = map[string]bool{}
		for _, r := range records {
			rows[r.String(event.FieldID)] = true
		}
		if c.seen == nil || len(c.seen) >= maxOriginals {
			c.seen = map[string]map[string]bool{}
		}
		c.seen[original] = rows
	}
	if rows[id] {
		return true, nil
	}
	if len(rows) >= s.cfg.MaxConflicts {
		return false, nil
	}
	rows[id] = true
	return true, nil
}

// stageConflict stages the conflict row and answers the waiter by it.
func (s *Stager) stageConflict(w *waiter, original known, id string) {
	e := reviewCopy(w.event, reviewed{id: id, code: event.CodeConflict, at: s.cfg.Now(),
		why: "other content under the id of an event that was accepted before"})
	e.Outcome = event.Conflict
	e.ConflictOf = original.row
	inner := s.enter(Request{Event: e})
	a := <-inner.done
	if a.Err == nil && a.Status == Accepted {
		a.Status = Conflict
	}
	w.answer(a)
}
