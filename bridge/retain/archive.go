package retain

import (
	"context"
	"fmt"

	"sfbridge/bridge/event"
	"sfbridge/salesforce"
	"sfbridge/salesforce/soql"
)

// Line is one event in an archive, with the fields as Salesforce holds them.
type Line struct {
	Event   map[string]any   `json:"event"`
	Chunks  []string         `json:"chunks,omitempty"`  // of a large payload, in order
	Effects []map[string]any `json:"effects,omitempty"` // what the event has caused
}

// archive writes a batch down and returns the rows that are safe: those that
// still stand in the org. Without a directory all are.
func (s *sweep) archive(ctx context.Context, why string, batch []*row) ([]*row, error) {
	if s.cfg.ArchiveDir == "" || len(batch) == 0 {
		return batch, nil
	}
	v, err := createVolume(s.cfg.ArchiveDir, why, s.cfg.Now(), s.cfg.IntN)
	if err != nil {
		return nil, fmt.Errorf("archiving: %w", err)
	}
	safe, err := s.fill(ctx, v, batch)
	if err != nil {
		v.abandon()
		return nil, fmt.Errorf("archiving: %w", err)
	}
	if err := v.seal(); err != nil {
		return nil, fmt.Errorf("archiving: %w", err)
	}
	s.report.Archived += len(safe)
	return safe, nil
}

// fill writes one line an event. Payloads go through one by one: a batch of
// them may be larger than the memory that the service is to live in.
func (s *sweep) fill(ctx context.Context, v *volume, batch []*row) ([]*row, error) {
	effects, err := s.outbox(ctx, batch)
	if err != nil {
		return nil, err
	}
	text, err := soql.Select(event.AllFields()...).From(event.Object).Where(soql.In("Id", ids(batch))).OrderBy("Id").Build()
	if err != nil {
		return nil, err
	}
	written := map[string]bool{}
	var large []salesforce.Record
	err = s.cfg.Org.QueryEach(ctx, text, func(rec salesforce.Record) error {
		if event.Encoding(rec.String(event.FieldEncoding)) == event.Chunked {
			large = append(large, rec)
			return nil
		}
		written[rec.ID()] = true
		return v.add(Line{Event: fields(rec, event.AllFields()), Effects: effects[rec.ID()]})
	})
	if err != nil {
		return nil, err
	}
	for _, rec := range large {
		chunks, err := s.chunks(ctx, rec.ID())
		if err != nil {
			return nil, err
		}
		written[rec.ID()] = true
		if err := v.add(Line{Event: fields(rec, event.AllFields()), Chunks: chunks, Effects: effects[rec.ID()]}); err != nil {
			return nil, err
		}
	}
	var safe []*row
	for _, r := range batch {
		if written[r.RowID] {
			safe = append(safe, r)
		}
	}
	return safe, nil
}

// outbox reads the effects of a batch, by the event's row id.
func (s *sweep) outbox(ctx context.Context, batch []*row) (map[string][]map[string]any, error) {
	found := map[string][]map[string]any{}
	names := append(event.EffectFields(), event.EffectFieldRequest)
	caused := false
	for _, r := range batch {
		caused = caused || len(r.effects) > 0
	}
	if !caused {
		return found, nil
	}
	q := soql.Select(names...).From(event.EffectObject).Where(soql.In(event.EffectFieldEvent, ids(batch))).OrderBy("Id")
	return found, s.each(ctx, q, func(rec salesforce.Record) {
		owner := rec.String(event.EffectFieldEvent)
		found[owner] = append(found[owner], fields(rec, names))
	})
}

func (s *sweep) chunks(ctx context.Context, row string) ([]string, error) {
	var parts []string
	q := soql.Select("Id", event.ChunkFieldData).From(event.ChunkObject).
		Where(soql.Eq(event.ChunkFieldEvent, row)).OrderBy(event.ChunkFieldIndex)
	return parts, s.each(ctx, q, func(rec salesforce.Record) { parts = append(parts, rec.String(event.ChunkFieldData)) })
}

// fields are the named fields of a record that are not null.
func fields(rec salesforce.Record, names []string) map[string]any {
	f := map[string]any{}
	for _, name := range names {
		if rec.Has(name) {
			f[name] = rec[name]
		}
	}
	return f
}
