package poll

import (
	"slices"
	"time"

	"sfbridge/bridge/event"
)

// backlog is what the poller knows of the open rows of its queues. It decides
// which of them may go into one batch; it does no I/O and has one user.
//
// An event waits while an earlier one of its entity is still open, unless that
// one waits for a missing parent or target. Several events of an entity may go
// in one batch, in order. A queue is in one batch at a time, so batches in work
// never meet on an entity.
type backlog struct {
	due     []*event.Event            // in the order they were fetched
	waiting map[string][]*event.Event // by entity: open, but not due or not ours
	behind  map[string]*event.Event   // by row id: open, found behind the pages read so far
	holds   map[string]hold           // by row id: not to be taken before a time
	busy    map[string]bool           // queues in work
	flight  map[string]*event.Event   // by row id: in work
	ended   map[string]*event.Event   // by row id: ended since the running due query began, as they stand now
	depth   int                       // events of one entity that fit into one batch
	plan    *plan                     // nil when something has changed since it was made
}

// hold is a due row that is to rest for a while without the org knowing.
type hold struct {
	event *event.Event
	until time.Time
}

// unlimited is a depth that no batch reaches.
const unlimited = 1 << 20

func newBacklog() *backlog {
	return &backlog{
		waiting: map[string][]*event.Event{}, behind: map[string]*event.Event{}, holds: map[string]hold{},
		busy: map[string]bool{}, flight: map[string]*event.Event{}, ended: map[string]*event.Event{},
		depth: unlimited,
	}
}

// queryStarts marks the time from which rows may end without the due query
// seeing it.
func (b *backlog) queryStarts() { clear(b.ended) }

// merge takes the answer of a due query: due rows in fetching order, and open
// rows that are not due or belong to the sister queues. The first page replaces
// what was known; a further page adds to it, so that the rows of the pages
// before, and those found behind these, go on holding back what comes after
// them. again says that a row in work has been made due anew meanwhile: it is to
// be asked for again.
func (b *backlog) merge(a answer) (again bool) {
	b.plan = nil
	if !a.further {
		b.due = b.due[:0]
		clear(b.behind)
	}
	known := make(map[string]bool, len(b.due))
	for _, e := range b.due {
		known[e.RowID] = true
	}
	for _, e := range a.due {
		again = again || newer(e, b.flight[e.RowID])
		if e.Open() && !known[e.RowID] && !b.settled(e) {
			b.due = append(b.due, e)
		}
		delete(b.behind, e.RowID)
	}
	clear(b.waiting)
	for _, e := range a.waiting {
		if !b.settled(e) {
			b.wait(e)
		}
	}
	for _, e := range b.ended { // the answer may be older
		b.wait(e)
	}
	for _, e := range a.behind {
		if !b.settled(e) && !known[e.RowID] {
			b.behind[e.RowID] = e
		}
	}
	return again
}

// settled says that more is known of the row than the due query saw. One that
// has ended and that it saw with a later revision was made due anew.
func (b *backlog) settled(e *event.Event) bool {
	if newer(e, b.ended[e.RowID]) {
		delete(b.ended, e.RowID)
	}
	return b.flight[e.RowID] != nil || b.ended[e.RowID] != nil
}

// newer says that the row was moved on since it was taken into work.
func newer(found, taken *event.Event) bool {
	return taken != nil && found.Revision > taken.Revision
}

// keep forgets the due rows of queues that are no longer ours.
func (b *backlog) keep(queues []string) {
	b.plan = nil
	b.due = slices.DeleteFunc(b.due, func(e *event.Event) bool { return !slices.Contains(queues, e.Queue) })
}

func (b *backlog) wait(e *event.Event) {
	if e.HoldsBack() {
		b.waiting[e.Entity()] = append(b.waiting[e.Entity()], e)
	}
}

// take chooses the next batch of at most limit rows and marks them and their
// queues as in work. A row that alone reports as a suspect makes a batch of its
// own, before all others.
func (b *backlog) take(now time.Time, limit int, alone func(rowID string) bool) []*event.Event {
	chains := slices.Clone(b.current(now).chains)
	for i, c := range chains {
		switch at := slices.IndexFunc(c.events, func(e *event.Event) bool { return alone(e.RowID) }); {
		case at == 0:
			return b.start(c.events[:1])
		case at > 0:
			chains[i].events = c.events[:at]
		}
	}
	return b.start(b.fill(chains, limit))
}

func (b *backlog) start(batch []*event.Event) []*event.Event {
	b.plan = nil
	taken := make(map[string]bool, len(batch))
	for _, e := range batch {
		b.busy[e.Queue] = true
		b.flight[e.RowID] = e
		taken[e.RowID] = true
	}
	b.due = slices.DeleteFunc(b.due, func(e *event.Event) bool { return taken[e.RowID] })
	return slices.Clone(batch)
}

// fate is what became of a row that was in work.
type fate struct {
	event *event.Event // as it stands now
	ended bool         // no longer due: moved on, by us or by another writer
	until time.Time    // still due, but not to be taken before
}

// settle takes a batch back.
func (b *backlog) settle(fates []fate) {
	b.plan = nil
	for _, f := range fates {
		delete(b.behind, f.event.RowID)
		if taken, inWork := b.flight[f.event.RowID]; inWork {
			delete(b.busy, taken.Queue)
		}
		delete(b.flight, f.event.RowID)
		switch {
		case f.ended:
			b.ended[f.event.RowID] = f.event
			delete(b.holds, f.event.RowID)
			b.wait(f.event)
		default:
			b.due = append(b.due, f.event)
			if !f.until.IsZero() {
				b.holds[f.event.RowID] = hold{event: f.event, until: f.until}
			}
		}
	}
	slices.SortStableFunc(b.due, fetchOrder)
}

// fetchOrder is the order of the due query.
func fetchOrder(a, c *event.Event) int {
	if d := a.SourceTime.Compare(c.SourceTime); d != 0 {
		return d
	}
	if a.RowID < c.RowID {
		return -1
	}
	return 1
}

// nextHold is when the first held row may be taken; zero: none is held.
func (b *backlog) nextHold() time.Time {
	var next time.Time
	for _, h := range b.holds {
		if next.IsZero() || h.until.Before(next) {
			next = h.until
		}
	}
	return next
}

// over counts the rows of a due query's answer that ended while it was under way.
func (b *backlog) over(rows []*event.Event) int {
	n := 0
	for _, e := range rows {
		if b.ended[e.RowID] != nil {
			n++
		}
	}
	return n
}

// oldest is when the oldest of the rows that are due or in work was received;
// zero: none is known.
func (b *backlog) oldest() time.Time {
	var oldest time.Time
	older := func(e *event.Event) {
		if at := e.ReceivedAt; !at.IsZero() && (oldest.IsZero() || at.Before(oldest)) {
			oldest = at
		}
	}
	for _, e := range b.due {
		older(e)
	}
	for _, e := range b.flight {
		older(e)
	}
	return oldest
}

// fitted learns from a batch how many events of one entity go together: moved
// is the most that went when others found no room.
func (b *backlog) fitted(moved int, noRoom bool) {
	switch {
	case noRoom:
		b.depth = max(1, moved)
	case b.depth < unlimited:
		b.depth++
	}
}
