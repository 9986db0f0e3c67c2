package apply

import (
	"context"
	"slices"

	"sfbridge/bridge/event"
	"sfbridge/salesforce"
)

// graphsAnswered takes over what became of each graph. Those that were not
// tried stay as they are for the next call.
func (r *run) graphsAnswered(ctx context.Context, batch []graphCall, results []salesforce.GraphResult, resent bool) error {
	failed := 0
	var again []*item
	for i, g := range batch {
		if results[i].OK {
			g.plan.settle(g.tx, results[i].Responses)
			continue
		}
		f := failure{plan: g.plan, tx: g.tx, answers: results[i].Responses, resent: resent}
		causes := f.causes()
		if len(causes) == 0 && failed >= haltedAfter {
			continue
		}
		failed++
		look, err := r.graphFailed(f, causes)
		if err != nil {
			return err
		}
		if look {
			again = append(again, g.plan.items()...)
		}
	}
	if len(again) == 0 {
		return nil
	}
	if err := r.rest(ctx, 0); err != nil {
		return err
	}
	return r.refresh(ctx, again)
}

// graphFailed decides about one failed graph; look asks for its rows and
// targets to be read again before it is tried once more.
func (r *run) graphFailed(f failure, causes []cause) (look bool, err error) {
	has := func(is func(cause) bool) bool { return slices.ContainsFunc(causes, is) }
	for _, stops := range []func(cause) bool{cause.stops, cause.refusesOutbox} {
		if i := slices.IndexFunc(causes, stops); i >= 0 {
			return false, causes[i].asError()
		}
	}
	noteTaken(causes)
	unclear := len(causes) == 0 || has(func(c cause) bool { return c.slot.lock != "" || len(c.slot.outcomes) > 0 })
	if unclear || has(cause.taken) || has(cause.asksAgain) || has(cause.vanished) || has(func(c cause) bool { return c.fault.Lock() }) {
		return r.graphAgain(f, causes), nil
	}
	r.rowsFailed(f, causes)
	return false, nil
}

// graphAgain counts one more look at a graph. One whose failure stays unnamed
// is cut down to single events first; then its event waits as for a lock, which
// it may well be.
func (r *run) graphAgain(f failure, causes []cause) bool {
	it := f.plan.entries[0].it
	it.looks++
	for _, e := range f.plan.entries {
		e.it.keysTaken = e.it.keysTaken || len(causes) == 0 && len(e.effects) > 0 // it may be that
	}
	if it.looks <= maxRereads && (len(causes) > 0 || it.looks == 1) {
		return true
	}
	if len(f.plan.entries) > 1 {
		for _, e := range f.plan.entries {
			e.it.alone, e.it.looks = true, 0
		}
		return true
	}
	switch {
	case len(causes) == 0:
		r.takeOut(it, r.locked(it, salesforce.Fault{Code: "UNKNOWN", Message: "Salesforce refused its rows without a reason"}))
	case causes[0].fault.Lock():
		r.takeOut(it, r.locked(it, causes[0].fault))
	case causes[0].row != nil:
		r.takeOut(it, r.charged(it, event.CodeMoved, "the target kept changing: "+causes[0].fault.Message, 0))
	default:
		r.contended(it)
	}
	return false
}

// graphRefused handles a call with one graph that Salesforce can't read.
func (r *run) graphRefused(g graphCall, f salesforce.Fault) {
	if entries := g.plan.entries; len(entries) > 1 {
		for _, e := range entries {
			e.it.alone = true
		}
		return
	}
	it := g.plan.entries[0].it
	if f.TooLarge() {
		r.takeOut(it, r.charged(it, codeOf(f), f.Message, f.Pause))
		return
	}
	r.takeOut(it, r.permanent(it, f))
}
