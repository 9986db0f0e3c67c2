package poll

import "time"

// schedule decides when the next due query is worth its call. It reads no
// clock and does no I/O.
//
//   - Staged rows are fetched when staging has come to rest for a moment, or when
//     they fill every lane, or after interval: single events go at once, a
//     stream gathers into full batches.
//   - Work that was left, and rows whose next attempt is due, wait for interval
//     since the last query.
//   - Once much of the day's calls is used, all these wait for spread since the
//     last query, unless they fill every lane: the fewer calls are left, the more
//     rows share one.
//   - Rows that came another way wait for idle, from the last look of whatever
//     process.
//   - After a failed call nothing is asked before the pause is over; then one
//     query, and one batch, try whether it is over.
type schedule struct {
	interval, idle time.Duration
	full           int           // rows that fill every lane
	spread         time.Duration // least time between queries that fetch less than that; zero while calls are plentiful

	staged     int       // rows staged since the last query began
	firstWake  time.Time // of these
	lastWake   time.Time
	lastQuery  time.Time
	looked     time.Time // when another process looked at our queues last
	now        bool      // ask at once: what is known is old, or says nothing of some queue
	again      bool      // the last query left rows that can be taken soon
	more       bool      // the last query was cut off: there are more rows
	nextDue    time.Time // nearest time at which a waiting row is due; zero: none
	pauseUntil time.Time // end of the pause after failures
	failures   int       // failed calls in a row
}

// wake notes that rows have been staged.
func (s *schedule) wake(now time.Time, rows int) {
	if s.staged == 0 {
		s.firstWake = now
	}
	s.staged += rows
	s.lastWake = now
}

// staging notes that more rows are on their way: what was staged can wait for
// them.
func (s *schedule) staging(now time.Time) {
	if s.staged > 0 {
		s.lastWake = now
	}
}

// queryStarts notes that a due query is under way.
func (s *schedule) queryStarts(now time.Time) {
	s.lastQuery = now
	s.staged = 0
	s.now = false
	s.again = false
	s.more = false
	s.nextDue = time.Time{}
}

// dueAt notes the time at which a waiting row is due.
func (s *schedule) dueAt(t time.Time) {
	if !t.IsZero() && (s.nextDue.IsZero() || t.Before(s.nextDue)) {
		s.nextDue = t
	}
}

// failed notes a failed call and starts a pause. Calls that began before the
// pause tell nothing new: they only make it longer when it would be shorter.
func (s *schedule) failed(began, now time.Time, pause func(failures int) time.Duration) {
	if s.failures == 0 || began.After(s.pauseUntil) || began.Equal(s.pauseUntil) {
		s.failures++
	}
	if until := now.Add(pause(s.failures)); until.After(s.pauseUntil) {
		s.pauseUntil = until
	}
	s.again = true
}

// succeeded notes that the org took work.
func (s *schedule) succeeded() {
	s.failures = 0
	s.pauseUntil = time.Time{}
}

// paused says whether nothing may be asked now.
func (s *schedule) paused(now time.Time) bool { return now.Before(s.pauseUntil) }

// next is when the next due query is to be made, given how many rows are at
// hand to be taken now or after the batches in work.
func (s *schedule) next(atHand int) time.Time {
	at := s.idleAt()
	sooner := func(t time.Time) {
		if t.Before(at) {
			at = t
		}
	}
	if s.now {
		return s.pauseUntil
	}
	rested := s.lastQuery.Add(max(s.interval, s.spread))
	if s.again {
		sooner(rested)
	}
	if !s.nextDue.IsZero() {
		sooner(later(s.nextDue, rested))
	}
	if s.staged > 0 {
		sooner(s.gathered(atHand))
	}
	if s.more && atHand < s.full {
		sooner(s.lastQuery)
	}
	return later(at, s.pauseUntil)
}

// ownLook is how many pauses another process may look for this one: what it says
// can't be checked.
const ownLook = 15

// idleAt is when rows that came another way are to be looked for.
func (s *schedule) idleAt() time.Time {
	at, last := later(s.lastQuery, s.looked).Add(s.idle), s.lastQuery.Add(ownLook*s.idle)
	if at.After(last) {
		return last
	}
	return at
}

// gathered is when the staged rows are worth a query: not while the lanes have
// enough to do.
func (s *schedule) gathered(atHand int) time.Time {
	switch {
	case atHand >= s.full:
		return s.lastQuery.Add(s.idle)
	case s.staged >= s.full:
		return s.lastWake
	}
	at := s.firstWake.Add(s.interval)
	if pause := s.lastWake.Add(quiet); pause.Before(at) {
		at = pause
	}
	return later(at, s.lastQuery.Add(s.spread))
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
