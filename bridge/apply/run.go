package apply

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"sfbridge/bridge/event"
	"sfbridge/internal/failpoint"
	"sfbridge/mapping"
	"sfbridge/salesforce"
)

// run is one call of Apply.
type run struct {
	*Applier
	org   Org
	items []*item // in working order

	base      *view            // targets as read, and as this call has changed them
	shapesOf  map[string]shape // lower-case object
	followers map[string][]*follower

	holding map[string]hold // entity -> what later events of it wait for
	resting []Pause
	limit   int // largest batch that the org's automation takes, 0: unknown
}

// hold is an event that later ones of its entity wait for.
type hold struct {
	ev    *event.Event
	until time.Time
}

func newRun(a *Applier, batch []*event.Event) *run {
	r := &run{
		Applier: a, org: a.cfg.Org, base: newView(nil),
		shapesOf: map[string]shape{}, followers: map[string][]*follower{}, holding: map[string]hold{},
	}
	for i, ev := range batch {
		r.items = append(r.items, a.prepare(ev, i))
	}
	r.items = inOrder(r.items)
	for _, it := range r.items {
		if it.settled() {
			r.hold(it, it.result.NotBefore)
		}
	}
	return r
}

// work settles every item or tells why the rest could not be tried.
func (r *run) work(ctx context.Context) error {
	if err := r.consult(ctx); err != nil {
		return err
	}
	if err := r.read(ctx, r.items); err != nil {
		return err
	}
	failpoint.Hit(failpoint.ApplyRead)
	queue := []unit{{items: r.items}}
	for len(queue) > 0 {
		next := queue[0]
		more, err := r.step(ctx, next)
		if err != nil {
			return err
		}
		queue = append(more, queue[1:]...)
	}
	return nil
}

// hold keeps later events of the item's entity waiting in this call.
func (r *run) hold(it *item, until time.Time) {
	entity := it.ev.Entity()
	if h, held := r.holding[entity]; held && event.Compare(h.ev, it.ev) <= 0 {
		return
	}
	r.holding[entity] = hold{ev: it.ev, until: until}
}

// held says whether an earlier event of the entity keeps the item waiting.
func (r *run) held(it *item) (time.Time, bool) {
	h, held := r.holding[it.ev.Entity()]
	if !held || event.Compare(h.ev, it.ev) >= 0 {
		return time.Time{}, false
	}
	return h.until, true
}

func (r *run) report() Report {
	report := Report{Results: make([]Result, len(r.items)), Pauses: r.resting, BatchLimit: r.limit}
	for _, it := range r.items {
		if !it.settled() {
			it.leave(Stopped, time.Time{})
		}
		report.Results[it.place] = *it.result
	}
	return report
}

func (r *run) shape(object string) shape { return r.shapesOf[strings.ToLower(object)] }

// keyOf names the business record that a record is about.
func (r *run) keyOf(rec mapping.Record) targetKey {
	return newTargetKey(rec.Object, rec.Key.Field, r.shape(rec.Object).fold(rec.Key.Field, rec.Key.Value))
}

// read looks up the targets of the items and what else the decisions need. A
// configuration that the org refuses sets the events aside that name it.
func (r *run) read(ctx context.Context, items []*item) error {
	for {
		items = toRead(items)
		if len(items) == 0 {
			return nil
		}
		object, err := r.loadShapes(ctx, items)
		if err == nil {
			var failed *question
			if failed, err = r.ask(ctx, r.questions(items)); err == nil {
				return nil
			}
			if failed != nil {
				object = failed.object
			}
		}
		fault, refused := misconfigured(err)
		if !refused || object == "" || object == event.Object || object == event.EffectObject || !r.setAside(items, object, fault) {
			return err
		}
	}
}

// toRead are the items whose decision takes a look at the org: at their targets,
// or at what a replayed event has put into the outbox before.
func toRead(items []*item) []*item {
	return slices.DeleteFunc(slices.Clone(items), func(it *item) bool {
		writes := it.verdict == nil && len(it.records) > 0
		return it.settled() || !writes && !it.owes()
	})
}

func (r *run) questions(items []*item) []question {
	var all []question
	for _, p := range r.probes(items) {
		all = append(all, p.questions(r)...)
	}
	all = append(all, r.deletionQuestions(items)...)
	return append(all, r.outboxQuestions(items)...)
}

// loadShapes makes sure that every object of the items is known. It returns
// the object that can't be described.
func (r *run) loadShapes(ctx context.Context, items []*item) (string, error) {
	for _, it := range items {
		for _, rec := range it.records {
			if r.shape(rec.Object).object != nil {
				continue
			}
			sh, err := r.shapes.of(ctx, rec.Object)
			if err != nil {
				return rec.Object, fmt.Errorf("describing %s: %w", rec.Object, err)
			}
			r.shapesOf[strings.ToLower(rec.Object)] = sh
		}
	}
	return "", nil
}

// misconfigured tells errors that an administrator has to mend: the org lacks
// what the mapping names, or the integration user may not see it.
func misconfigured(err error) (salesforce.Fault, bool) {
	e, ok := salesforce.AsError(err)
	if !ok {
		return salesforce.Fault{}, false
	}
	absent := e.Op == salesforce.OpDescribe && e.Status == 404
	return e.Fault, absent || e.Class == salesforce.ClassConfiguration
}

// setAside pauses the routes whose records on the object name what the fault
// names, or all its routes when it names nothing; their events are left. It
// says whether there were any.
func (r *run) setAside(items []*item, object string, fault salesforce.Fault) bool {
	fields := fault.NamedFields()
	chosen := slices.DeleteFunc(slices.Clone(items), func(it *item) bool { return !it.names(object, fields) })
	if len(chosen) == 0 {
		chosen = slices.DeleteFunc(slices.Clone(items), func(it *item) bool { return !it.names(object, nil) })
	}
	for _, it := range chosen {
		r.pause(it, object, fault)
	}
	r.shapes.forget(object)
	return len(chosen) > 0
}

// names says whether a record of the item writes one of the fields of the
// object, or, without fields, the object at all.
func (it *item) names(object string, fields []string) bool {
	for _, rec := range it.records {
		if !strings.EqualFold(rec.Object, object) {
			continue
		}
		fixed := it.targets[rec.Spec]
		if len(fields) == 0 || slices.ContainsFunc(fields, func(f string) bool { return namesField(fixed, f) }) {
			return true
		}
	}
	return false
}

func (r *run) pause(it *item, object string, fault salesforce.Fault) {
	r.pauseRoute(it, fmt.Sprintf("%s: %s: %s", object, fault.Code, fault.Message))
}

// pauseRoute rests the item's route; its event stays due.
func (r *run) pauseRoute(it *item, reason string) {
	until := r.pauses.begin(it.ev.Source, it.route.Name)
	known := slices.ContainsFunc(r.resting, func(p Pause) bool {
		return p.Source == it.ev.Source && p.Route == it.route.Name
	})
	if !known {
		r.resting = append(r.resting, Pause{Source: it.ev.Source, Route: it.route.Name, Until: until, Reason: reason})
	}
	it.leave(Paused, until)
	r.hold(it, until)
}
