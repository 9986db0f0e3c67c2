package apply

import (
	"maps"
	"slices"
	"strings"

	"sfbridge/bridge/apply/decide"
	"sfbridge/bridge/event"
	"sfbridge/mapping"
)

// plan is one transaction: what is written for which events.
type plan struct {
	run     *run
	view    *view // targets as the transaction leaves them
	levels  map[string]int
	census  census
	size    size
	rows    []*row
	entries []*entry
	bumps   map[string]*follower // by row id
	later   []*item              // found no room
	big     []*item              // find no room even alone
	blocked map[string]bool      // entities of later and big items
}

// entry is an event that a transaction settles.
type entry struct {
	it       *item
	judged   []decide.Judged
	ruling   decide.Ruling
	verdict  *verdict // set when no records are written for it
	main     *row     // write of the record that speaks for the event
	targetID string   // of that record, when it was read
	folded   bool     // a later event's write took its place

	effects []*event.Effect // that it causes
	again   []*event.Effect // that it has caused before and that are ready again
	waits   bool            // for effects: ends Applied
	locks   []string        // lock rows beside that of its queue

	revision int64 // what was sent last
}

func (r *run) newPlan(items []*item) *plan {
	return &plan{
		run: r, view: newView(r.base), levels: levels(items), census: census{}, size: newSize(),
		bumps: map[string]*follower{}, blocked: map[string]bool{},
	}
}

// plan decides the items one after another and takes in what fits.
func (r *run) plan(items []*item) *plan {
	p := r.newPlan(items)
	for _, it := range items {
		if !it.settled() && !it.takenOut {
			p.add(it)
		}
	}
	return p
}

func (p *plan) add(it *item) {
	entity := it.ev.Entity()
	if until, held := p.run.held(it); held {
		it.leave(Held, until)
		return
	}
	if p.blocked[entity] {
		p.later = append(p.later, it)
		return
	}
	d := p.draft(it)
	switch {
	case d.contradiction && !p.touches(d):
		it.review(event.CodeConfig, "the mapping creates and deletes one record for one event")
		p.accept(&draft{entry: &entry{it: it, verdict: it.verdict}, view: newView(p.view)})
	case !d.contradiction && p.fits(d):
		p.accept(d)
	case !d.contradiction && !p.fitsAlone(d):
		p.big = append(p.big, it)
		p.blocked[entity] = true
	default:
		p.later = append(p.later, it)
		p.blocked[entity] = true
	}
}

// touches says whether earlier events of the plan write a target of the draft.
func (p *plan) touches(d *draft) bool {
	return slices.ContainsFunc(d.entry.it.records, func(rec mapping.Record) bool {
		return p.view.get(p.run.keyOf(rec)).wave > 0
	})
}

// fits says whether the transaction can hold the draft beside what it has.
func (p *plan) fits(d *draft) bool {
	c := maps.Clone(p.census)
	c.add(d.rows)
	_, ok := c.share(p.size.with(d))
	return ok
}

// fitsAlone says whether a transaction of its own can hold the draft.
func (p *plan) fitsAlone(d *draft) bool {
	c := census{}
	c.add(d.rows)
	_, ok := c.share(newSize().with(d))
	return ok
}

// size counts what a transaction holds beside the records.
type size struct {
	queues map[string]bool // lock rows
	rows   map[string]bool // staging and outbox rows that are changed, by id
	outbox map[string]bool // outbox rows that are new, by key
}

func newSize() size {
	return size{queues: map[string]bool{}, rows: map[string]bool{}, outbox: map[string]bool{}}
}

// extent is how many rows a transaction has beside the records.
type extent struct{ locks, outcomes, outbox int }

func (e extent) total() int { return e.locks + e.outcomes + e.outbox }

func (s size) extent() extent { return extent{len(s.queues), len(s.rows), len(s.outbox)} }

// with is the extent once the draft is added.
func (s size) with(d *draft) extent {
	more := newSize()
	more.add(d)
	return extent{joined(s.queues, more.queues), joined(s.rows, more.rows), joined(s.outbox, more.outbox)}
}

// joined counts the members of two sets.
func joined(a, b map[string]bool) int {
	n := len(a)
	for name := range b {
		if !a[name] {
			n++
		}
	}
	return n
}

func (s size) add(d *draft) {
	s.queues[d.entry.it.queue()] = true
	for _, q := range d.entry.locks {
		s.queues[q] = true
	}
	s.rows[d.entry.it.ev.RowID] = true
	for _, e := range d.entry.effects {
		s.outbox[e.Key] = true
	}
	for _, e := range d.entry.again {
		s.rows[e.RowID] = true
	}
	for _, f := range d.bumps {
		s.queues[f.home] = true
		s.rows[f.rowID] = true
	}
}

func (p *plan) accept(d *draft) {
	d.view.settle()
	for _, f := range d.folds {
		f.write.foldInto(f.into)
		for _, owner := range f.into.owners {
			owner.folded = owner.folded || owner.main == f.into && owner != d.entry
		}
		f.into.owners = append(f.into.owners, d.entry)
	}
	p.rows = append(p.rows, d.rows...)
	p.entries = append(p.entries, d.entry)
	d.addBumps(p.bumps)
	p.census.add(d.rows)
	p.size.add(d)
}

func (p *plan) empty() bool { return len(p.entries) == 0 }

// items are the events that the transaction settles.
func (p *plan) items() []*item {
	out := make([]*item, len(p.entries))
	for i, e := range p.entries {
		out[i] = e.it
	}
	return out
}

// without are the followers that have no outcome in the transaction, in order
// of their row ids.
func without(bumps map[string]*follower, entries []*entry) []*follower {
	rest := maps.Clone(bumps)
	for _, e := range entries {
		delete(rest, e.it.ev.RowID)
	}
	out := slices.Collect(maps.Values(rest))
	slices.SortFunc(out, func(a, b *follower) int { return strings.Compare(a.rowID, b.rowID) })
	return out
}
