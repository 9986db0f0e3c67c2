package stage

import (
	"context"
	"time"
)

// dispatch begins a call when a slot is free and the batch is full or has
// lingered; else it sees to it that it will be called again. The lock is held.
func (s *Stager) dispatch() {
	for s.calls < s.cfg.Calls {
		s.sweep()
		if len(s.queue) == 0 || !s.ready() {
			return
		}
		s.begin(s.take())
	}
}

// ready says whether the queue should go now. If not, a timer is set.
func (s *Stager) ready() bool {
	if s.lingering || len(s.queue) >= s.cfg.Batch || s.bytes >= s.cfg.Bytes || s.queue[0].large() {
		return true
	}
	if s.timer == nil {
		s.timer = time.AfterFunc(s.linger(), s.lingered)
	}
	return false
}

// linger is how long the first row of a batch waits for others: a moment when
// nothing is under way, else about as long as a call takes. A batch that is
// full never waits.
func (s *Stager) linger() time.Duration {
	if s.calls == 0 {
		return s.cfg.Linger
	}
	return max(s.cfg.Linger, s.average)
}

// lingered lets the queue go: at once if a slot is free, else at the end of the
// next call.
func (s *Stager) lingered() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.timer = nil
	s.lingering = len(s.queue) > 0
	s.dispatch()
}

// take cuts a batch off the queue. A row with chunks goes alone.
func (s *Stager) take() []*entry {
	n, bytes := 0, 0
	for n < len(s.queue) && n < s.cfg.Batch {
		e := s.queue[n]
		if n > 0 && (bytes+e.size > s.cfg.Bytes || e.large() || s.queue[0].large()) {
			break
		}
		e.queued = false
		bytes += e.size
		n++
	}
	batch := s.queue[:n:n]
	s.queue = s.queue[n:]
	s.bytes -= bytes
	s.lingering = false
	return batch
}

// StageTogether makes the events durable like Stage, but in one call of its own
// and in the order given, whatever else waits. They may be at most as many and
// as large as one call takes. Only an event with chunks has a call for itself.
func (s *Stager) StageTogether(ctx context.Context, requests []Request) []Answer {
	waits := make([]*waiter, len(requests))
	var batch []*entry
	for i, r := range requests {
		w, stored, open := s.admit(ctx, r)
		waits[i] = w
		if !open {
			continue
		}
		s.mu.Lock()
		switch e := s.place(w, stored); {
		case e == nil:
		case e.large():
			s.begin([]*entry{e})
		default:
			batch = append(batch, e)
		}
		s.mu.Unlock()
	}
	if len(batch) > 0 {
		s.mu.Lock()
		s.begin(batch)
		s.mu.Unlock()
	}
	return s.await(ctx, waits)
}

// begin commits a batch in the background. The lock is held.
func (s *Stager) begin(batch []*entry) {
	s.calls++
	s.work.Add(1)
	go func() {
		defer s.work.Done()
		ctx, cancel := context.WithTimeout(s.root, s.cfg.Timeout)
		defer cancel()
		s.commit(ctx, batch)
		s.mu.Lock()
		s.calls--
		s.dispatch()
		s.mu.Unlock()
		s.tell(ctx, batch)
	}()
}

// observe keeps the average duration of a call.
func (s *Stager) observe(rows int, took time.Duration) {
	s.cfg.Observe(rows, took)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.average == 0 {
		s.average = took
		return
	}
	s.average += (took - s.average) / 8
}
