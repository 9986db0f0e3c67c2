package property

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"

	"sfbridge/salesforce/simorg"
	"sfbridge/salesforce/simorg/fault"
)

// drawDesign draws a mapping. Guarded ones keep an order on the payment, which
// is what makes the order of arrival irrelevant.
func drawDesign(t *rapid.T, guarded bool) design {
	d := design{
		Guarded:  guarded,
		Allow:    drawAllow(t),
		Coalesce: rapid.Bool().Draw(t, "coalesce"),
		Lines:    rapid.IntRange(0, 2).Draw(t, "lines"),
		Deletes:  rapid.Bool().Draw(t, "deletes"),
		Customer: noCustomer,
	}
	if guarded {
		d.Customer = rapid.SampledFrom([]customer{noCustomer, ownCustomer, sharedCustomer, parentCustomer}).Draw(t, "customer")
		d.CustomerOrdered = d.Customer == sharedCustomer || rapid.Bool().Draw(t, "customer ordered")
		d.LinesOrdered = rapid.Bool().Draw(t, "lines ordered")
		// What a delete leaves alone would tell whether it came late: such
		// histories aren't snapshots.
		d.CustomerUpdated = d.Customer == parentCustomer && rapid.Bool().Draw(t, "customer updated")
		d.Deletes = d.Deletes && d.Customer != sharedCustomer && !d.CustomerUpdated
		d.Effects = len(d.Allow) > 0 && rapid.Bool().Draw(t, "effects")
	} else if rapid.Bool().Draw(t, "customer") {
		d.Customer = ownCustomer
	}
	return d
}

// drawAllow draws a graph over at most four of the five states, with circles
// and islands; or none.
func drawAllow(t *rapid.T) []arc {
	names := rapid.Permutation(states()).Draw(t, "states")[:4]
	var allow []arc
	for _, from := range names[:rapid.IntRange(0, 4).Draw(t, "arcs")] {
		others := slices.DeleteFunc(slices.Clone(names), func(s string) bool { return s == from })
		to := rapid.SliceOfNDistinct(rapid.SampledFrom(others), 1, 2, rapid.ID).Draw(t, "to")
		allow = append(allow, arc{From: from, To: to})
	}
	return allow
}

// A teller draws the events of a scenario.
type teller struct {
	t      *rapid.T
	d      design
	m      machine
	events []snapshot
	// strangers: states that allow doesn't name may stand in a history. Their
	// rank isn't defined, so there are no ties then.
	strangers bool
	flaws     []flaw
}

func newTeller(t *rapid.T, d design) *teller {
	return &teller{t: t, d: d, m: newMachine(d.Allow), flaws: []flaw{unmappable, unreadable, tooLong}}
}

// permitted tells histories whose steps allow permits: each state is that of
// the event before, or can be reached from it.
func (l *teller) permitted() []snapshot {
	for entity := range rapid.IntRange(1, 4).Draw(l.t, "entities") {
		l.history(entity, func(last string) string {
			if last == "" {
				return rapid.SampledFrom(l.named()).Draw(l.t, "state")
			}
			next := slices.DeleteFunc(l.named(), func(s string) bool { return !l.m.permits(last, s) })
			return rapid.SampledFrom(next).Draw(l.t, "state")
		})
		if l.d.Customer == parentCustomer {
			l.add(snapshot{Entity: entity, Parent: true, Value: rapid.IntRange(1, 5).Draw(l.t, "value")})
		}
	}
	return l.events
}

// arbitrary tells histories with any states in any order.
func (l *teller) arbitrary() []snapshot {
	l.strangers = len(l.d.Allow) > 0 && rapid.Bool().Draw(l.t, "strangers")
	if l.d.Coalesce {
		l.flaws = l.flaws[:1] // what a later write covers isn't refused
	}
	among := l.named()
	if l.strangers {
		among = states()
	}
	for entity := range rapid.IntRange(1, 4).Draw(l.t, "entities") {
		l.history(entity, func(string) string { return rapid.SampledFrom(among).Draw(l.t, "state") })
	}
	return l.events
}

