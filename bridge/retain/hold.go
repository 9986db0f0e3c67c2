package retain

import (
	"context"
	"slices"

	"sfbridge/bridge/event"
	"sfbridge/salesforce"
	"sfbridge/salesforce/soql"
)

// free leaves out the rows that are not to be touched yet, and notes on the
// others what hangs on them.
func (s *sweep) free(ctx context.Context, rows []*row) ([]*row, error) {
	byID := map[string]*row{}
	for _, r := range rows {
		byID[r.RowID] = r
	}
	held := map[string]bool{}
	for part := range slices.Chunk(ids(rows), askRows) {
		if err := s.effects(ctx, part, byID, held); err != nil {
			return nil, err
		}
		if err := s.conflicts(ctx, part, held); err != nil {
			return nil, err
		}
	}
	return s.without(rows, held), nil
}

func (s *sweep) without(rows []*row, held map[string]bool) []*row {
	free := slices.DeleteFunc(slices.Clone(rows), func(r *row) bool { return held[r.RowID] })
	s.report.Held += len(rows) - len(free)
	return free
}

// each runs a query and hands over its records.
func (s *sweep) each(ctx context.Context, q *soql.Query, fn func(salesforce.Record)) error {
	text, err := q.Build()
	if err != nil {
		return err
	}
	records, err := s.cfg.Org.Query(ctx, text)
	for _, r := range records {
		fn(r)
	}
	return err
}

// effects holds events with effects that are not done. One that a person has
// discarded is done with, whatever became of its effects, unless one of them is
// still to be delivered.
func (s *sweep) effects(ctx context.Context, part []string, rows map[string]*row, held map[string]bool) error {
	q := soql.Select("Id", event.EffectFieldEvent, event.EffectFieldStatus).From(event.EffectObject).
		Where(soql.In(event.EffectFieldEvent, part)).OrderBy("Id")
	return s.each(ctx, q, func(rec salesforce.Record) {
		r := rows[rec.String(event.EffectFieldEvent)]
		if r == nil {
			return
		}
		r.effects = append(r.effects, rec.ID())
		status := event.EffectStatus(rec.String(event.EffectFieldStatus))
		if status.Open() || status != event.EffectDone && r.Outcome != event.Discarded {
			held[r.RowID] = true
		}
	})
}

// conflicts holds events that a conflict row waiting for a person is compared
// with.
func (s *sweep) conflicts(ctx context.Context, part []string, held map[string]bool) error {
	q := soql.Select("Id", event.FieldConflictOf).From(event.Object).
		Where(soql.In(event.FieldConflictOf, part), soql.NotEq(event.FieldStatus, string(event.Completed)))
	return s.each(ctx, q, func(rec salesforce.Record) { held[rec.String(event.FieldConflictOf)] = true })
}

// deletions holds events that deleted a record while an older event of their
// entity is not finished: without them it would bring the record back.
func (s *sweep) deletions(ctx context.Context, rows []*row) ([]*row, error) {
	byEntity := map[string][]*row{}
	var objects []string
	for _, r := range rows {
		if r.Outcome == event.Deleted && r.ObjectID != "" {
			byEntity[r.Entity()] = append(byEntity[r.Entity()], r)
			objects = append(objects, r.ObjectID)
		}
	}
	held := map[string]bool{}
	for part := range slices.Chunk(slices.Compact(slices.Sorted(slices.Values(objects))), batchRows) {
		q := soql.Select("Id", event.FieldID, event.FieldSource, event.FieldObjectID, event.FieldOrder).From(event.Object).
			Where(soql.In(event.FieldObjectID, part), soql.NotEq(event.FieldStatus, string(event.Completed)))
		err := s.each(ctx, q, func(rec salesforce.Record) {
			e, err := event.FromRecord(rec)
			for _, r := range byEntity[e.Entity()] {
				if err != nil || event.Compare(e, r.Event) < 0 {
					held[r.RowID] = true
				}
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return s.without(rows, held), nil
}
