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
	list := []ApartEntry{}
	err := e.EachApart(ctx, limit, func(a Apart) error {
		list = append(list, show(a))
		return nil
	})
	return list, err
}

func show(a Apart) ApartEntry {
	shown := ApartEntry{ID: a.Queue + "/" + a.ID, Bytes: len(a.Data), Reason: a.Reason}
	r, err := Decode(a.Data)
	if err != nil {
		return shown // what can't be read has nothing more to show
	}
	shown.EventID, shown.Source, shown.Type = r.Event.ID, r.Event.Source, r.Event.Type
	if at := r.Event.ReceivedAt; !at.IsZero() {
		shown.ReceivedAt = &at
	}
	return shown
}

// retryPart bounds what RetryAll puts back at once, beside its bytes.
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
	var parts [][]Apart
	bytes := 0
	err = e.EachApart(ctx, s.Apart, func(a Apart) error {
		if last := len(parts) - 1; last < 0 || len(parts[last]) == retryPart || bytes+len(a.Data) > takeBytes {
			parts, bytes = append(parts, nil), 0
		}
		last := len(parts) - 1
		bytes += len(a.Data)
		a.Data = nil
		parts[last] = append(parts[last], a)
		return nil
	})
	if err != nil {
		return 0, err
	}
	moved := 0
	for _, part := range parts {
		n, err := e.Again(ctx, part)
		moved += n
		if err != nil {
			return moved, err
		}
	}
	return moved, nil
}
