package property

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A snapshot is one event as the provider tells it: everything it sets of its
// object, or that the object is gone.
type snapshot struct {
	ID     string // the provider's; the row's is "<source>:<ID>"
	Entity int    // which of the provider's objects
	Order  *int64
	Gone   bool
	State  string
	Value  int  // what all the other fields are made of
	Repair bool // made by reconciliation, as its ID tells
	Flaw   flaw
	Parent bool // it is about the customer that the object's payment points to
}

// A flaw is why an event can't be written.
type flaw string

const (
	sound      flaw = ""
	unmappable flaw = "unmappable" // the mapping refuses a value
	unreadable flaw = "unreadable" // the org can't read the call that carries it
	tooLong    flaw = "too long"   // the org refuses the row
)

// eventID is Event_Id__c.
func (s snapshot) eventID() string { return source + ":" + s.ID }

// A verdict is what becomes of an event.
type verdict string

const (
	applied verdict = "applied" // written
	gone    verdict = "gone"    // deleted, or nothing was there to delete
	stale   verdict = "stale"
	refused verdict = "refused" // a person has to look
	waits   verdict = "waits"   // for its customer
)

// A row is one business record of the oracle.
type row struct {
	fields map[string]string
	holder *snapshot // the event that wrote it last, where the record keeps an order
}

// oracle is the org as it must be. Records are found by "<Object>/<key>".
type oracle struct {
	d       design
	m       machine
	rows    map[string]*row
	tombs   map[string][]snapshot // completed deletes by the key of the guard
	verdict map[string]verdict    // by snapshot ID
	due     []snapshot
}

func newOracle(d design) *oracle {
	return &oracle{d: d, m: newMachine(d.Allow), rows: map[string]*row{}, tombs: map[string][]snapshot{}, verdict: map[string]verdict{}}
}

// work decides events that are due together: those of one entity in their
// order, an event without order first, equal ones by the bytes of their ids.
// One that waits for a record that isn't there yet holds nothing back.
func (o *oracle) work(due []snapshot) {
	o.due = append(o.due, due...)
	slices.SortStableFunc(o.due, func(a, b snapshot) int {
		return cmp.Or(compareOrder(a.Order, b.Order), strings.Compare(a.eventID(), b.eventID()))
	})
	for moved := true; moved; {
		moved = false
		o.due = slices.DeleteFunc(o.due, func(s snapshot) bool {
			_, seen := o.verdict[s.ID]
			if !seen {
				if v := o.decide(s); v != waits {
					o.verdict[s.ID], seen, moved = v, true, true
				}
			}
			return seen
		})
	}
}

// decide is the whole decision about one event.
func (o *oracle) decide(s snapshot) verdict {
	if s.Flaw == unmappable {
		return refused
	}
	guard, found := o.rows[s.guardKey()]
	if s.Gone {
		return o.remove(s, guard)
	}
	if !found {
		for _, t := range o.tombs[s.guardKey()] {
			if o.compare(t, s) > 0 {
				return stale
			}
		}
		return o.save(s, nil)
	}
	if guard.holder != nil && o.compare(*guard.holder, s) > 0 {
		return stale
	}
	if len(o.d.Allow) > 0 && !s.Parent && !o.m.permits(guard.fields["Status__c"], s.State) {
		return refused
	}
	return o.save(s, guard.holder)
}

// save writes an event that the org takes.
func (o *oracle) save(s snapshot, beaten *snapshot) verdict {
	if o.d.Customer == parentCustomer && !s.Parent && o.rows["Customer__c/"+o.d.customerID(s.Entity)] == nil {
		return waits
	}
	if s.Flaw != sound {
		return refused
	}
	o.write(s, beaten)
	return applied
}

// remove decides a delete.
func (o *oracle) remove(s snapshot, guard *row) verdict {
	if guard != nil && guard.holder != nil && o.compare(*guard.holder, s) > 0 {
		return stale
	}
	o.tombs[s.guardKey()] = append(o.tombs[s.guardKey()], s)
	for key := range o.d.records(s) {
		if o.d.deletes(key) {
			delete(o.rows, key)
		}
	}
	return gone
}

