package apply

import (
	"cmp"
	"slices"
	"time"

	"sfbridge/bridge/event"
	"sfbridge/mapping"
)

// item is one event on its way through a call.
type item struct {
	ev       *event.Event
	place    int // in the batch
	file     *mapping.File
	route    *mapping.Route
	targets  []mapping.Target // fixed parts, Record.Spec is the place in it
	hint     *hint            // nil: the event says everything itself
	records  []mapping.Record
	effects  []mapping.Effect       // that its values may cause
	watching []mapping.EffectTarget // of its route
	revision int64                  // as last read
	sent     map[int64]bool         // revisions this call has sent for the row

	verdict   *verdict                 // what happens to the row without writing records
	takenOut  bool                     // verdict was made by a failed commit and has a call of its own
	alone     bool                     // its writes are not folded with others'
	targetID  string                   // of the record that speaks for the event, as last read
	outbox    map[string]*event.Effect // rows it has in the outbox, by key; nil: not read
	keysTaken bool                     // an effect's key was found to exist
	lockTries int
	looks     int // reads again on account of this item's graph

	result *Result // nil until settled
}

// verdict is a move of the row that writes no records.
type verdict struct {
	status   event.Status
	outcome  event.Outcome
	code     string
	why      string
	attempts int       // Attempts__c from now on
	next     time.Time // Next_Attempt_At__c when status is Retryable
	waits    bool      // Retryable for what may still come; holds nothing back
}

func (it *item) settled() bool { return it.result != nil }

func (it *item) leave(reason Reason, notBefore time.Time) {
	it.result = &Result{Disposition: Left, Reason: reason, NotBefore: notBefore}
}

func (it *item) gone() { it.result = &Result{Disposition: Gone} }

func (it *item) moved(v verdict) {
	it.result = &Result{Disposition: Moved, Status: v.status, Outcome: v.outcome, Code: v.code, NotBefore: v.next}
}

// nextRevision makes the number for one send and remembers it: a row that
// shows it later was moved by this call.
func (it *item) nextRevision(intn func(int64) int64) int64 {
	n := event.NextRevision(it.revision, intn)
	if it.sent == nil {
		it.sent = map[int64]bool{}
	}
	it.sent[n] = true
	return n
}

// queue is the queue that the row lives in while it is open.
func (it *item) queue() string { return cmp.Or(it.ev.HomeQueue, it.ev.Queue) }

// version is the version of the item's mapping, "" without one.
func (it *item) version() string {
	if it.file == nil {
		return ""
	}
	return it.file.Version()
}

// mainRecord is the place of the record that speaks for the event: the guard,
// else the first; -1 without records.
func (it *item) mainRecord() int {
	if g := slices.IndexFunc(it.records, func(rec mapping.Record) bool { return rec.Guard }); g >= 0 {
		return g
	}
	return min(0, len(it.records)-1)
}

// business is the record that speaks for the event.
func (it *item) business() (mapping.Record, bool) {
	i := it.mainRecord()
	if i < 0 {
		return mapping.Record{}, false
	}
	return it.records[i], true
}

// inOrder sorts the events of each entity among the places that they hold
// together, so that the batch keeps its mix and every entity its order.
func inOrder(items []*item) []*item {
	places := map[string][]int{}
	for i, it := range items {
		places[it.ev.Entity()] = append(places[it.ev.Entity()], i)
	}
	sorted := make([]*item, len(items))
	for _, at := range places {
		group := make([]*item, len(at))
		for i, p := range at {
			group[i] = items[p]
		}
		slices.SortStableFunc(group, func(a, b *item) int { return event.Compare(a.ev, b.ev) })
		for i, p := range at {
			sorted[p] = group[i]
		}
	}
	return sorted
}
