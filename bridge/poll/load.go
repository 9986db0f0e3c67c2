package poll

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"sfbridge/bridge/event"
	"sfbridge/salesforce"
	"sfbridge/salesforce/soql"
)

// rows reads staging rows.
type rows struct {
	org      Org
	timeout  time.Duration // of one query
	maxBytes int           // payload bytes of one batch
	now      func() time.Time
}

// loaded is a batch as it was read for applying.
type loaded struct {
	events []*event.Event // with payload, in the order of the batch
	rest   []*event.Event // not read: too many bytes, or behind one that was not
	moved  []*event.Event // moved on by another writer since the due query, as they stand now
	broken []broken       // can't be read
}

// broken is a row that can't be read; it needs a person.
type broken struct {
	event *event.Event
	err   error
}

// errFull ends a stream that has brought enough bytes.
var errFull = errors.New("enough bytes read")

// load reads the rows with payload as a stream, until it has maxBytes; the
// first row is read whatever its size.
func (r *rows) load(ctx context.Context, batch []*event.Event) (loaded, error) {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	fresh := make(map[string]*event.Event, len(batch))
	failed := map[string]error{}
	bytes := 0
	text, err := selectByID(event.AllFields(), batch)
	if err != nil {
		return loaded{}, err
	}
	err = r.org.QueryEach(ctx, text, func(record salesforce.Record) error {
		e, err := event.FromRecord(record)
		size := len(e.Payload) + len(e.Context) + len(e.History)
		if e.Encoding == event.Chunked {
			size = event.MaxPayload
		}
		if len(fresh) > 0 && bytes+size > r.maxBytes {
			return errFull
		}
		bytes += size
		fresh[e.RowID] = e
		if err != nil {
			failed[e.RowID] = err
		}
		return nil
	})
	full := errors.Is(err, errFull)
	if err != nil && !full {
		return loaded{}, fmt.Errorf("reading payloads: %w", err)
	}
	if err := r.joinChunks(ctx, fresh, failed); err != nil {
		return loaded{}, fmt.Errorf("reading chunks: %w", err)
	}
	return sortOut(batch, reading{fresh: fresh, failed: failed, cut: full, now: r.now()}), nil
}

// reading is what a payload query brought, by row id.
type reading struct {
	fresh  map[string]*event.Event
	failed map[string]error
	cut    bool // the stream was ended before its end
	now    time.Time
}

// sortOut brings what was read into the order of the batch. When the stream
// was cut, an event whose earlier one was not read is not taken either.
func sortOut(batch []*event.Event, r reading) loaded {
	var l loaded
	unread := map[string]bool{} // entities
	for _, known := range batch {
		e, read := r.fresh[known.RowID]
		switch {
		case !read && r.cut, unread[known.Entity()]:
			unread[known.Entity()] = true
			l.rest = append(l.rest, known)
		case !read:
			l.moved = append(l.moved, deleted(known))
		case !e.Open(), e.Queue != known.Queue, e.NextAttempt.After(r.now):
			l.moved = append(l.moved, light(e))
		case r.failed[e.RowID] != nil:
			l.broken = append(l.broken, broken{event: e, err: r.failed[e.RowID]})
		default:
			l.events = append(l.events, e)
		}
	}
	return l
}

// deleted is a row that is not there any more: nothing waits for it.
func deleted(known *event.Event) *event.Event {
	e := *known
	e.Status = event.Completed
	return &e
}

// joinChunks completes the payloads that lie in chunk rows. A row whose chunks
// are incomplete is noted in failed.
func (r *rows) joinChunks(ctx context.Context, fresh map[string]*event.Event, failed map[string]error) error {
	var ids []string
	for id, e := range fresh {
		if e.Encoding == event.Chunked && e.Open() {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	slices.Sort(ids)
	parts, err := r.chunks(ctx, ids, failed)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if failed[id] != nil {
			continue
		}
		if len(parts[id]) == 0 {
			failed[id] = errors.New("the chunks of the payload are missing")
			continue
		}
		if fresh[id].Payload, err = event.DecodePayload(event.Chunked, "", parts[id]); err != nil {
			failed[id] = err
		}
	}
	return nil
}

// chunks reads the data of chunk rows by event, in order. A row of which one is
// missing or out of place is noted in failed.
func (r *rows) chunks(ctx context.Context, ids []string, failed map[string]error) (map[string][]string, error) {
	text, err := soql.Select(event.ChunkFieldEvent, event.ChunkFieldIndex, event.ChunkFieldData).From(event.ChunkObject).
		Where(soql.In(event.ChunkFieldEvent, ids)).OrderBy(event.ChunkFieldEvent, event.ChunkFieldIndex).Build()
	if err != nil {
		return nil, err
	}
	parts := map[string][]string{}
	err = r.org.QueryEach(ctx, text, func(record salesforce.Record) error {
		id := record.String(event.ChunkFieldEvent)
		index, _ := record.Int(event.ChunkFieldIndex)
		if failed[id] == nil && (int(index) != len(parts[id]) || index >= event.MaxChunks) {
			failed[id] = fmt.Errorf("chunk %d stands where chunk %d is expected", index, len(parts[id]))
		}
		if failed[id] != nil {
			return nil // nothing more is kept of it
		}
		parts[id] = append(parts[id], record.String(event.ChunkFieldData))
		return nil
	})
	return parts, err
}

// outline reads rows with everything but payload and context.
func (r *rows) outline(ctx context.Context, batch []*event.Event) ([]*event.Event, error) {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	text, err := selectByID(event.ListFields(), batch)
	if err != nil {
		return nil, err
	}
	records, err := r.org.Query(ctx, text)
	if err != nil {
		return nil, fmt.Errorf("reading rows to set aside: %w", err)
	}
	return readable(records), nil
}

// open says which of the rows are still to be worked on.
func (r *rows) open(ctx context.Context, ids []string) (map[string]bool, error) {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	open := make(map[string]bool, len(ids))
	for chunk := range slices.Chunk(ids, maxBatch) {
		text, err := soql.Select("Id").From(event.Object).Where(soql.In("Id", chunk), soql.NotNull(event.FieldQueue)).Build()
		if err != nil {
			return nil, fmt.Errorf("asking which rows are open: %w", err)
		}
		records, err := r.org.Query(ctx, text)
		if err != nil {
			return nil, fmt.Errorf("reading which rows are open: %w", err)
		}
		for _, record := range records {
			open[record.ID()] = true
		}
	}
	return open, nil
}

func selectByID(fields []string, batch []*event.Event) (string, error) {
	text, err := soql.Select(fields...).From(event.Object).Where(soql.In("Id", rowIDs(batch))).
		OrderBy(event.FieldSourceTime+" NULLS FIRST", "Id").Build()
	if err != nil {
		return "", fmt.Errorf("asking for rows by id: %w", err)
	}
	return text, nil
}
