package reconcile

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"sfbridge/bridge/event"
	"sfbridge/salesforce/soql"
)

// settle decides what becomes of the objects of a page that drift.
func (r *Reconciler) settle(ctx context.Context, c Comparison, list []*object, s *sweeping) error {
	drifting := slices.DeleteFunc(slices.Clone(list), func(o *object) bool { return len(o.drift) == 0 })
	if len(drifting) == 0 {
		return nil
	}
	open, waiting, err := r.underWay(ctx, c, drifting)
	if err != nil {
		return err
	}
	drifting = slices.DeleteFunc(drifting, func(o *object) bool {
		if open[o.event.ObjectID] {
			s.Young++
		}
		return open[o.event.ObjectID]
	})
	if c.Plan.Repair {
		if err := r.repair(ctx, c, drifting, waiting); err != nil {
			return err
		}
	}
	for _, o := range drifting {
		s.Drifting++
		if o.drift[0].Repair != "" {
			s.Repaired++
		}
		for _, d := range o.drift {
			s.add(d)
		}
	}
	return nil
}

// underWay finds the objects that an open event is about to settle, and those
// for which an earlier repair waits for a person.
func (r *Reconciler) underWay(ctx context.Context, c Comparison, list []*object) (open, waiting map[string]bool, err error) {
	open, waiting = map[string]bool{}, map[string]bool{}
	ids, queues := map[string]bool{}, map[string]bool{}
	for _, o := range list {
		ids[o.event.ObjectID] = true
		home := event.HomeQueue(event.ByBridge, o.event.Entity())
		queues[home], queues[event.SisterQueue(home)] = true, true
	}
	for _, some := range soql.Chunks(slices.Sorted(maps.Keys(ids)), keysBudget, 200) {
		err := r.objectsOf(ctx, open, c, soql.In(event.FieldObjectID, some), soql.In(event.FieldQueue, slices.Sorted(maps.Keys(queues))))
		if err != nil {
			return nil, nil, err
		}
		if !c.Plan.Repair {
			continue
		}
		err = r.objectsOf(ctx, waiting, c, soql.In(event.FieldObjectID, some), soql.Eq(event.FieldStatus, string(event.Review)),
			soql.Prefix(event.FieldID, event.RepairPrefix(c.Mapping.Source)))
		if err != nil {
			return nil, nil, err
		}
	}
	return open, waiting, nil
}

func (r *Reconciler) objectsOf(ctx context.Context, into map[string]bool, c Comparison, conds ...soql.Cond) error {
	text, err := soql.Select("Id", event.FieldObjectID).From(event.Object).
		Where(append(conds, soql.Eq(event.FieldSource, c.Mapping.Source))...).Build()
	if err != nil {
		return err
	}
	records, err := r.org.Query(ctx, text)
	if err != nil {
		return fmt.Errorf("looking for events under way: %w", err)
	}
	for _, rec := range records {
		into[rec.String(event.FieldObjectID)] = true
	}
	return nil
}

// repair stages the events of what drifts, like any other. Objects whose last
// repair ended in Review are left to the person who has to look at it.
func (r *Reconciler) repair(ctx context.Context, c Comparison, list []*object, waiting map[string]bool) error {
	var events []*event.Event
	var places []*object
	for _, o := range list {
		if waiting[o.event.ObjectID] {
			o.drift[0].Reason = "not repaired: an earlier repair waits in Review"
			continue
		}
		e := o.event
		e.Status, e.HomeQueue = event.Received, event.HomeQueue(event.ProcessorKind(c.Mapping.Processor), e.Entity())
		e.History = event.AppendHistory("", event.Line{
			At: r.cfg.Now(), To: event.Received, Who: "bridge", Why: fmt.Sprintf("reconciliation found %d records that differ from the provider's list", len(o.drift)),
		})
		events, places = append(events, e), append(places, o)
	}
	if len(events) == 0 {
		return nil
	}
	var problems []error
	for i, err := range r.cfg.Stage(ctx, events) {
		if err != nil {
			problems = append(problems, err)
			continue
		}
		for at := range places[i].drift {
			places[i].drift[at].Repair = events[i].ID
		}
	}
	if len(problems) > 0 {
		return fmt.Errorf("staging %d of %d repairs: %w", len(problems), len(events), errors.Join(problems[0]))
	}
	return nil
}