// named are the states of the graph; without a graph any state will do.
func (l *teller) named() []string {
	if len(l.d.Allow) == 0 {
		return states()
	}
	return slices.DeleteFunc(states(), func(s string) bool { return l.m.rank[s] == 0 })
}

// history tells the events of one object, in their order.
func (l *teller) history(entity int, next func(last string) string) {
	var order *int64
	var last string
	repaired := false // a repair wins an equal order: what follows must be newer
	for range rapid.IntRange(1, 5).Draw(l.t, "events") {
		order = l.order(order, repaired)
		s := snapshot{Entity: entity, Order: order, Value: rapid.IntRange(1, 5).Draw(l.t, "value")}
		switch dice := rapid.IntRange(0, 11).Draw(l.t, "kind"); {
		case l.d.Deletes && dice >= 9:
			s.Gone = true
		default:
			s.State = next(last)
			last = s.State
			if dice == 8 {
				s.Flaw = rapid.SampledFrom(l.flaws).Draw(l.t, "flaw")
			}
			s.Repair = dice == 7
		}
		repaired = s.Repair
		l.add(s)
	}
}

// order draws the next order value of an object. A record that several objects
// share and that keeps no state can't tell equal ones apart as the payment does.
func (l *teller) order(last *int64, newer bool) *int64 {
	newer = newer || !l.mayTie() || l.d.CustomerUpdated
	step := rapid.Int64Range(-1, 2).Draw(l.t, "step")
	switch {
	case last == nil && step < 0 && !newer:
		return nil
	case last == nil:
		first := max(step, 0)
		return &first
	case newer:
		step = max(step, 1)
	}
	following := *last + max(step, 0)
	return &following
}

// mayTie says whether events of one object may have equal order.
func (l *teller) mayTie() bool {
	return !l.strangers && (l.d.Customer != sharedCustomer || len(l.d.Allow) == 0)
}

func (l *teller) add(s snapshot) {
	s.ID = fmt.Sprintf("%s%d", rapid.SampledFrom([]string{"a", "B", "b", "z"}).Draw(l.t, "id"), len(l.events))
	if s.Repair {
		s.ID = "reconcile:" + s.ID
	}
	l.events = append(l.events, s)
}

// drawOutsider draws an event whose state none of its object's leads to, older
// or newer than they are, but not of equal order.
func drawOutsider(t *rapid.T, d design, events []snapshot) snapshot {
	entity := rapid.IntRange(0, events[len(events)-1].Entity).Draw(t, "outsider's entity")
	m := newMachine(d.Allow)
	outside := states()
	order, taken := rapid.Int64Range(-1, 12).Draw(t, "outsider's order"), map[int64]bool{}
	for _, e := range events {
		if e.Entity != entity {
			continue
		}
		outside = slices.DeleteFunc(outside, func(s string) bool { return m.permits(e.State, s) })
		if e.Order != nil {
			taken[*e.Order] = true
		}
	}
	for taken[order] {
		order++
	}
	return snapshot{
		ID: "outsider", Entity: entity, Order: &order, Value: 9,
		State: rapid.SampledFrom(outside).Draw(t, "outsider's state"),
	}
}

// drawPieces lets the events come in any order, some of them again, in any
// number of pieces.
func drawPieces(t *rapid.T, events int) []piece {
	var deliveries []int
	for n := range events {
		deliveries = append(deliveries, n)
	}
	deliveries = append(deliveries, rapid.SliceOfN(rapid.IntRange(0, events-1), 0, 4).Draw(t, "repeats")...)
	deliveries = rapid.Permutation(deliveries).Draw(t, "arrival")
	var pieces []piece
	for len(deliveries) > 0 {
		n := rapid.IntRange(1, len(deliveries)).Draw(t, "piece")
		pieces = append(pieces, piece{
			Events: deliveries[:n],
			Then:   time.Duration(rapid.SampledFrom([]int{0, 50, 1000, 5000}).Draw(t, "pause")) * time.Millisecond,
		})
		deliveries = deliveries[n:]
	}
	return pieces
}

