package retain

import (
	"context"
	"fmt"
	"slices"
	"time"

	"sfbridge/bridge/event"
	"sfbridge/salesforce"
)

// sideRows is how many effects, or chunks, of its events go in one transaction.
const sideRows = 2 * salesforce.MaxRows

// maxTries bounds how often a transaction is sent without the rows that were
// refused.
const maxTries = 4

// purge deletes rows with their effects.
func (s *sweep) purge(ctx context.Context, page []*row) error {
	rows, err := s.free(ctx, page)
	if err != nil {
		return err
	}
	if rows, err = s.deletions(ctx, rows); err != nil || len(rows) == 0 {
		return err
	}
	horizons, err := s.raise(ctx, rows)
	if err != nil {
		return err
	}
	for _, batch := range s.batches(rows, func(r *row) int { return len(r.effects) }) {
		if s.yields() {
			return nil
		}
		if batch, err = s.archive(ctx, "deleted", batch); err != nil {
			return err
		}
		n, err := s.commit(ctx, batch, func(batch []*row) []salesforce.Subrequest { return s.deletion(batch, horizons) })
		s.report.Deleted += n
		if err != nil {
			return err
		}
	}
	return nil
}

// batches cuts rows so that what hangs on them fits into the transaction. A row
// on which more hangs than that is left to a person.
func (s *sweep) batches(rows []*row, side func(*row) int) [][]*row {
	var out [][]*row
	var batch []*row
	n := 0
	for _, r := range rows {
		more := side(r)
		if more > sideRows {
			s.report.Held++
			s.cfg.Log.Warn("retention leaves an event alone: too many rows hang on it", "event", r.ID, "rows", more)
			continue
		}
		if len(batch) == batchRows || n+more > sideRows {
			out, batch, n = append(out, batch), nil, 0
		}
		batch, n = append(batch, r), n+more
	}
	if len(batch) > 0 {
		out = append(out, batch)
	}
	return out
}

// deletion is the transaction that deletes a batch. The update before it lets
// the org refuse a row that was replayed since it was read.
func (s *sweep) deletion(batch []*row, horizons map[string]time.Time) []salesforce.Subrequest {
	names := map[string]bool{}
	var updates []salesforce.Row
	var effects []string
	for _, r := range batch {
		names[r.queue()] = true
		updates = append(updates, s.update(r, map[string]any{}))
		effects = append(effects, r.effects...)
	}
	var queues []salesforce.Row
	for _, name := range sorted(names) {
		queues = append(queues, s.queueRow(name, horizons[name]))
	}
	subs := []salesforce.Subrequest{
		salesforce.UpsertRows("q", event.QueueFieldName, queues, true),
		salesforce.UpdateRows(refEvents, updates, true),
	}
	subs = append(subs, deletes(effects)...)
	return append(subs, salesforce.DeleteRows(refDeleted, ids(batch), true))
}

// References of the subrequests whose rows stand at the place of their event.
const (
	refEvents  = "e"
	refDeleted = "d"
)

// deletes removes what hangs on events.
func deletes(list []string) []salesforce.Subrequest {
	var subs []salesforce.Subrequest
	for part := range slices.Chunk(list, salesforce.MaxRows) {
		subs = append(subs, salesforce.DeleteRows(fmt.Sprintf("x%d", len(subs)), part, true))
	}
	return subs
}

// update changes a row from the revision that was read.
func (s *sweep) update(r *row, change map[string]any) salesforce.Row {
	change[event.FieldExpectedRevision] = r.Revision
	change[event.FieldRevision] = event.NextRevision(r.Revision, s.cfg.IntN)
	return salesforce.Row{Object: event.Object, ID: r.RowID, Fields: change}
}

// commit sends the transaction of a batch, again without the rows that were
// refused: they have moved on since. It returns how many rows it changed.
func (s *sweep) commit(ctx context.Context, batch []*row, build func([]*row) []salesforce.Subrequest) (int, error) {
	for try := 0; try < maxTries && len(batch) > 0; try++ {
		subs := build(batch)
		answers, err := s.cfg.Org.Composite(ctx, subs, true)
		if err != nil {
			return 0, err
		}
		if salesforce.Committed(answers) {
			return len(batch), nil
		}
		rest, cause := without(batch, answers)
		if len(rest) == len(batch) {
			return 0, cause
		}
		s.report.Moved += len(batch) - len(rest)
		batch = rest
	}
	return 0, nil
}

// without leaves out the rows that the org refuses.
func without(batch []*row, answers []salesforce.Subresponse) ([]*row, error) {
	refused := map[*row]bool{}
	cause := salesforce.Fault{Code: "UNKNOWN", Message: "refused without a reason", Class: salesforce.ClassRetryable}
	for i, c := range salesforce.Culprits(answers) {
		if i == 0 {
			cause = c.Fault
		}
		if ref := answers[c.Sub].Ref; (ref == refEvents || ref == refDeleted) && c.Row >= 0 {
			refused[batch[c.Row]] = true
		}
	}
	rest := slices.DeleteFunc(slices.Clone(batch), func(r *row) bool { return refused[r] })
	return rest, &salesforce.Error{Op: salesforce.OpComposite, Status: 200, Fault: cause}
}
