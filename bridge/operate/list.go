package operate

import (
	"context"
	"errors"
	"fmt"

	"sfbridge/bridge/event"
	"sfbridge/salesforce"
	"sfbridge/salesforce/soql"
)

const (
	// idsBudget bounds the ids of one query, in bytes as an address carries them.
	idsBudget = 8_000
	rowsACall = 200 // of one update
	pageRows  = 2000
)

// errUnreadable says that a large payload is not there in full.
var errUnreadable = errors.New("a part of the payload is missing or damaged")

// ErrNotFound says that no event has this id.
var ErrNotFound = errors.New("there is no such event")

// List returns the events that the filter chooses, newest first, without
// payload and context.
func (d *Desk) List(ctx context.Context, f Filter) ([]*event.Event, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	limit := f.Limit
	if limit == 0 || limit > maxLimit {
		limit = maxLimit
	}
	var all []*event.Event
	for _, ids := range f.idLists() {
		if len(all) == limit {
			break
		}
		query := soql.Select(event.ListFields()...).From(event.Object).Where(append(f.conds(), ids)...).
			OrderBy(event.FieldReceivedAt+" DESC NULLS LAST", "Id DESC").Limit(limit - len(all))
		events, err := d.read(ctx, query)
		if err != nil {
			return nil, fmt.Errorf("listing events: %w", err)
		}
		all = append(all, events...)
	}
	return all, nil
}

// idLists cuts the ids into conditions of a bearable length; one empty
// condition when there are none.
func (f Filter) idLists() []soql.Cond {
	if len(f.IDs) == 0 {
		return []soql.Cond{{}}
	}
	var conds []soql.Cond
	for _, ids := range soql.Chunks(f.IDs, idsBudget, rowsACall) {
		conds = append(conds, soql.In(event.FieldID, ids))
	}
	return conds
}

// Story is one event with what belongs to it.
type Story struct {
	Event *event.Event // with payload and context
	// Conflicts are the rows of deliveries that came under the same id with
	// other content; of a conflict row, the other ones.
	Conflicts []*event.Event
	// Original is the event that a conflict row conflicts with, and Changes what
	// differs in the conflict row's payload; nil when one of the two can't be
	// read any more. ChangesCut is how many more changes there are.
	Original   *event.Event
	Changes    []Change
	ChangesCut int
	// Effects are the side effects that it has caused.
	Effects []*event.Effect
}

// Show reads the story of the event with this Event_Id__c or row id.
func (d *Desk) Show(ctx context.Context, id string) (Story, error) {
	if id == "" {
		return Story{}, usage("an event id is needed")
	}
	which := soql.Eq(event.FieldID, id)
	if rowID(id) {
		which = soql.Or(which, soql.Eq("Id", id))
	}
	events, err := d.read(ctx, soql.Select(event.AllFields()...).From(event.Object).Where(which))
	if err != nil {
		return Story{}, fmt.Errorf("reading event %s: %w", id, err)
	}
	if len(events) == 0 {
		return Story{}, fmt.Errorf("%w: %s", ErrNotFound, id)
	}
	s := Story{Event: events[0]}
	if err := d.fill(ctx, s.Event); err != nil {
		return Story{}, err
	}
	if s.Conflicts, err = d.conflicts(ctx, s.Event); err != nil {
		return Story{}, fmt.Errorf("reading the conflicts of %s: %w", id, err)
	}
	if err := d.compare(ctx, &s); err != nil {
		return Story{}, fmt.Errorf("reading what %s conflicts with: %w", id, err)
	}
	if s.Effects, err = d.effects(ctx, s.Event.RowID); err != nil {
		return Story{}, fmt.Errorf("reading the effects of %s: %w", id, err)
	}
	return s, nil
}

// rowID says whether s may be a Salesforce id; event ids hold a colon.
func rowID(s string) bool {
	if len(s) != 15 && len(s) != 18 {
		return false
	}
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}

func (d *Desk) chunks(ctx context.Context, row string) ([]byte, error) {
	text, err := soql.Select(event.ChunkFieldIndex, event.ChunkFieldData).From(event.ChunkObject).
		Where(soql.Eq(event.ChunkFieldEvent, row)).OrderBy(event.ChunkFieldIndex).Build()
	if err != nil {
		return nil, err
	}
	records, err := d.cfg.Org.Query(ctx, text)
	if err != nil {
		return nil, err
	}
	parts := make([]string, len(records))
	for i, r := range records {
		if index, _ := r.Int(event.ChunkFieldIndex); int(index) != i {
			return nil, fmt.Errorf("%w: number %d", errUnreadable, i)
		}
		parts[i] = r.String(event.ChunkFieldData)
	}
	payload, err := event.DecodePayload(event.Chunked, "", parts)
	if err != nil || len(payload) == 0 {
		return nil, fmt.Errorf("%w: %d parts", errUnreadable, len(parts))
	}
	return payload, nil
}

// read runs a query for rows. A row that can't be read in full is shown with
// what could be read.
func (d *Desk) read(ctx context.Context, query *soql.Query) ([]*event.Event, error) {
	text, err := query.Build()
	if err != nil {
		return nil, usage("the filter can't be written as a query: %v", err)
	}
	records, err := d.cfg.Org.Query(ctx, text)
	if err != nil {
		return nil, err
	}
	return d.rows(records), nil
}

func (d *Desk) rows(records []salesforce.Record) []*event.Event {
	events := make([]*event.Event, len(records))
	for i, r := range records {
		e, err := event.FromRecord(r)
		if err != nil {
			d.cfg.Log.Warn("a row can't be read in full", "row", e.RowID, "error", err)
		}
		events[i] = e
	}
	return events
}
