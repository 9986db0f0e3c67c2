package stage

import (
	"context"
	"sync"
	"time"

	"sfbridge/bridge/event"
	"sfbridge/salesforce"
	"sfbridge/salesforce/soql"
)

// conflicts remembers the conflict rows of originals, so that a sender who
// changes its body every time costs no query each. Other processes stage
// conflicts too: the memory may say that there is no room, never that there is.
type conflicts struct {
	mu   sync.Mutex
	seen map[string]map[string]bool // row id of the original -> event ids of its conflict rows
}

// maxOriginals bounds the memory; beyond it the oldest knowledge is dropped.
const maxOriginals = 10_000

// keepConflict stages other content under a known id as a row for review, up to
// MaxConflicts rows an event; further ones are counted on the original.
func (s *Stager) keepConflict(w *waiter, original known) {
	started := s.goOn(func() {
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
	})
	if !started {
		w.answer(Answer{EventID: w.event.ID, Err: &Unavailable{Reason: "shutting down"}})
	}
}

// goOn runs work in the background that Close waits for; false once Close has
// begun.
func (s *Stager) goOn(work func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.work.Go(work)
	return true
}

// conflictRoom says whether the conflict row may be staged, and takes its place
// among the original's.
func (s *Stager) conflictRoom(ctx context.Context, original, id string) (bool, error) {
	if room, known := s.conflicts.known(original, id, s.cfg.MaxConflicts); known {
		return room, nil
	}
	records, err := s.query(ctx, soql.Eq(event.FieldConflictOf, original))
	if err != nil {
		return false, err
	}
	return s.conflicts.take(original, id, records, s.cfg.MaxConflicts), nil
}

// known answers what needs no query.
func (c *conflicts) known(original, id string, most int) (room, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	rows := c.seen[original]
	return rows[id], rows[id] || len(rows) >= most
}

// take takes a place beside the rows that the org has, if there is room.
func (c *conflicts) take(original, id string, records []salesforce.Record, most int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen == nil || len(c.seen) >= maxOriginals {
		c.seen = map[string]map[string]bool{}
	}
	rows := c.seen[original]
	if rows == nil {
		rows = map[string]bool{}
		c.seen[original] = rows
	}
	for _, r := range records {
		rows[r.String(event.FieldID)] = true
	}
	if !rows[id] && len(rows) >= most {
		return false
	}
	rows[id] = true
	return true
}

// leave gives the place of a row back that could not be staged: else contents
// that nobody kept would use up the room of those that can be.
func (c *conflicts) leave(original, id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.seen[original], id)
}

// stageConflict stages the conflict row and answers the waiter by it.
func (s *Stager) stageConflict(w *waiter, original known, id string) {
	e := reviewCopy(w.event, reviewed{id: id, code: event.CodeConflict, at: s.cfg.Now(),
		why: "other content under the id of an event that was accepted before"})
	e.Outcome = event.Conflict
	e.ConflictOf = original.row
	inner := s.enter(s.root, Request{Event: e})
	s.follow(w, inner)
	a := <-inner.done
	switch {
	case a.Err != nil:
		s.conflicts.leave(original.row, id)
	case a.Status == Accepted:
		a.Status = Conflict
	}
	w.answer(a)
}

// gone says whether a row was refused because the original that it names has
// been deleted: its key was confirmed, here or by another process, before
// retention deleted it.
func gone(f salesforce.Fault) bool {
	return f.Code == "INVALID_CROSS_REFERENCE_KEY" || f.Code == "ENTITY_IS_DELETED"
}

// alone is a conflict row that names no original.
func alone(e *event.Event, at time.Time) *event.Event {
	c := *e
	c.ConflictOf = ""
	c.History = event.AppendHistory(c.History, event.Line{At: at, From: c.Status, To: c.Status, Who: "bridge",
		Why: "the row of the event that was accepted before has been deleted"})
	return &c
}