// write writes all records of an event but those that are held by a newer one.
// Within an entity the guard has the last word: what it was written by and has
// just been found older is older everywhere.
func (o *oracle) write(s snapshot, beaten *snapshot) {
	for key, fields := range o.d.records(s) {
		old, found := o.rows[key]
		if !o.d.ordered(key) {
			o.rows[key] = &row{fields: fields}
			continue
		}
		if found && !(beaten != nil && old.holder.ID == beaten.ID) && o.compareWithoutState(*old.holder, s) > 0 {
			continue
		}
		o.rows[key] = &row{fields: fields, holder: &s}
	}
}

// compare is the order of events about one record: order, then delete, then
// repair, then the rank of the state, then the id.
func (o *oracle) compare(a, b snapshot) int {
	rank := 0
	if !a.Gone && !b.Gone {
		rank = cmp.Compare(o.m.rank[a.State], o.m.rank[b.State])
	}
	return cmp.Or(compareEarly(a, b), rank, strings.Compare(a.eventID(), b.eventID()))
}

// compareWithoutState is the same for a record that has no state.
func (o *oracle) compareWithoutState(a, b snapshot) int {
	return cmp.Or(compareEarly(a, b), strings.Compare(a.eventID(), b.eventID()))
}

func compareEarly(a, b snapshot) int {
	return cmp.Or(compareOrder(a.Order, b.Order), compareBool(a.Gone, b.Gone), compareBool(a.Repair, b.Repair))
}

func compareOrder(a, b *int64) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return -1
	case b == nil:
		return 1
	}
	return cmp.Compare(*a, *b)
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// records is what should be in the org, field by field.
func (o *oracle) records() map[string]map[string]string {
	all := map[string]map[string]string{}
	for key, r := range o.rows {
		fields := maps.Clone(r.fields)
		if r.holder != nil {
			fields["Source_Event__c"] = r.holder.eventID()
			if r.holder.Order != nil {
				fields["Source_Order__c"] = fmt.Sprint(*r.holder.Order)
			}
		}
		all[key] = fields
	}
	return all
}

// A machine is the graph of permitted steps between states.
type machine struct {
	reach map[string]map[string]bool // over one or more steps
	rank  map[string]int             // by place in the whole order of states
}

func newMachine(allow []arc) machine {
	var named []string
	m := machine{reach: map[string]map[string]bool{}, rank: map[string]int{}}
	next := map[string][]string{}
	for _, a := range allow {
		next[a.From] = append(next[a.From], a.To...)
		for _, s := range append([]string{a.From}, a.To...) {
			if !slices.Contains(named, s) {
				named = append(named, s)
			}
		}
	}
	for _, s := range named {
		m.reach[s] = map[string]bool{}
		for todo := slices.Clone(next[s]); len(todo) > 0; todo = todo[1:] {
			if !m.reach[s][todo[0]] {
				m.reach[s][todo[0]] = true
				todo = append(todo, next[todo[0]]...)
			}
		}
	}
	byChain := slices.Clone(named)
	slices.SortStableFunc(byChain, func(a, b string) int { return cmp.Compare(m.chain(a), m.chain(b)) })
	for i, s := range byChain {
		m.rank[s] = i + 1
	}
	return m
}

// before says that a leads to b and there is no way back.
func (m machine) before(a, b string) bool { return m.reach[a][b] && !m.reach[b][a] }

// chain is the length of the longest chain of states that come before s.
func (m machine) chain(s string) int {
	longest := 0
	for p := range m.reach {
		if m.before(p, s) {
			longest = max(longest, 1+m.chain(p))
		}
	}
	return longest
}

// permits says whether a record may move from one state to another.
func (m machine) permits(from, to string) bool { return from == to || m.reach[from][to] }
