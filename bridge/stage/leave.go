package stage

import "slices"

// leave says that a waiter has gone away. A row that no call has begun for and
// that nobody waits for any more is given up: its senders were told to send it
// again, and the queue would grow for as long as Salesforce doesn't answer.
func (s *Stager) leave(w *waiter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.gone = true
	if w.behind != nil {
		w = w.behind
		w.gone = true
	}
	if w.at == nil || !w.at.queued {
		return
	}
	if w.at.left++; w.at.forsaken() {
		s.giveUp(w.at)
	}
}

// follow lets a waiter wait for another row than its own.
func (s *Stager) follow(w, other *waiter) {
	s.mu.Lock()
	w.behind = other
	gone := w.gone
	s.mu.Unlock()
	if gone {
		s.leave(other)
	}
}

func (e *entry) forsaken() bool { return e.left == len(e.waiters) }

// giveUp answers whoever is left behind a row that nobody waits for. The lock is
// held.
func (s *Stager) giveUp(e *entry) {
	delete(s.live, e.event.ID)
	s.bytes -= e.size
	for _, w := range e.waiters {
		w.answer(Answer{EventID: w.event.ID, Err: notInTime(nil)})
	}
	if s.givenUp++; s.givenUp > len(s.queue)/2 {
		s.sweep()
	}
}

// sweep takes out of the queue what was given up. The lock is held.
func (s *Stager) sweep() {
	if s.givenUp == 0 {
		return
	}
	s.queue = slices.DeleteFunc(s.queue, (*entry).forsaken)
	s.givenUp = 0
	s.lingering = s.lingering && len(s.queue) > 0
}

func notInTime(cause error) error { return &Unavailable{Reason: "not staged in time", Cause: cause} }
