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
	holds   map[string]hold           // by row id: not to be taken before a time
	busy    map[string]bool           // queues in work
	flight  map[string]string         // rows in work, with their queue
	ended   map[string]bool           // rows that ended since the running due query began
	depth   int                       // events of one entity that fit into one batch
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
		waiting: map[string][]*event.Event{}, holds: map[string]hold{},
		busy: map[string]bool{}, flight: map[string]string{}, ended: map[string]bool{},
		depth: unlimited,
	}
}

// queryStarts marks the time from which rows may end without the due query
// seeing it.
func (b *backlog) queryStarts() { clear(b.ended) }

// merge takes the answer of a due query: due rows in fetching order, and open
// rows that are not due or belong to the sister queues. The first page replaces
// what was known; a further page adds to it, so that the rows of the pages
// before go on holding back what comes after them.
func (b *backlog) merge(a answer) {
	if !a.further {
		b.due = b.due[:0]
	}
	known := make(map[string]bool, len(b.due))
	for _, e := range b.due {
		known[e.RowID] = true
	}
	for _, e := range a.due {
		if e.Open() && !known[e.RowID] && !b.settled(e) {
			b.due = append(b.due, e)
		}
	}
	clear(b.waiting)
	for _, e := range a.waiting {
		if !b.settled(e) {
			b.wait(e)
		}
	}
}

// settled says that more is known of the row than the due query saw.
func (b *backlog) settled(e *event.Event) bool {
	_, inWork := b.flight[e.RowID]
	return inWork || b.ended[e.RowID]
}

// keep forgets the due rows of queues that are no longer ours.
func (b *backlog) keep(queues []string) {
	b.due = slices.DeleteFunc(b.due, func(e *event.Event) bool { return !slices.Contains(queues, e.Queue) })
}

func (b *backlog) wait(e *event.Event) {
	if e.HoldsBack() {
		b.waiting[e.Entity()] = append(b.waiting[e.Entity()], e)
	}
}

// chain is the events of one entity that may be taken now, in order. first is
// the place of the oldest in fetching order.
type chain struct {
	queue  string
	first  int
	events []*event.Event
}

// chains lists what may be taken, oldest first; of it, what lies in a queue
// in work only when busy is true.
func (b *backlog) chains(now time.Time, busy bool) []chain {
	b.dropHolds(now)
	place := make(map[string]int, len(b.due))
	entities := make(map[string][]*event.Event, len(b.due))
	for i, e := range b.due {
		place[e.RowID] = i
		entities[e.Entity()] = append(entities[e.Entity()], e)
	}
	blockers := b.blockers()
	var all []chain
	for entity, events := range entities {
		queue := events[0].Queue
		if b.busy[queue] != busy {
			continue
		}
		slices.SortFunc(events, event.Compare)
		c := chain{queue: queue, first: len(b.due)}
		for _, e := range events {
			if blocker := blockers[entity]; blocker != nil && event.Compare(blocker, e) < 0 {
				break
			}
			if _, held := b.holds[e.RowID]; held {
				continue // a hold that holds back is among the blockers
			}
			c.events = append(c.events, e)
			c.first = min(c.first, place[e.RowID])
		}
		if len(c.events) > 0 {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(x, y chain) int { return x.first - y.first })
	return all
}

// blockers gives for each entity the earliest open event that later ones have
// to wait for.
func (b *backlog) blockers() map[string]*event.Event {
	first := make(map[string]*event.Event, len(b.waiting)+len(b.holds))
	add := func(e *event.Event) {
		if old := first[e.Entity()]; e.HoldsBack() && (old == nil || event.Compare(e, old) < 0) {
			first[e.Entity()] = e
		}
	}
	for _, events := range b.waiting {
		for _, e := range events {
			add(e)
		}
	}
	for _, h := range b.holds {
		add(h.event)
	}
	return first
}

func (b *backlog) dropHolds(now time.Time) {
	for id, h := range b.holds {
		if !now.Before(h.until) {
			delete(b.holds, id)
		}
	}
}

// ready counts the rows that may be taken now.
func (b *backlog) ready(now time.Time) int { return count(b.chains(now, false)) }

// coming counts the rows that may be taken as soon as the batches in work end.
func (b *backlog) coming(now time.Time) int { return count(b.chains(now, true)) }

func count(chains []chain) int {
	n := 0
	for _, c := range chains {
		n += len(c.events)
	}
	return n
}

// take chooses the next batch of at most limit rows and marks them and their
// queues as in work. A row that alone reports as a suspect makes a batch of its
// own, before all others.
func (b *backlog) take(now time.Time, limit int, alone func(rowID string) bool) []*event.Event {
	chains := b.chains(now, false)
	for _, c := range chains {
		if alone(c.events[0].RowID) {
			return b.start(c.events[:1])
		}
	}
	for i, c := range chains {
		if at := slices.IndexFunc(c.events, func(e *event.Event) bool { return alone(e.RowID) }); at >= 0 {
			chains[i].events = c.events[:at]
		}
	}
	return b.start(b.fill(chains, limit))
}

// fill takes queue after queue, oldest first, until limit is reached, and from
// these first the first event of every entity, then the second, and so on:
// fewer events of one entity need fewer writes one after another.
func (b *backlog) fill(chains []chain, limit int) []*event.Event {
	byQueue := map[string][]chain{}
	var queues []string
	for _, c := range chains {
		if byQueue[c.queue] == nil {
			queues = append(queues, c.queue)
		}
		c.events = c.events[:min(len(c.events), b.depth)]
		byQueue[c.queue] = append(byQueue[c.queue], c)
	}
	var chosen []chain
	for _, q := range queues {
		if count(chosen) >= limit {
			break
		}
		chosen = append(chosen, byQueue[q]...)
	}
	var batch []*event.Event
	for round := 0; len(batch) < limit; round++ {
		before := len(batch)
		for _, c := range chosen {
			if round < len(c.events) && len(batch) < limit {
				batch = append(batch, c.events[round])
			}
		}
		if len(batch) == before {
			break
		}
	}
	return batch
}

func (b *backlog) start(batch []*event.Event) []*event.Event {
	taken := make(map[string]bool, len(batch))
	for _, e := range batch {
		b.busy[e.Queue] = true
		b.flight[e.RowID] = e.Queue
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
	for _, f := range fates {
		delete(b.busy, b.flight[f.event.RowID])
		delete(b.flight, f.event.RowID)
		switch {
		case f.ended:
			b.ended[f.event.RowID] = true
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
