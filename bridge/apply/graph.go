package apply

import (
	"context"
	"fmt"
	"slices"

	"sfbridge/bridge/event"
	"sfbridge/internal/failpoint"
	"sfbridge/salesforce"
)

// Bounds of graph calls, as Salesforce sets them.
const (
	maxKinds    = 15 // different pairs of method and object in one graph
	haltedAfter = 14 // failed graphs after which the rest of a call is not tried
)

// graphCall is one graph: the events of one entity.
type graphCall struct {
	plan *plan
	tx   *transaction
}

// graphs tries the unit's events as graphs, one for each entity, so that one
// that fails can't hurt others.
func (r *run) graphs(ctx context.Context, u unit) error {
	limit := salesforce.MaxGraphs
	for try := 0; ; try++ {
		open := slices.DeleteFunc(slices.Clone(u.items), func(it *item) bool { return it.settled() || it.takenOut })
		if len(open) == 0 {
			return nil
		}
		if try > 3*maxRereads+len(u.items) {
			for _, it := range open {
				r.contended(it)
			}
			return nil
		}
		if err := r.flushAhead(ctx, open); err != nil {
			return err
		}
		batch := r.nextGraphs(open, limit)
		if len(batch) == 0 {
			continue // everything was settled while planning
		}
		results, resent, err := r.sendGraphs(ctx, batch)
		if err != nil {
			e, ok := salesforce.AsError(err)
			if !ok || e.Class != salesforce.ClassData && !e.TooLarge() {
				return err
			}
			if limit = (len(batch) + 1) / 2; len(batch) == 1 {
				r.graphRefused(batch[0], e.Fault)
			}
			continue
		}
		if err := r.graphsAnswered(ctx, batch, results, resent); err != nil {
			return err
		}
	}
}

// nextGraphs plans the graphs of one call. Entities that write a record of an
// earlier graph of the call wait for the next one.
func (r *run) nextGraphs(open []*item, limit int) []graphCall {
	var order []string
	byEntity := map[string][]*item{}
	for _, it := range open {
		entity := it.ev.Entity()
		if byEntity[entity] == nil {
			order = append(order, entity)
		}
		byEntity[entity] = append(byEntity[entity], it)
	}
	claimed := map[targetKey]bool{}
	nodes := 0
	var batch []graphCall
	for _, entity := range order {
		if len(batch) == limit {
			break
		}
		if r.claims(byEntity[entity], claimed) {
			continue
		}
		p := r.graphPlan(byEntity[entity])
		if p.empty() {
			continue
		}
		if nodes += p.nodes(); nodes > salesforce.MaxNodes {
			break
		}
		for _, it := range byEntity[entity] {
			for _, rec := range it.records {
				claimed[r.keyOf(rec)] = true
			}
		}
		batch = append(batch, graphCall{plan: p, tx: p.graph()})
	}
	return batch
}

func (r *run) claims(items []*item, claimed map[targetKey]bool) bool {
	for _, it := range items {
		for _, rec := range it.records {
			if claimed[r.keyOf(rec)] {
				return true
			}
		}
	}
	return false
}

// graphPlan decides the events of one entity and takes in as many as one graph
// holds; an event that is too large even alone goes to Review.
func (r *run) graphPlan(items []*item) *plan {
	p := r.newPlan(items)
	for _, it := range items {
		if until, held := r.held(it); held {
			it.leave(Held, until)
			continue
		}
		if it.alone && !p.empty() {
			break
		}
		d := p.draft(it)
		if d.contradiction && !p.empty() {
			break
		}
		rows := slices.Concat(p.rows, d.rows)
		beside := p.size.with(d)
		if d.contradiction || beside.total()+len(rows) > salesforce.MaxNodes || kinds(rows, beside) > maxKinds {
			if !p.empty() {
				break
			}
			it.review(event.CodeTooLarge, fmt.Sprintf("its %d rows don't fit into one transaction", len(d.rows)))
			d = &draft{entry: &entry{it: it, verdict: it.verdict}, view: newView(p.view)}
		}
		p.accept(d)
	}
	return p
}

// nodes is the number of rows that the plan has as a graph.
func (p *plan) nodes() int {
	return p.size.extent().total() + len(p.rows)
}

// kinds is the number of different pairs of method and object in a graph.
func kinds(rows []*row, beside extent) int {
	type kind struct {
		do      action
		creates bool
		object  string
	}
	seen := map[kind]bool{}
	for _, w := range rows {
		do := w.do
		if do == upsertByKey {
			do = changeByID
		}
		seen[kind{do, w.creates, w.target.object}] = true
	}
	n := len(seen) + 2 // queue and outcome rows
	if beside.outbox > 0 {
		n++
	}
	return n + 1 // outbox rows that are ready again
}

// graph lays the plan out row by row.
func (p *plan) graph() *transaction {
	t := &transaction{}
	for _, q := range queues(p.entries, p.bumps) {
		t.add(lockRow(fmt.Sprintf("q%d", len(t.subs)), q, p.run), slot{lock: q, single: true})
	}
	for _, packet := range packets(p.rows, nil) {
		ref := fmt.Sprintf("w%d", len(t.subs))
		packet.rows[0].ref = "@{" + ref + ".id}"
		t.add(packet.rows[0].single(ref), slot{rows: packet.rows, single: true})
	}
	rows, owners := p.outboxInserts()
	for i, row := range rows {
		t.add(salesforce.InsertRow(fmt.Sprintf("x%d", len(t.subs)), row), slot{outbox: owners[i : i+1], single: true})
	}
	for _, e := range p.entries {
		row := p.run.outcomeRow(e.it, e.outcome(), e.target(true))
		e.revision, _ = row.Fields[event.FieldRevision].(int64)
		t.add(salesforce.UpdateRow(fmt.Sprintf("e%d", len(t.subs)), row),
			slot{outcomes: []outcomeSlot{{entry: e}}, single: true})
		for _, row := range p.run.outboxAgain(e) {
			t.add(salesforce.UpdateRow(fmt.Sprintf("x%d", len(t.subs)), row), slot{outcomes: []outcomeSlot{{entry: e}}, single: true})
		}
	}
	for _, f := range without(p.bumps, p.entries) {
		row, next := p.run.bumpRow(f)
		t.add(salesforce.UpdateRow(fmt.Sprintf("e%d", len(t.subs)), row),
			slot{outcomes: []outcomeSlot{{bump: f, next: next}}, single: true})
	}
	return t
}

// sendGraphs sends one call; after a lost reply again with new revisions.
func (r *run) sendGraphs(ctx context.Context, batch []graphCall) ([]salesforce.GraphResult, bool, error) {
	for try := 0; ; try++ {
		graphs := make([]salesforce.Graph, len(batch))
		for i := range batch {
			if try > 0 {
				batch[i].tx = batch[i].plan.graph()
			}
			graphs[i] = salesforce.Graph{ID: fmt.Sprintf("g%d", i), Requests: batch[i].tx.subs}
		}
		failpoint.Hit(failpoint.GraphSending)
		results, err := r.org.Graph(ctx, graphs)
		failpoint.Hit(failpoint.GraphAnswered)
		if salesforce.ClassOf(err) != salesforce.ClassUnknownOutcome || try == maxResends || ctx.Err() != nil {
			return results, try > 0, err
		}
		if err := r.rest(ctx, try); err != nil {
			return nil, true, err
		}
	}
}
