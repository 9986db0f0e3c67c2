package apply

import (
	"strings"

	"sfbridge/bridge/apply/decide"
	"sfbridge/bridge/event"
	"sfbridge/mapping"
)

// draft is what one event would add to a transaction.
type draft struct {
	entry *entry
	view  *view // the plan's, with this event's writes over it
	rows  []*row
	folds []folding
	bumps []*follower
	// contradiction: a record would be created and deleted in one transaction.
	contradiction bool

	plan *plan
}

// folding is a write that is laid over an earlier row of the transaction.
type folding struct {
	write *row
	into  *row
}

func (d *draft) addBumps(to map[string]*follower) {
	for _, f := range d.bumps {
		to[f.rowID] = f
	}
}

// draft decides one event against the targets as the plan leaves them.
func (p *plan) draft(it *item) *draft {
	d := &draft{entry: &entry{it: it, verdict: it.verdict}, view: newView(p.view), plan: p}
	if it.verdict != nil {
		if it.owes() {
			d.cause()
		}
		return d
	}
	e := d.entry
	e.judged = p.judge(it)
	e.ruling = decide.Event(e.judged)
	if b := it.mainRecord(); b >= 0 {
		e.targetID = p.view.get(p.run.keyOf(it.records[b])).id
		it.targetID = e.targetID
	}
	if e.ruling.Code != "" {
		e.verdict = p.run.ruled(it, e.ruling)
		return d
	}
	for i := range it.records {
		d.add(i)
	}
	d.cause()
	return d
}

// judge decides the records of an event, its guard first.
func (p *plan) judge(it *item) []decide.Judged {
	judged := make([]decide.Judged, len(it.records))
	beaten := ""
	main := it.mainRecord()
	if main >= 0 && it.records[main].Guard {
		holder := p.view.get(p.run.keyOf(it.records[main])).holder(it.targets[it.records[main].Spec])
		if p.run.judge(it, main, p.view, "").Verdict.Writes() {
			beaten = holder.EventID
		}
	}
	for i, rec := range it.records {
		judged[i] = decide.Judged{Judgement: p.run.judge(it, i, p.view, beaten), Guard: rec.Guard}
	}
	return judged
}

// judge decides one record of an event whose guard has found beaten older.
func (r *run) judge(it *item, i int, v *view, beaten string) decide.Judgement {
	rec := it.records[i]
	t := v.get(r.keyOf(rec))
	c := decide.Comer{
		EventID: it.ev.ID, Order: it.ev.Order, Guarded: rec.Order != nil, Main: i == it.mainRecord(), Beaten: beaten,
		SameVersion: it.ev.MappingVersion != "" && it.ev.MappingVersion == it.version(),
	}
	switch rec.Action {
	case mapping.Update:
		c.Action = decide.Update
	case mapping.Delete:
		c.Action = decide.Delete
	}
	if s := rec.State; s != nil {
		if s.Machine != nil {
			c.Machine = s.Machine
		}
		if s.Value != nil {
			c.State = *s.Value
		}
	}
	if rec.Order == nil && rec.Action != mapping.Delete {
		c.Equal = t.shows(rec.Sent(false), r.shape(rec.Object))
	}
	return decide.Record(t.holder(it.targets[rec.Spec]), c)
}

func (d *draft) add(i int) {
	e := d.entry
	rec := e.it.records[i]
	switch {
	case e.judged[i].Verdict == decide.Absent:
		d.plan.run.bury(d.view, d.plan.run.keyOf(rec), decide.Standing{
			Order: e.it.ev.Order, Delete: true, Rank: decide.NoRank, EventID: e.it.ev.ID,
		})
	case !e.ruling.Writes[i]:
	case e.judged[i].Verdict == decide.Remove:
		d.remove(i, rec)
	default:
		d.save(i, rec)
	}
}

