package apply

import (
	"context"
	"slices"

	"sfbridge/bridge/event"
	"sfbridge/salesforce"
)

// lookAgain reads rows and targets again and decides again. Targets that keep
// moving, or whose guard refuses whatever we send, cost their events an attempt.
func (r *run) lookAgain(ctx context.Context, f failure, causes []cause) ([]unit, error) {
	u := f.unit
	u.rereads++
	if u.rereads > maxRereads {
		u.rereads = 0
		r.giveUp(f.plan.items(), causes)
		return u.again(), nil
	}
	if u.rereads > 1 {
		if err := r.rest(ctx, u.rereads); err != nil {
			return nil, err
		}
	}
	if err := r.refresh(ctx, f.plan.items()); err != nil {
		return nil, err
	}
	return u.again(), nil
}

// giveUp takes out the events whose targets kept moving; when none is named,
// all are left for a later call.
func (r *run) giveUp(items []*item, causes []cause) {
	named := false
	for _, c := range causes {
		if c.row == nil {
			continue
		}
		for _, it := range c.items() {
			named = true
			r.takeOut(it, r.charged(it, event.CodeMoved, "the target kept changing: "+c.fault.Message, 0))
		}
	}
	if named {
		return
	}
	for _, it := range items {
		r.contended(it)
	}
}

func (r *run) contended(it *item) {
	it.leave(Contended, r.cfg.Now().Add(r.patience(0)))
	r.hold(it, it.result.NotBefore)
}

// queueHeld: another transaction works on one of the queues, or has just made
// its row. The same is sent again.
func (r *run) queueHeld(ctx context.Context, f failure, causes []cause) ([]unit, error) {
	u := f.unit
	c := causes[slices.IndexFunc(causes, func(c cause) bool { return c.slot.lock != "" })]
	passes := c.fault.Lock() || c.fault.Code == "DUPLICATE_VALUE"
	u.locked++
	if !passes || u.locked > maxLocked {
		return nil, c.asError()
	}
	if err := r.rest(ctx, u.locked); err != nil {
		return nil, err
	}
	return []unit{u}, nil
}

// rowsHeld: other transactions hold some of the rows. They are sent again by
// themselves, after the rest; the rows of a collection are sorted by parent
// anyway.
func (r *run) rowsHeld(ctx context.Context, f failure, causes []cause) ([]unit, error) {
	held := map[*item]bool{}
	u := f.unit
	if u.locked++; u.locked > maxLocked*maxLocked {
		for _, it := range f.plan.items() {
			r.contended(it)
		}
		return u.again(), nil
	}
	for _, c := range causes {
		if !c.fault.Lock() {
			continue
		}
		for _, it := range c.items() {
			it.lockTries++
			held[it] = true
			if it.lockTries > maxLocked {
				r.takeOut(it, r.locked(it, c.fault))
			}
		}
	}
	if err := r.rest(ctx, u.locked); err != nil {
		return nil, err
	}
	rest, apart := u, u
	rest.items, apart.items = nil, nil
	entities := map[string]bool{}
	for _, it := range u.items {
		if held[it] || entities[it.ev.Entity()] {
			entities[it.ev.Entity()] = true
			apart.items = append(apart.items, it)
			continue
		}
		rest.items = append(rest.items, it)
	}
	return slices.Concat([]unit{rest}, apart.smaller()), nil
}

// smaller cuts a unit in two by whole entities, so that each locks less.
func (u unit) smaller() []unit {
	half := map[string]int{}
	var parts [2]unit
	for i := range parts {
		parts[i] = u
		parts[i].items = nil
	}
	for _, it := range u.items {
		n, known := half[it.ev.Entity()]
		if !known {
			n = len(half) % 2
			half[it.ev.Entity()] = n
		}
		parts[n].items = append(parts[n].items, it)
	}
	return parts[:]
}

// outcomesRefused: the org does not take our outcome rows. One that names an
// event is that event's; else it may be the reference to a new record, and if
// it is not, the staging object is not as it must be.
func (r *run) outcomesRefused(f failure, causes []cause) ([]unit, error) {
	c := causes[slices.IndexFunc(causes, cause.refusesOutcomes)]
	if c.whole && r.traits.references() && c.fault.Class != salesforce.ClassRetryable {
		r.traits.withoutReferences()
		return f.unit.again(), nil
	}
	if c.entry == nil || c.fault.Class == salesforce.ClassConfiguration {
		return nil, c.asError()
	}
	for _, c := range causes {
		if c.entry != nil {
			c.entry.it.leave(Unwritten, r.cfg.Now().Add(r.cfg.Backoff.Max))
			r.hold(c.entry.it, c.entry.it.result.NotBefore)
		}
	}
	return f.unit.nextRound(), nil
}

// collectionRefused: a collection was refused as a whole. A configuration that
// the org lacks pauses the routes that name it; anything else is searched for
// by halves.
func (r *run) collectionRefused(f failure, causes []cause) ([]unit, error) {
	c := causes[slices.IndexFunc(causes, func(c cause) bool { return c.whole })]
	var items []*item
	for _, row := range c.slot.rows {
		for _, e := range row.owners {
			items = append(items, e.it)
		}
	}
	for _, e := range c.slot.outbox {
		items = append(items, e.it)
	}
	switch {
	case c.fault.Class == salesforce.ClassConfiguration:
		r.setAside(items, c.slot.rows[0].object, c.fault)
		return f.unit.again(), nil
	case len(f.plan.entries) > 1:
		if c.fault.TooLarge() {
			r.shrink(len(f.plan.entries))
		}
		return f.unit.halves(f.plan), nil
	}
	r.takeOut(items[0], r.verdictOn(items[0], nil, c.fault))
	return f.unit.nextRound(), nil
}

// rowsFailed takes the events out whose rows failed.
func (r *run) rowsFailed(f failure, causes []cause) {
	for _, c := range causes {
		items := c.items()
		if len(items) > 1 { // folded: tell them apart in the next round
			for _, it := range items {
				it.alone = true
			}
			continue
		}
		for _, it := range items {
			if it.takenOut || it.settled() {
				continue
			}
			if c.fault.Class == salesforce.ClassConfiguration && f.allMisconfigured(c) {
				r.setAside([]*item{it}, c.row.object, c.fault)
				continue
			}
			r.takeOut(it, r.verdictOn(it, c.row, c.fault))
		}
	}
}

// allMisconfigured says whether every row of the cause's collection, of
// several, was refused for a configuration: then it isn't the row's.
func (f failure) allMisconfigured(c cause) bool {
	if len(c.slot.rows) < 2 {
		return false
	}
	for i, s := range f.tx.slots {
		if !slices.Equal(s.rows, c.slot.rows) {
			continue
		}
		for _, result := range f.answers[i].Results {
			if result.Class() != salesforce.ClassConfiguration {
				return false
			}
		}
	}
	return true
}
