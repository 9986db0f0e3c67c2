package retain

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"sfbridge/bridge/event"
	"sfbridge/salesforce"
	"sfbridge/salesforce/soql"
)

// raise moves the horizons of the rows' queues on and waits until receivers
// know of it. It returns the horizons that the deletion is to write again: a
// keeper of another process may have read older ones.
func (s *sweep) raise(ctx context.Context, rows []*row) (map[string]time.Time, error) {
	want := map[string]time.Time{}
	for _, r := range rows {
		if at := r.received(); at.After(want[r.queue()]) {
			want[r.queue()] = at
		}
	}
	have, err := s.horizons(ctx, want)
	if err != nil {
		return nil, fmt.Errorf("reading horizons: %w", err)
	}
	var moved []salesforce.Row
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if want[name].After(have[name]) {
			moved = append(moved, s.queueRow(name, want[name]))
			continue
		}
		want[name] = have[name]
	}
	if len(moved) == 0 {
		return want, nil
	}
	// A stalled write must not arrive after a later one.
	ctx2, cancel := context.WithTimeout(ctx, s.cfg.Settle)
	defer cancel()
	results, err := s.cfg.Org.UpsertAll(ctx2, event.QueueFieldName, moved, true)
	for _, r := range results {
		if err == nil && !r.Success {
			err = fmt.Errorf("%s: %s", r.Fault().Code, r.Fault().Message)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("moving horizons on: %w", err)
	}
	return want, s.cfg.Sleep(ctx, s.cfg.Settle)
}

func (s *sweep) horizons(ctx context.Context, of map[string]time.Time) (map[string]time.Time, error) {
	have := map[string]time.Time{}
	q := soql.Select("Id", event.QueueFieldName, event.QueueFieldHorizon).From(event.QueueObject).
		Where(soql.In(event.QueueFieldName, slices.Sorted(maps.Keys(of))))
	return have, s.each(ctx, q, func(rec salesforce.Record) {
		have[rec.String(event.QueueFieldName)], _ = rec.Time(event.QueueFieldHorizon)
	})
}

func (s *sweep) queueRow(name string, horizon time.Time) salesforce.Row {
	return salesforce.Row{Object: event.QueueObject, Fields: map[string]any{
		event.QueueFieldName:    name,
		event.QueueFieldTouched: event.FormatTime(s.cfg.Now()),
		event.QueueFieldHorizon: event.FormatTime(horizon),
	}}
}
