package retain

import (
	"context"
	"fmt"

	"sfbridge/bridge/event"
	"sfbridge/salesforce"
	"sfbridge/salesforce/soql"
)

// present is a row that is in the org, with its outbox.
type present struct {
	*event.Event
	effects map[string]string // row ids by key; of a row that was cleared
}

// present reads the rows that are in the org, by event id.
func (w *restoring) present(ctx context.Context, batch []*archived) (map[string]*present, error) {
	found := map[string]*present{}
	if len(batch) == 0 {
		return found, nil
	}
	keys := make([]string, len(batch))
	for i, a := range batch {
		keys[i] = a.ID
	}
	fields := append(event.KeyFields(), event.FieldHistory)
	cleared := map[string]*present{} // by row id
	err := w.each(ctx, soql.Select(fields...).From(event.Object).Where(soql.In(event.FieldID, keys)), func(rec salesforce.Record) error {
		e, err := event.FromRecord(rec)
		if err != nil {
			return err
		}
		found[e.ID] = &present{Event: e, effects: map[string]string{}}
		if e.Cleared() {
			cleared[e.RowID] = found[e.ID]
		}
		return nil
	})
	if err != nil || len(cleared) == 0 {
		return found, err
	}
	outbox := soql.Select("Id", event.EffectFieldKey, event.EffectFieldEvent).From(event.EffectObject).
		Where(soql.In(event.EffectFieldEvent, sorted(cleared)))
	return found, w.each(ctx, outbox, func(rec salesforce.Record) error {
		cleared[rec.String(event.EffectFieldEvent)].effects[rec.String(event.EffectFieldKey)] = rec.ID()
		return nil
	})
}

// each runs a query and hands over its records.
func (w *restoring) each(ctx context.Context, q *soql.Query, fn func(salesforce.Record) error) error {
	text, err := q.Build()
	if err != nil {
		return err
	}
	records, err := w.Org.Query(ctx, text)
	if err != nil {
		return fmt.Errorf("looking for rows to restore: %w", err)
	}
	for _, rec := range records {
		if err := fn(rec); err != nil {
			return err
		}
	}
	return nil
}
