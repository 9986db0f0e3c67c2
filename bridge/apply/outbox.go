package apply

import (
	"maps"
	"slices"
	"strings"

	"sfbridge/bridge/event"
	"sfbridge/mapping"
	"sfbridge/salesforce"
	"sfbridge/salesforce/soql"
)

// A transition may cause effects. Each becomes a row of the outbox, inserted in
// the event's own transaction, and so exists exactly when the transition was
// made. The event then ends Applied instead of Completed, and the effect worker
// takes it from there.
//
// A replayed event may have rows already. They are read with the targets: a key
// that exists isn't inserted again, and rows that are open or in Review become
// Ready, so that nothing that was once caused is forgotten.

// watched lists the columns of an object that effects of the item's route look
// at.
func (it *item) watched(object string) []string {
	var columns []string
	for _, e := range it.watching {
		if strings.EqualFold(e.On, object) {
			columns = append(columns, e.Field)
		}
	}
	return columns
}

// outboxQuestions ask for the rows that replayed events have, and for those
// whose keys were found to be taken.
func (r *run) outboxQuestions(items []*item) []question {
	byEvent, byKey := map[string]*item{}, map[string]*item{}
	for _, it := range items {
		if it.ev.ReplayCount > 0 || it.keysTaken {
			byEvent[it.ev.RowID] = it
			it.outbox = map[string]*event.Effect{}
		}
		for _, e := range it.effects {
			if it.keysTaken {
				byKey[it.effectKey(e)] = it
			}
		}
	}
	return append(r.outboxBy(event.EffectFieldEvent, byEvent), r.outboxBy(event.EffectFieldKey, byKey)...)
}

func (r *run) outboxBy(column string, owners map[string]*item) []question {
	var out []question
	for part := range slices.Chunk(slices.Sorted(maps.Keys(owners)), maxKeys/2) {
		out = append(out, question{
			object: event.EffectObject,
			query:  soql.Select(event.EffectFields()...).From(event.EffectObject).Where(soql.In(column, part)),
			take: func(rec salesforce.Record) {
				e, err := event.EffectFromRecord(rec)
				if it := owners[rec.String(column)]; it != nil && err == nil {
					it.outbox[e.Key] = e
				}
			},
		})
	}
	return out
}

// owes says whether an event that ends without writing records may have effects
// from an earlier run that are not done. Their transitions were made, whatever
// the mapping says of the event now.
func (it *item) owes() bool {
	ends := it.verdict == nil || it.verdict.status == event.Completed
	return ends && !it.takenOut && it.ev.ReplayCount > 0
}

func (it *item) effectKey(e mapping.Effect) string {
	return event.EffectKey(it.ev.ID, e.Name, it.records[e.Record].Key.Value)
}

// cause adds what the event's transitions cause, and what it has caused before
// and is not done.
func (d *draft) cause() {
	e := d.entry
	known := e.it.outbox
	seen := map[string]bool{}
	for _, effect := range e.it.effects {
		key := e.it.effectKey(effect)
		if _, exists := known[key]; exists || seen[key] || !d.fires(effect) {
			continue
		}
		seen[key] = true
		e.effects = append(e.effects, &event.Effect{
			Key: key, EventRow: e.it.ev.RowID, Name: effect.Name, Queue: e.it.queue(), Request: effect.Request,
		})
	}
	for _, key := range slices.Sorted(maps.Keys(known)) {
		switch row := known[key]; {
		case row.Status == event.EffectReview, row.Status == event.EffectRetryable:
			e.again = append(e.again, row)
		case row.Status.Open():
			e.waits = true
		}
	}
	e.waits = e.waits || len(e.effects)+len(e.again) > 0
}

// fires says whether a record is written whose watched field had another value
// before, one that the effect asks for. A record that is created had none.
func (d *draft) fires(effect mapping.Effect) bool {
	e := d.entry
	i := effect.Record
	if !e.ruling.Writes[i] || !e.judged[i].Verdict.Saves() {
		return false
	}
	rec := e.it.records[i]
	before := d.plan.view.get(d.plan.run.keyOf(rec))
	to, sent := rec.Sent(!before.exists)[effect.Field]
	kind := d.plan.run.shape(rec.Object).kindOf(effect.Field)
	var from any
	if before.exists {
		from = before.values[strings.ToLower(effect.Field)]
	}
	if !sent || salesforce.Same(kind, to, from) {
		return false
	}
	return effect.AnyFrom || slices.ContainsFunc(effect.From, func(want string) bool { return salesforce.Same(kind, want, from) })
}

// outboxInserts are the rows that a plan puts into the outbox, with the events
// that they are of.
func (p *plan) outboxInserts() ([]salesforce.Row, []*entry) {
	var rows []salesforce.Row
	var owners []*entry
	for _, e := range p.entries {
		for _, effect := range e.effects {
			rows = append(rows, salesforce.Row{Object: event.EffectObject, Fields: effect.Insert()})
			owners = append(owners, e)
		}
	}
	return rows, owners
}

// outboxAgain are the updates that make an event's rows ready again.
func (r *run) outboxAgain(e *entry) []salesforce.Row {
	var rows []salesforce.Row
	for _, row := range e.again {
		line := event.EffectLine(r.cfg.Now(), row.Status, event.EffectReady, r.cfg.Who, "its event was replayed")
		rows = append(rows, salesforce.Row{Object: event.EffectObject, ID: row.RowID, Fields: row.Again(e.it.queue(), line)})
	}
	return rows
}

// taken: the key of an effect exists, unexpectedly.
func (c cause) taken() bool {
	return len(c.slot.outbox) > 0 && c.fault.Code == "DUPLICATE_VALUE"
}

// refusesOutbox: the org doesn't take our outbox rows at all.
func (c cause) refusesOutbox() bool {
	return len(c.slot.outbox) > 0 && (c.whole || c.fault.Class == salesforce.ClassConfiguration) &&
		!c.fault.Lock() && !c.fault.TooLarge()
}

// noteTaken makes the next read ask for the keys that exist.
func noteTaken(causes []cause) {
	for _, c := range causes {
		for _, it := range c.items() {
			it.keysTaken = it.keysTaken || c.taken()
		}
	}
}
