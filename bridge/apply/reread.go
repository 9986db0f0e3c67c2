package apply

import (
	"context"
	"fmt"
	"slices"

	"sfbridge/bridge/event"
	"sfbridge/salesforce"
	"sfbridge/salesforce/soql"
)

// rereadRows looks at the staging rows of items again. A row that shows a
// revision that this call has sent was moved by it, only the reply was lost; a
// row that is no longer open was moved by others.
func (r *run) rereadRows(ctx context.Context, items []*item) error {
	byRow := map[string]*item{}
	for _, it := range items {
		byRow[it.ev.RowID] = it
	}
	var questions []question
	for part := range slices.Chunk(items, maxKeys) {
		ids := make([]string, len(part))
		for i, it := range part {
			ids[i] = it.ev.RowID
		}
		questions = append(questions, question{
			object: event.Object,
			query:  soql.Select(event.ListFields()...).From(event.Object).Where(soql.In("Id", ids)),
			take: func(rec salesforce.Record) {
				if it := byRow[rec.ID()]; it != nil {
					delete(byRow, rec.ID())
					r.takeRow(it, rec)
				}
			},
		})
	}
	if _, err := r.ask(ctx, questions); err != nil {
		return fmt.Errorf("reading the events again: %w", err)
	}
	for _, it := range byRow {
		it.gone()
	}
	return nil
}

// takeRow compares a row with what this call knows of it. What others have
// written to an open row (attempts, history) is taken over.
func (r *run) takeRow(it *item, rec salesforce.Record) {
	fresh, err := event.FromRecord(rec)
	switch {
	case err != nil:
		r.contended(it)
		return
	case it.sent[fresh.Revision]:
		it.moved(verdict{status: fresh.Status, outcome: fresh.Outcome, code: fresh.ErrorCode, next: fresh.NextAttempt})
	case !fresh.Open():
		it.gone()
	}
	fresh.Payload, fresh.Context = it.ev.Payload, it.ev.Context
	it.ev = fresh
	r.bumped(&follower{rowID: fresh.RowID}, fresh.Revision)
}

// refresh reads the rows of items again, and the targets of all events that
// are still to be settled.
func (r *run) refresh(ctx context.Context, items []*item) error {
	if err := r.rereadRows(ctx, items); err != nil {
		return err
	}
	r.followers = map[string][]*follower{}
	return r.read(ctx, r.items)
}

// flushAhead writes the outcomes of events that go to Review before later events
// of their entities are committed: these would overtake them if the outcomes
// could not be written afterwards.
func (r *run) flushAhead(ctx context.Context, next []*item) error {
	coming := map[string]bool{} // entities
	for _, it := range next {
		coming[it.ev.Entity()] = coming[it.ev.Entity()] || !it.settled() && !it.takenOut
	}
	for _, it := range r.items {
		if it.takenOut && !it.settled() && it.verdict.status == event.Review && coming[it.ev.Entity()] {
			return r.flush(ctx)
		}
	}
	return nil
}

// flush writes the outcomes of the events that were taken out, each for
// itself. What can't be written leaves its event due, and later ones of its
// entity wait for it.
func (r *run) flush(ctx context.Context) error {
	var open []*item
	for _, it := range r.items {
		if it.takenOut && !it.settled() {
			open = append(open, it)
		}
	}
	for try := 0; len(open) > 0; try++ {
		rows := make([]salesforce.Row, len(open))
		for i, it := range open {
			rows[i] = r.outcomeRow(it, *it.verdict, it.targetID)
		}
		results, err := r.org.UpdateAll(ctx, rows, false)
		if err != nil {
			lost := salesforce.ClassOf(err) == salesforce.ClassUnknownOutcome
			if !lost || try == maxResends || ctx.Err() != nil {
				return fmt.Errorf("writing outcomes: %w", err)
			}
			if err := r.rest(ctx, try); err != nil {
				return err
			}
			continue
		}
		if err := r.flushed(ctx, open, results); err != nil {
			return err
		}
		open = slices.DeleteFunc(open, (*item).settled)
		if try == maxResends {
			for _, it := range open {
				r.contended(it)
			}
			return nil
		}
	}
	return nil
}

// flushed takes over what became of outcomes written by themselves.
func (r *run) flushed(ctx context.Context, items []*item, results []salesforce.SaveResult) error {
	var refused []*item
	for i, it := range items {
		f := results[i].Fault()
		switch {
		case results[i].Success:
			it.moved(*it.verdict)
		case f.Token() == salesforce.TokenRevision:
			refused = append(refused, it)
		default:
			it.leave(Unwritten, r.cfg.Now().Add(r.cfg.Backoff.Base))
			r.hold(it, it.result.NotBefore)
		}
	}
	if len(refused) == 0 {
		return nil
	}
	return r.rereadRows(ctx, refused)
}
