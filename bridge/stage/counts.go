package stage

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"sfbridge/bridge/event"
	"sfbridge/internal/failpoint"
	"sfbridge/salesforce"
	"sfbridge/salesforce/soql"
)

// counts gathers duplicates until they are written. A kill may lose a count,
// never an event.
type counts struct {
	mu   sync.Mutex
	rows map[string]count // by row id of the original
}

type count struct {
	n    int
	last time.Time
}

func (c *counts) add(row string, at time.Time) {
	if row == "" {
		return
	}
	c.merge(map[string]count{row: {n: 1, last: at}})
}

func (c *counts) merge(rows map[string]count) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.rows == nil {
		c.rows = map[string]count{}
	}
	for row, more := range rows {
		have := c.rows[row]
		have.n += more.n
		if more.last.After(have.last) {
			have.last = more.last
		}
		c.rows[row] = have
	}
}

func (c *counts) take() map[string]count {
	c.mu.Lock()
	defer c.mu.Unlock()
	rows := c.rows
	c.rows = nil
	return rows
}

// flush writes the counts, 200 rows a call. Rows that another writer moved
// meanwhile keep theirs for the next time; rows that are gone, and a call whose
// reply was lost, lose them: a count is never added twice.
func (s *Stager) flush(ctx context.Context) error {
	rows := s.counts.take()
	ids := slices.Sorted(maps.Keys(rows))
	for len(ids) > 0 {
		part := ids[:min(len(ids), salesforce.MaxRows)]
		kept, err := s.flushPart(ctx, part, rows)
		if err != nil && salesforce.ClassOf(err) != salesforce.ClassUnknownOutcome {
			s.counts.merge(pick(rows, ids))
			return err
		}
		s.counts.merge(kept)
		ids = ids[len(part):]
	}
	return nil
}

func pick(rows map[string]count, ids []string) map[string]count {
	some := make(map[string]count, len(ids))
	for _, id := range ids {
		some[id] = rows[id]
	}
	return some
}

func (s *Stager) flushPart(ctx context.Context, ids []string, rows map[string]count) (kept map[string]count, err error) {
	records, err := s.query(ctx, soql.In("Id", ids),
		event.FieldDuplicateCount, event.FieldHistory, event.FieldRevision, event.FieldStatus)
	if err != nil {
		return nil, err
	}
	var updates []salesforce.Row
	for _, r := range records {
		e, err := event.FromRecord(r)
		if err != nil { // one that can't be read keeps no other from its count
			s.cfg.Log.Warn("duplicates are not counted on a row that can't be read", "error", err)
			continue
		}
		updates = append(updates, s.countUpdate(e, rows[e.RowID]))
	}
	failpoint.Hit(failpoint.CountSending)
	results, err := s.cfg.Salesforce.UpdateAll(ctx, updates, false)
	failpoint.Hit(failpoint.CountAnswered)
	if err != nil {
		return nil, err
	}
	kept = map[string]count{}
	for i, r := range results {
		if !r.Success && r.Class() != salesforce.ClassData {
			kept[updates[i].ID] = rows[updates[i].ID]
		}
	}
	return kept, nil
}

// countUpdate moves the revision on, so that a count never overwrites a history
// line that another writer added meanwhile.
func (s *Stager) countUpdate(e *event.Event, c count) salesforce.Row {
	line := event.Line{At: s.cfg.Now(), From: e.Status, To: e.Status, Who: "bridge",
		Why: fmt.Sprintf("duplicate deliveries: %d, the last at %s", c.n, c.last.UTC().Format(time.RFC3339))}
	return salesforce.Row{Object: event.Object, ID: e.RowID, Fields: map[string]any{
		event.FieldDuplicateCount:   e.DuplicateCount + c.n,
		event.FieldLastDuplicateAt:  event.FormatTime(c.last),
		event.FieldHistory:          event.AppendHistory(e.History, line),
		event.FieldExpectedRevision: e.Revision,
		event.FieldRevision:         event.NextRevision(e.Revision, s.cfg.Intn),
	}}
}
