package apply

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"sfbridge/salesforce"
)

// failure is a transaction that was rolled back, with what its answer says.
type failure struct {
	plan    *plan
	tx      *transaction
	answers []salesforce.Subresponse
	unit    unit
	resent  bool
}

// cause is what one failed row, or one refused subrequest, tells.
type cause struct {
	slot  slot
	row   *row
	entry *entry // of a refused outcome or outbox row
	fault salesforce.Fault
	// whole: the collection was refused as a whole, no row is named.
	whole bool
}

// causes are the errors of the answer that aren't another's consequence.
func (f failure) causes() []cause {
	var out []cause
	for _, c := range salesforce.Culprits(f.answers) {
		s := f.tx.slots[c.Sub]
		found := cause{slot: s, fault: c.Fault, whole: c.Row < 0 && !s.single && s.lock == ""}
		at := max(c.Row, 0) // a row by itself has no position
		if !found.whole && at < len(s.rows) {
			found.row = s.rows[at]
		}
		if !found.whole && at < len(s.outcomes) {
			found.entry = s.outcomes[at].entry
		}
		if !found.whole && at < len(s.outbox) {
			found.entry = s.outbox[at]
		}
		out = append(out, found)
	}
	return out
}

// failed decides what to do about a rolled-back transaction. The first kind of
// cause that applies decides: what stops everybody, then what asks for another
// look, then what the rows themselves did wrong.
func (r *run) failed(ctx context.Context, f failure) ([]unit, error) {
	causes := f.causes()
	has := func(is func(cause) bool) bool { return slices.ContainsFunc(causes, is) }
	switch {
	case len(causes) == 0 && f.resent:
		return r.lookAgain(ctx, f, nil) // an unnamed refusal may be our own first send
	case len(causes) == 0, has(cause.repeatsKey):
		return nil, r.graphs(ctx, unit{items: f.unit.items})
	case has(cause.stops):
		return nil, causes[slices.IndexFunc(causes, cause.stops)].asError()
	case has(func(c cause) bool { return c.slot.lock != "" }):
		return r.queueHeld(ctx, f, causes)
	case has(cause.asksAgain), has(cause.vanished), has(cause.taken):
		noteTaken(causes)
		return r.lookAgain(ctx, f, causes)
	case has(cause.refusesOutbox):
		return nil, causes[slices.IndexFunc(causes, cause.refusesOutbox)].asError()
	case has(cause.refusesOutcomes):
		return r.outcomesRefused(f, causes)
	case has(func(c cause) bool { return c.whole }):
		return r.collectionRefused(f, causes)
	case has(func(c cause) bool { return c.fault.Lock() }):
		return r.rowsHeld(ctx, f, causes)
	case has(func(c cause) bool { return c.fault.TooLarge() }) && len(f.plan.entries) > 1:
		r.shrink(len(f.plan.entries))
		return f.unit.halves(f.plan), nil
	}
	r.rowsFailed(f, causes)
	return f.unit.nextRound(), nil
}

// stops: no row's fault; nothing more can be done in this call.
func (c cause) stops() bool {
	return c.fault.Class == salesforce.ClassLimit || c.fault.Class == salesforce.ClassAuth
}

// asksAgain: decided on an old read, or a race for a new key that is lost now.
func (c cause) asksAgain() bool {
	race := c.row != nil && c.fault.Code == "DUPLICATE_VALUE" &&
		(c.fault.Class == salesforce.ClassRetryable || c.fault.Class == salesforce.ClassDuplicate && c.ownKey())
	return c.fault.Class == salesforce.ClassStale || race
}

// ownKey says whether a duplicate may be about the record's own key: another
// look tells.
func (c cause) ownKey() bool {
	d, ok := c.fault.Duplicate()
	return ok && (d.Field == "" || strings.EqualFold(d.Field, c.row.keyField))
}

// vanished: the record that was read is gone.
func (c cause) vanished() bool {
	if c.row == nil || c.row.id == "" || c.row.do == upsertByKey && !c.slot.single {
		return false
	}
	switch c.fault.Code {
	case "ENTITY_IS_DELETED", "NOT_FOUND":
		return true
	case "INVALID_CROSS_REFERENCE_KEY":
		return len(c.fault.Fields) == 0
	}
	return false
}

// repeatsKey: Salesforce takes two keys for one that we keep apart.
func (c cause) repeatsKey() bool { return c.fault.RepeatedKey() }

// refusesOutcomes: the staging object's rows were refused for another reason
// than their revision.
func (c cause) refusesOutcomes() bool {
	return len(c.slot.outcomes) > 0 && !c.fault.Lock() && !c.fault.TooLarge()
}

func (c cause) asError() error {
	return fmt.Errorf("committing: %w", &salesforce.Error{Op: salesforce.OpComposite, Status: 200, Fault: c.fault})
}

// items are the events that wrote the failed row.
func (c cause) items() []*item {
	if c.entry != nil {
		return []*item{c.entry.it}
	}
	if c.row == nil {
		return nil
	}
	out := make([]*item, len(c.row.owners))
	for i, e := range c.row.owners {
		out[i] = e.it
	}
	return out
}
