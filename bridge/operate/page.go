package operate

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"sfbridge/bridge/event"
	"sfbridge/salesforce/soql"
)

// Page sizes of Page.
const (
	defaultPage = 100
	largestPage = 1000
)

// Cursor is a place in a list of events: behind the one that it was made of.
// The zero Cursor is the beginning.
type Cursor struct {
	receivedAt time.Time // zero: the rows without a receive time, which come last
	row        string
}

// String writes a cursor for somebody to bring back; "" for the beginning.
func (c Cursor) String() string {
	if c.row == "" {
		return ""
	}
	at := ""
	if !c.receivedAt.IsZero() {
		at = c.receivedAt.UTC().Format(time.RFC3339Nano)
	}
	return base64.RawURLEncoding.EncodeToString([]byte(at + "/" + c.row))
}

// ParseCursor reads what String wrote.
func ParseCursor(s string) (Cursor, error) {
	if s == "" {
		return Cursor{}, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(s)
	at, row, found := strings.Cut(string(raw), "/")
	if err != nil || !found || !rowID(row) {
		return Cursor{}, usage("this cursor was not made here: begin again without one")
	}
	c := Cursor{row: row}
	if at == "" {
		return c, nil
	}
	if c.receivedAt, err = time.Parse(time.RFC3339Nano, at); err != nil {
		return Cursor{}, usage("this cursor was not made here: begin again without one")
	}
	return c, nil
}

// behind holds for what comes after the cursor, newest first.
func (c Cursor) behind() soql.Cond {
	switch {
	case c.row == "":
		return soql.Cond{}
	case c.receivedAt.IsZero():
		return soql.And(soql.Null(event.FieldReceivedAt), soql.Less("Id", c.row))
	}
	return soql.Or(
		soql.Less(event.FieldReceivedAt, c.receivedAt),
		soql.And(soql.Eq(event.FieldReceivedAt, c.receivedAt), soql.Less("Id", c.row)),
		soql.Null(event.FieldReceivedAt),
	)
}

// Page returns one page of what the filter chooses, newest first, without
// payload and context, and the cursor of the next; a zero Cursor when this was
// the last. The filter's limit is the page's size.
func (d *Desk) Page(ctx context.Context, f Filter, from Cursor) ([]*event.Event, Cursor, error) {
	if err := f.check(); err != nil {
		return nil, Cursor{}, err
	}
	size := f.Limit
	switch {
	case size == 0:
		size = defaultPage
	case size > largestPage:
		return nil, Cursor{}, usage("a page holds at most %d events", largestPage)
	}
	conds := append(f.conds(), from.behind())
	if len(f.IDs) > rowsACall {
		return nil, Cursor{}, usage("at most %d ids at once", rowsACall)
	}
	if len(f.IDs) > 0 {
		conds = append(conds, soql.In(event.FieldID, f.IDs))
	}
	events, err := d.read(ctx, soql.Select(event.ListFields()...).From(event.Object).Where(conds...).
		OrderBy(event.FieldReceivedAt+" DESC NULLS LAST", "Id DESC").Limit(size+1))
	if err != nil {
		return nil, Cursor{}, fmt.Errorf("listing events: %w", err)
	}
	if len(events) <= size {
		return events, Cursor{}, nil
	}
	last := events[size-1]
	return events[:size], Cursor{receivedAt: last.ReceivedAt, row: last.RowID}, nil
}