// drawWorld draws everything around the events.
func drawWorld(t *rapid.T, sc scenario, kinds []fault.Kind) scenario {
	for i := range sc.Pieces {
		for range rapid.IntRange(0, 2).Draw(t, "faults") {
			sc.Pieces[i].Faults = append(sc.Pieces[i].Faults, drawFault(t, kinds, sc.Drained))
		}
	}
	sc.Unsure = rapid.SliceOfNDistinct(rapid.SampledFrom(switches()), 0, 4, rapid.ID).Draw(t, "unsure")
	sc.Workers = rapid.IntRange(1, 2).Draw(t, "workers")
	sc.Lanes = rapid.IntRange(1, 4).Draw(t, "lanes")
	sc.Batch = rapid.SampledFrom([]int{200, 1, 2, 5}).Draw(t, "batch")
	sc.PageSize = rapid.SampledFrom([]int{2000, 3}).Draw(t, "page")
	sc.Latency = time.Duration(rapid.SampledFrom([]int{0, 40, 400}).Draw(t, "latency")) * time.Millisecond
	sc.Schedule = rapid.SliceOfN(rapid.IntRange(wait, 3), 0, 60).Draw(t, "schedule")
	sc.Upsets = rapid.SliceOfN(rapid.Custom(drawUpset), 0, 3).Draw(t, "upsets")
	slices.SortStableFunc(sc.Upsets, func(a, b upset) int { return cmp.Compare(a.After, b.After) })
	sc.Steady = !sc.Drained && rapid.Bool().Draw(t, "steady")
	sc.Seed = rapid.Uint64().Draw(t, "seed")
	return sc
}

func drawUpset(t *rapid.T) upset {
	return upset{
		After:  rapid.IntRange(1, 60).Draw(t, "after"),
		Worker: rapid.IntRange(0, 1).Draw(t, "worker"),
		Kill:   rapid.Bool().Draw(t, "kill"),
	}
}

func switches() []string {
	var names []string
	for _, s := range simorg.UnsureSwitches() {
		names = append(names, s.Name)
	}
	return names
}

// drawFault draws a fault that can strike. One that never ends does so when
// all pieces have been delivered.
func drawFault(t *rapid.T, kinds []fault.Kind, ends bool) fault.Fault {
	f := fault.Fault{
		Kind:      rapid.SampledFrom(kinds).Draw(t, "kind"),
		Operation: fault.Any,
		Object: rapid.SampledFrom([]string{
			"", "Payment__c", "Customer__c", "Payment_Line__c", "Inbound_Event__c", "Bridge_Queue__c",
		}).Draw(t, "object"),
		After: rapid.IntRange(0, 5).Draw(t, "after"),
		Times: rapid.IntRange(1, 3).Draw(t, "times"),
	}
	if !f.Kind.Row() {
		f.Operation = rapid.SampledFrom([]fault.Operation{
			fault.Any, fault.Composite, fault.CollectionsUpsert, fault.CollectionsUpdate, fault.Query, fault.Describe, fault.Token, fault.Row, fault.Delete,
		}).Draw(t, "operation")
	}
	if f.Kind == fault.Slow {
		f.Delay = time.Duration(rapid.IntRange(1, 45).Draw(t, "delay")) * time.Second
	}
	// A race for a key that is lost for ever is a record that we can't see: that
	// is the event's own trouble.
	if !ends && f.Kind != fault.DuplicateRace && rapid.IntRange(0, 5).Draw(t, "endless") == 5 {
		f.Times = 0
	}
	if f.Validate() != nil {
		f.Operation, f.Object = fault.Any, ""
	}
	return f
}

// passing are the faults that are nobody's fault: they may never cost an
// attempt, nor send an event to Review.
func passing() []fault.Kind {
	return []fault.Kind{
		fault.LockRow, fault.LockNested, fault.StorageFull, fault.DuplicateRace,
		fault.Limit, fault.ConcurrentLimit, fault.Unavailable, fault.HTML503, fault.HTML200, fault.DropBefore, fault.DropAfter,
		fault.Slow, fault.ExpireSession, fault.Malformed, fault.Truncated, fault.Moved,
	}
}
