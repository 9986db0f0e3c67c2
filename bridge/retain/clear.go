package retain

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"sfbridge/bridge/event"
	"sfbridge/salesforce"
	"sfbridge/salesforce/soql"
)

// clear empties payload, context and history of rows, and of their effects what
// was sent, answered and noted. That the payload is gone shows in its encoding,
// which is cleared with it.
func (s *sweep) clear(ctx context.Context, page []*row) error {
	rows, err := s.free(ctx, page)
	if err != nil {
		return err
	}
	if err := s.parts(ctx, rows); err != nil {
		return err
	}
	for _, batch := range s.batches(rows, func(r *row) int { return len(r.chunks) + len(r.effects) }) {
		if s.yields() {
			return nil
		}
		if batch, err = s.archive(ctx, "cleared", batch); err != nil {
			return err
		}
		n, err := s.commit(ctx, batch, s.clearing)
		s.report.Cleared += n
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *sweep) clearing(batch []*row) []salesforce.Subrequest {
	var updates, effects []salesforce.Row
	var chunks []string
	for _, r := range batch {
		updates = append(updates, s.update(r, map[string]any{
			event.FieldPayload: nil, event.FieldEncoding: nil, event.FieldContext: nil, event.FieldHistory: nil,
		}))
		for _, id := range r.effects {
			effects = append(effects, salesforce.Row{Object: event.EffectObject, ID: id, Fields: map[string]any{
				event.EffectFieldRequest: nil, event.EffectFieldResponse: nil, event.EffectFieldHistory: nil,
			}})
		}
		chunks = append(chunks, r.chunks...)
	}
	subs := []salesforce.Subrequest{salesforce.UpdateRows(refEvents, updates, true)}
	for part := range slices.Chunk(effects, salesforce.MaxRows) {
		subs = append(subs, salesforce.UpdateRows(fmt.Sprintf("f%d", len(subs)), part, true))
	}
	return append(subs, deletes(chunks)...)
}

// parts notes the chunk rows of large payloads.
func (s *sweep) parts(ctx context.Context, rows []*row) error {
	large := map[string]*row{}
	for _, r := range rows {
		if r.Encoding == event.Chunked {
			large[r.RowID] = r
		}
	}
	for part := range slices.Chunk(sorted(large), askRows) {
		q := soql.Select("Id", event.ChunkFieldEvent).From(event.ChunkObject).Where(soql.In(event.ChunkFieldEvent, part)).OrderBy("Id")
		err := s.each(ctx, q, func(rec salesforce.Record) {
			if r := large[rec.String(event.ChunkFieldEvent)]; r != nil {
				r.chunks = append(r.chunks, rec.ID())
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
