package poll

import (
	"slices"
	"time"

	"sfbridge/bridge/event"
)

// chain is the events of one entity that may be taken now, in order. first is
// the place of the oldest in fetching order.
type chain struct {
	queue  string
	first  int
	events []*event.Event
}

// plan is what follows from the backlog as it stands.
type plan struct {
	chains []chain // in queues not in work, oldest first
	ready  int     // rows of these
	coming int     // rows that may be taken as soon as the batches in work end
}

// current returns the plan, made anew only after something has changed.
func (b *backlog) current(now time.Time) *plan {
	if b.dropHolds(now) || b.plan == nil {
		b.plan = b.makePlan()
	}
	return b.plan
}

func (b *backlog) makePlan() *plan {
	place := make(map[string]int, len(b.due))
	entities := make(map[string][]*event.Event, len(b.due))
	for i, e := range b.due {
		place[e.RowID] = i
		entity := e.Entity()
		entities[entity] = append(entities[entity], e)
	}
	blockers := b.blockers()
	p := &plan{}
	for entity, events := range entities {
		slices.SortFunc(events, event.Compare)
		c := chain{queue: events[0].Queue, first: len(b.due), events: b.free(events, blockers[entity])}
		if b.busy[c.queue] {
			p.coming += len(c.events)
			continue
		}
		for _, e := range c.events {
			c.first = min(c.first, place[e.RowID])
		}
		if len(c.events) > 0 {
			p.chains = append(p.chains, c)
			p.ready += len(c.events)
		}
	}
	slices.SortFunc(p.chains, func(x, y chain) int { return x.first - y.first })
	return p
}

// free returns the events of one entity, in order, that wait for nothing.
func (b *backlog) free(events []*event.Event, blocker *event.Event) []*event.Event {
	var free []*event.Event
	for _, e := range events {
		if blocker != nil && event.Compare(blocker, e) < 0 {
			break
		}
		if _, held := b.holds[e.RowID]; !held { // one that holds back is among the blockers
			free = append(free, e)
		}
	}
	return free
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
	for _, e := range b.behind {
		add(e)
	}
	for _, h := range b.holds {
		add(h.event)
	}
	return first
}

// dropHolds forgets the holds that are over and says whether there were any.
func (b *backlog) dropHolds(now time.Time) bool {
	before := len(b.holds)
	for id, h := range b.holds {
		if !now.Before(h.until) {
			delete(b.holds, id)
		}
	}
	return len(b.holds) < before
}

// ready counts the rows that may be taken now.
func (b *backlog) ready(now time.Time) int { return b.current(now).ready }

// coming counts the rows that may be taken as soon as the batches in work end.
func (b *backlog) coming(now time.Time) int { return b.current(now).coming }

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
	rows := 0
	for _, q := range queues {
		if rows >= limit {
			break
		}
		chosen = append(chosen, byQueue[q]...)
		for _, c := range byQueue[q] {
			rows += len(c.events)
		}
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