// save adds the write of a record that is created or changed.
func (d *draft) save(i int, rec mapping.Record) {
	run := d.plan.run
	k := run.keyOf(rec)
	t := d.view.get(k)
	if t.removed {
		d.contradiction = true
		return
	}
	d.lock(rec, k)
	w := d.newRow(rec, k, t)
	w.creates, w.follows = !t.exists, t.exists && t.id == ""
	w.fields = rec.Sent(d.entry.judged[i].Verdict == decide.Create)
	w.setPrior(t)
	if rec.Action == mapping.Update && t.id != "" {
		w.do = changeByID
	} else {
		w.fields[rec.Key.Field] = rec.Key.Value
	}
	if w.creates && d.entry.it.mayRevive(i) {
		d.bumps = append(d.bumps, run.after(d.entry.it.ev)...)
	}
	sent := w.fields
	w = d.place(w, rec, t)
	if i == d.entry.it.mainRecord() {
		d.entry.main = w
	}
	t = t.written(w.fixed, sent)
	if w.creates {
		t.created, t.maker = true, w
	}
	t.wave, t.last = w.wave, w
	d.view.put(k, t)
	d.point(rec, w.wave)
}

// point notes for the record's parents that they have to be there until the
// record is written.
func (d *draft) point(rec mapping.Record, wave int) {
	for _, p := range rec.Parents {
		k := d.plan.run.parentKey(p)
		parent := d.view.get(k)
		parent.pointed = max(parent.pointed, wave)
		d.view.put(k, parent)
	}
}

// place adds the row, or folds it into the one before it where the mapping
// asks for that, and returns the row that is sent.
func (d *draft) place(w *row, rec mapping.Record, t target) *row {
	last := t.last
	free := last != nil && last.do == w.do && !d.entry.it.alone && w.wave-1 <= last.wave
	if rec.Coalesce && free {
		d.folds = append(d.folds, folding{write: w, into: last})
		return last
	}
	d.rows = append(d.rows, w)
	return w
}

// remove adds the two steps of a delete: an update that the target's guard can
// judge, then the delete, behind what earlier events write that points to it.
func (d *draft) remove(i int, rec mapping.Record) {
	k := d.plan.run.keyOf(rec)
	t := d.view.get(k)
	if t.created || t.id == "" {
		d.contradiction = true
		return
	}
	d.lock(rec, k)
	if rec.Order != nil {
		mark := d.newRow(rec, k, t)
		mark.do, mark.fields = changeByID, rec.Sent(false)
		mark.setPrior(t)
		d.rows = append(d.rows, mark)
	}
	w := d.newRow(rec, k, t)
	w.do, w.wave = removeByID, max(w.wave, t.pointed+1)
	d.rows = append(d.rows, w)
	if i == d.entry.it.mainRecord() {
		d.entry.main = w
	}
	d.view.put(k, target{removed: true, wave: w.wave, tombstone: t.tombstone})
	d.plan.run.bury(d.view, k, decide.Standing{
		Order: d.entry.it.ev.Order, Delete: true, Rank: decide.NoRank, EventID: d.entry.it.ev.ID,
	})
}

func (d *draft) newRow(rec mapping.Record, k targetKey, t target) *row {
	w := &row{
		object: rec.Object, keyField: rec.Key.Field, target: k, id: t.id, fixed: d.entry.it.targets[rec.Spec],
		level: d.plan.levels[strings.ToLower(rec.Object)], parents: rec.Parents, owners: []*entry{d.entry},
		wave: t.wave + 1, maker: t.maker,
	}
	for _, p := range rec.Parents {
		parent := d.view.get(d.plan.run.parentKey(p))
		if !parent.created {
			continue
		}
		after := parent.wave
		if d.plan.levels[strings.ToLower(p.Object)] >= w.level {
			after++
		}
		w.wave = max(w.wave, after)
	}
	return w
}

func (r *run) parentKey(p mapping.Ref) targetKey {
	return newTargetKey(p.Object, p.Field, r.shape(p.Object).fold(p.Field, p.Value))
}

// setPrior writes down which event the decision was made against, so that the
// target's guard can refuse it when another has come in between.
func (r *row) setPrior(t target) {
	o := r.fixed.Order
	if o == nil || o.Prior == "" {
		return
	}
	r.fields[o.Prior] = nil
	if held := t.text(o.Event); held != "" {
		r.fields[o.Prior] = held
	}
}

// ruled is the verdict on an event whose records are not written.
func (r *run) ruled(it *item, ruling decide.Ruling) *verdict {
	rec := it.records[ruling.Record]
	why := event.BusinessKey(rec.Object, rec.Key.Value) + ": " + ruling.Why
	if ruling.Waits {
		return r.await(it, ruling.Code, why)
	}
	return &verdict{status: ruling.Status, code: ruling.Code, why: why, attempts: it.ev.Attempts}
}
