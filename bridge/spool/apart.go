package spool

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// ApartEntry is an entry that was set apart, as people see it.
type ApartEntry struct {
	ID         string     `json:"id"` // for Retry: queue/entry
	EventID    string     `json:"event_id,omitempty"`
	Source     string     `json:"source,omitempty"`
	Type       string     `json:"type,omitempty"`
	ReceivedAt *time.Time `json:"received_at,omitempty"`
	Bytes      int        `json:"bytes"`
	Reason     string     `json:"reason"`
}

// ErrApartID says that a text is no id of ListApart.
var ErrApartID = errors.New("not the id of an entry that was set apart: it looks like B03/18c2f0…")

// ListApart lists at most limit entries that were set apart, without payload.
func ListApart(ctx context.Context, e Engine, limit int) ([]ApartEntry, error) {
	found, err := e.Apart(ctx, limit)
	if err != nil {
		return nil, err
	}
	list := make([]ApartEntry, len(found))
	for i, f := range found {
		list[i] = ApartEntry{ID: f.Queue + "/" + f.ID, Bytes: len(f.Data), Reason: f.Reason}
		r, err := Decode(f.Data)
		if err != nil {
			continue // what can't be read has nothing more to show
		}
		list[i].EventID, list[i].Source, list[i].Type = r.Event.ID, r.Event.Source, r.Event.Type
		if at := r.Event.ReceivedAt; !at.IsZero() {
			list[i].ReceivedAt = &at
		}
	}
	return list, nil
}

// retryPart bounds what RetryAll reads at once.
const retryPart = 100

// Retry puts entries back into their queues and tells how many were still apart.
func Retry(ctx context.Context, e Engine, ids []string) (int, error) {
	entries := make([]Apart, len(ids))
	for i, id := range ids {
		queue, entry, ok := strings.Cut(id, "/")
		if !ok || queue == "" || entry == "" {
			return 0, fmt.Errorf("%q: %w", id, ErrApartID)
		}
		entries[i] = Apart{Queue: queue, Refused: Refused{Waiting: Waiting{ID: entry}}}
	}
	return e.Again(ctx, entries)
}

// RetryAll puts back everything that is apart when it is called. What is refused
// again meanwhile is set apart again and not tried twice.
func RetryAll(ctx context.Context, e Engine) (int, error) {
	s, err := e.State(ctx)
	if err != nil {
		return 0, err
	}
	moved := 0
	for left := s.Apart; left > 0; {
		part, err := e.Apart(ctx, min(left, retryPart))
		if err != nil || len(part) == 0 {
			return moved, err
		}
		n, err := e.Again(ctx, part)
		moved += n
		if err != nil {
			return moved, err
		}
		left -= len(part)
	}
	return moved, nil
}
