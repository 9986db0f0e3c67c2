package apply

import (
	"fmt"
	"slices"

	"sfbridge/bridge/event"
	"sfbridge/salesforce"
)

// transaction is a plan in the form of one composite call. Every send builds a
// new one, with new revisions.
type transaction struct {
	subs  []salesforce.Subrequest
	slots []slot // one per subrequest
}

// slot says what a subrequest is for. Exactly one of lock, rows, outbox and
// outcomes is set.
type slot struct {
	lock     string
	rows     []*row
	single   bool
	outbox   []*entry // whose effect each row is
	outcomes []outcomeSlot
}

// outcomeSlot is one row of the staging object: an entry's outcome, or the
// revision of an open row that is only moved on.
type outcomeSlot struct {
	entry *entry
	bump  *follower
	next  int64 // revision sent for the bump
}

// transaction lays the plan out: queue locks in name order, the records wave
// by wave, then the outcomes.
func (p *plan) transaction() *transaction {
	t := &transaction{}
	for _, q := range queues(p.entries, p.bumps) {
		t.add(lockRow(fmt.Sprintf("q%d", len(t.subs)), q, p.run), slot{lock: q})
	}
	bumps := without(p.bumps, p.entries)
	c := census{}
	c.add(p.rows)
	shared, _ := c.share(p.size.extent())
	for _, packet := range packets(p.rows, shared) {
		ref := fmt.Sprintf("w%d", len(t.subs))
		if packet.single {
			packet.rows[0].ref = "@{" + ref + ".id}"
			t.add(packet.rows[0].single(ref), slot{rows: packet.rows, single: true})
			continue
		}
		for i, r := range packet.rows {
			r.ref = fmt.Sprintf("@{%s[%d].id}", ref, i)
		}
		t.add(collection(ref, packet.rows), slot{rows: packet.rows})
	}
	t.addOutbox(p)
	t.addOutcomes(p, bumps)
	return t
}

func (t *transaction) addOutbox(p *plan) {
	rows, owners := p.outboxInserts()
	for from := 0; from < len(rows); from += salesforce.MaxRows {
		to := min(from+salesforce.MaxRows, len(rows))
		ref := fmt.Sprintf("x%d", len(t.subs))
		t.add(salesforce.InsertRows(ref, rows[from:to], true), slot{outbox: owners[from:to]})
	}
}

func (t *transaction) add(sub salesforce.Subrequest, s slot) {
	t.subs = append(t.subs, sub)
	t.slots = append(t.slots, s)
}

func (t *transaction) addOutcomes(p *plan, bumps []*follower) {
	var rows []salesforce.Row
	var outcomes []outcomeSlot
	for _, e := range p.entries {
		rows = append(rows, p.run.outcomeRow(e.it, e.outcome(), e.target(p.run.traits.references())))
		outcomes = append(outcomes, outcomeSlot{entry: e})
		e.revision, _ = rows[len(rows)-1].Fields[event.FieldRevision].(int64)
	}
	for _, f := range bumps {
		row, next := p.run.bumpRow(f)
		rows = append(rows, row)
		outcomes = append(outcomes, outcomeSlot{bump: f, next: next})
	}
	for _, e := range p.entries {
		for _, row := range p.run.outboxAgain(e) {
			rows = append(rows, row)
			outcomes = append(outcomes, outcomeSlot{entry: e})
		}
	}
	for from := 0; from < len(rows); from += salesforce.MaxRows {
		to := min(from+salesforce.MaxRows, len(rows))
		ref := fmt.Sprintf("e%d", len(t.subs))
		t.add(salesforce.UpdateRows(ref, rows[from:to], true), slot{outcomes: slices.Clone(outcomes[from:to])})
	}
}

// target is the id of the record that speaks for the event: the one that was
// read, or a reference to the one that the transaction creates.
func (e *entry) target(references bool) string {
	if e.targetID != "" || e.main == nil || e.main.do == removeByID || !references {
		return e.targetID
	}
	return e.main.ref
}

func lockRow(ref, queue string, r *run) salesforce.Subrequest {
	return salesforce.UpsertRow(ref, event.QueueFieldName, salesforce.Row{
		Object: event.QueueObject,
		Fields: map[string]any{
			event.QueueFieldName:    queue,
			event.QueueFieldTouched: event.FormatTime(r.cfg.Now()),
		},
	})
}

// settle takes the transaction's success over into the run.
func (p *plan) settle(t *transaction, answers []salesforce.Subresponse) {
	for i, s := range t.slots {
		for j, r := range s.rows {
			if j < len(answers[i].Results) {
				r.savedID = answers[i].Results[j].ID
			}
		}
		for _, o := range s.outcomes {
			if o.bump != nil {
				p.run.bumped(o.bump, o.next)
			}
		}
	}
	p.settleTargets()
	for _, e := range p.entries {
		p.run.settled(e)
	}
}

// settleTargets makes the transaction's targets those that the next one finds.
func (p *plan) settleTargets() {
	for _, r := range p.rows {
		t := p.view.get(r.target)
		if t.exists && t.id == "" {
			t.id = r.savedID
			p.view.put(r.target, t)
		}
	}
	for k, t := range p.view.targets {
		p.view.targets[k] = t.forNext()
	}
	p.view.settle()
}

// settled writes down that an entry's row was moved.
func (r *run) settled(e *entry) {
	v := e.outcome()
	e.it.moved(v)
	if v.status == event.Applied {
		r.cfg.Outbox(max(1, len(e.effects)+len(e.again)))
	}
	r.bumped(&follower{rowID: e.it.ev.RowID}, e.revision)
	if v.status == event.Retryable && !v.waits {
		r.hold(e.it, v.next)
	}
}

// bumped keeps the new revision of a row for later sends of this call.
func (r *run) bumped(f *follower, revision int64) {
	for _, it := range r.items {
		if it.ev.RowID == f.rowID {
			it.revision = revision
		}
	}
	for _, known := range r.followers {
		for _, o := range known {
			if o.rowID == f.rowID {
				o.revision = revision
			}
		}
	}
}
