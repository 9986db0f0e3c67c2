package apply

import (
	"context"
	"time"

	"sfbridge/bridge/event"
	"sfbridge/internal/failpoint"
	"sfbridge/salesforce"
)

// Bounds of one call. What exceeds them is left due.
const (
	maxRounds  = 3 // rounds with failed rows until the rest goes as graphs
	maxRereads = 5 // looks at targets that keep moving
	maxLocked  = 3 // sends of rows that another transaction holds
	maxResends = 3 // sends of a transaction whose reply is lost
	maxFollow  = 8 // transactions after the first for what found no room
)

// unit is a set of events that are tried together.
type unit struct {
	items   []*item
	round   int // rounds with failed rows so far
	rereads int
	locked  int // sends that met a held queue row
	follow  int // transactions that went before for want of room
}

// step plans and sends one transaction and says which units are to be tried
// next, before all others.
func (r *run) step(ctx context.Context, u unit) ([]unit, error) {
	if u.round >= maxRounds {
		return nil, r.graphs(ctx, u)
	}
	if err := r.flushAhead(ctx, u.items); err != nil {
		return nil, err
	}
	p := r.plan(u.items)
	if p.empty() {
		return r.afterSuccess(ctx, p, u)
	}
	t, answers, resent, err := r.send(ctx, p)
	if err != nil {
		return r.refused(p, u, err)
	}
	if salesforce.Committed(answers) {
		p.settle(t, answers)
		return r.afterSuccess(ctx, p, u)
	}
	return r.failed(ctx, failure{plan: p, tx: t, answers: answers, unit: u, resent: resent})
}

// afterSuccess sees to what the transaction had no room for.
func (r *run) afterSuccess(ctx context.Context, p *plan, u unit) ([]unit, error) {
	if err := r.graphs(ctx, unit{items: p.big}); err != nil {
		return nil, err
	}
	if len(p.later) == 0 {
		return nil, nil
	}
	if u.follow == maxFollow {
		for _, it := range p.later {
			it.leave(NoRoom, time.Time{})
		}
		return nil, nil
	}
	return []unit{{items: p.later, follow: u.follow + 1}}, nil
}

// send sends the plan as one transaction. After a lost reply the same is sent
// again with new revisions, so that at most one of the sends counts.
func (r *run) send(ctx context.Context, p *plan) (*transaction, []salesforce.Subresponse, bool, error) {
	for try := 0; ; try++ {
		t := p.transaction()
		failpoint.Hit(failpoint.ApplySending)
		answers, err := r.org.Composite(ctx, t.subs, true)
		failpoint.Hit(failpoint.ApplyAnswered)
		if salesforce.ClassOf(err) != salesforce.ClassUnknownOutcome || try == maxResends || ctx.Err() != nil {
			return t, answers, try > 0, err
		}
		if err := r.rest(ctx, try); err != nil {
			return t, nil, true, err
		}
	}
}

// rest waits before a further send of the same rows.
func (r *run) rest(ctx context.Context, try int) error {
	return r.cfg.Sleep(ctx, event.Backoff{Base: time.Second, Max: 8 * time.Second}.Delay(try+1, r.cfg.Float))
}

// refused handles an answer that refuses the call as a whole.
func (r *run) refused(p *plan, u unit, err error) ([]unit, error) {
	e, ok := salesforce.AsError(err)
	if !ok {
		return nil, err
	}
	only := p.entries[0].it
	switch {
	case e.TooLarge() && len(p.entries) > 1:
		r.shrink(len(p.entries))
		return u.halves(p), nil
	case e.Class == salesforce.ClassData && len(p.entries) > 1:
		return u.halves(p), nil
	case e.TooLarge():
		r.takeOut(only, r.charged(only, codeOf(e.Fault), e.Message, e.Pause))
		return u.again(), nil
	case e.Class == salesforce.ClassData:
		r.takeOut(only, r.permanent(only, e.Fault))
		return u.again(), nil
	}
	return nil, err
}

// halves tries the events of a plan in two transactions, in their order; what
// had no room goes with the second.
func (u unit) halves(p *plan) []unit {
	items := p.items()
	middle := (len(items) + 1) / 2
	first, second := u, u
	first.items = items[:middle]
	second.items = append(append(items[middle:len(items):len(items)], p.big...), p.later...)
	return []unit{first, second}
}

// again tries the rest of the unit once more.
func (u unit) again() []unit { return []unit{u} }

// nextRound tries the rest of the unit after rows have failed.
func (u unit) nextRound() []unit {
	u.round++
	return []unit{u}
}

// shrink notes that the org's automation took too long over so many events.
func (r *run) shrink(events int) {
	half := max(1, events/2)
	if r.limit == 0 || half < r.limit {
		r.limit = half
	}
}

// takeOut gives an event an outcome apart from the others. Unless it needs a
// person, later events of its entity wait.
func (r *run) takeOut(it *item, v *verdict) {
	it.verdict, it.takenOut = v, true
	if v.status != event.Review {
		r.hold(it, v.next)
	}
}

func (r *run) permanent(it *item, f salesforce.Fault) *verdict {
	return &verdict{status: event.Review, code: codeOf(f), why: f.Message, attempts: it.ev.Attempts}
}

// codeOf is Salesforce's code, or a word for an error without one.
func codeOf(f salesforce.Fault) string {
	if f.Code == "" {
		return "UNKNOWN"
	}
	return f.Code
}
