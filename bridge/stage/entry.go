package stage

import (
	"context"

	"sfbridge/bridge/event"
	"sfbridge/salesforce"
)

// entry is one row on its way to Salesforce with everybody who waits for it.
type entry struct {
	event   *event.Event
	payload event.StoredPayload
	size    int
	waiters []*waiter // the first one brought the row
	resent  bool      // a reply was lost: the row may be ours already
	misses  int       // refused as a duplicate of a row that is not there
	queued  bool      // no call has begun for it
	left    int       // how many of the waiters have gone away while it was queued

	accepted bool  // settled as new
	found    known // the row it was settled by; zero when it was refused
	told     bool  // other processes know of it already
}

func (e *entry) large() bool { return e.payload.Encoding == event.Chunked }

func (e *entry) row() salesforce.Row {
	return salesforce.Row{Object: event.Object, Fields: e.event.Insert(e.payload)}
}

// waiter is one request; done takes its answer without blocking.
type waiter struct {
	event  *event.Event
	reject bool
	again  bool // its own row may be there already
	done   chan Answer

	gone   bool    // it has its answer: too late
	at     *entry  // where it waits; nil: nowhere yet
	behind *waiter // of the conflict row that it waits for
}

func (w *waiter) answer(a Answer) { w.done <- a }

// enter finds the event's place: answered by the cache, behind an equal id, or
// as a row of its own.
func (s *Stager) enter(ctx context.Context, r Request) *waiter {
	w, stored, open := s.admit(ctx, r)
	if !open {
		return w
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.enqueue(w, stored)
	return w
}

// admit answers what needs no call of its own; open says that the event needs a
// row.
func (s *Stager) admit(ctx context.Context, r Request) (w *waiter, stored event.StoredPayload, open bool) {
	w = &waiter{event: r.Event, reject: r.RejectConflict, again: r.Again, done: make(chan Answer, 1)}
	if s.isClosed() {
		w.answer(Answer{EventID: r.Event.ID, Err: &Unavailable{Reason: "shutting down"}})
		return w, stored, false
	}
	if known, ok := s.confirmed.get(r.Event.ID); ok {
		s.meet(w, known)
		return w, stored, false
	}
	screened, err := s.screen(ctx, r.Event)
	if err == nil {
		w.event = screened
		stored, err = event.EncodePayload(r.Event.Payload)
	}
	if err != nil {
		w.answer(Answer{EventID: r.Event.ID, Err: err})
		return w, stored, false
	}
	return w, stored, true
}

func (s *Stager) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// enqueue joins an entry with the same id or makes one. The lock is held.
func (s *Stager) enqueue(w *waiter, stored event.StoredPayload) {
	e := s.place(w, stored)
	if e == nil {
		return
	}
	e.queued = true
	s.queue = append(s.queue, e)
	s.bytes += e.size
	s.dispatch()
}

// place makes an entry for the waiter, or lets it wait for the one with the
// same id, which gives nil. The lock is held.
func (s *Stager) place(w *waiter, stored event.StoredPayload) *entry {
	if first, ok := s.live[w.event.ID]; ok {
		first.waiters = append(first.waiters, w)
		w.at = first
		return nil
	}
	e := &entry{event: w.event, payload: stored, waiters: []*waiter{w}, resent: w.again}
	w.at = e
	e.size = len(stored.Text) + len(w.event.Context) + rowOverhead
	for _, c := range stored.Chunks {
		e.size += len(c)
	}
	s.live[w.event.ID] = e
	return e
}

// rowOverhead is about what a row weighs in a call besides its payload.
const rowOverhead = 600

// settle takes the entry out of the way of new arrivals, confirms what is known
// and answers everybody who waited for it.
func (s *Stager) settle(e *entry, first Answer, row known) {
	s.mu.Lock()
	delete(s.live, e.event.ID)
	waiters := e.waiters
	e.accepted = first.Status == Accepted
	if first.Err == nil {
		e.found = row
		s.confirmed.put(e.event.ID, row)
	}
	s.mu.Unlock()
	for i, w := range waiters {
		switch {
		case first.Err != nil:
			w.answer(Answer{EventID: w.event.ID, Err: first.Err})
		case i == 0 && first.Status == Accepted:
			w.answer(first)
		default:
			s.meet(w, row)
		}
	}
}
