package operate

import (
	"context"
	"errors"
	"fmt"

	"sfbridge/bridge/event"
	"sfbridge/salesforce/soql"
)

// scan says which rows are gone through, and what is read of them.
type scan struct {
	fields []string
	conds  []soql.Cond
	size   int // rows of a page
}

// scan goes through rows page by page in order of their row ids, so that none is
// met twice whatever is done to those that were, for as long as on says so.
func (d *Desk) scan(ctx context.Context, s scan, on func(page []*event.Event) (bool, error)) error {
	for after := (soql.Cond{}); ; {
		conds := append(s.conds[:len(s.conds):len(s.conds)], after)
		page, err := d.read(ctx, soql.Select(s.fields...).From(event.Object).Where(conds...).OrderBy("Id").Limit(s.size))
		if err != nil {
			return fmt.Errorf("reading events: %w", err)
		}
		more, err := on(page)
		if err != nil || !more || len(page) < s.size {
			return err
		}
		after = soql.Greater("Id", page[len(page)-1].RowID)
	}
}

// payloadRows bounds the payloads that are held at once.
const payloadRows = 100

// Each hands over the events that the filter chooses with payload and context,
// as long as fn returns no error. A payload that can't be read is left empty.
func (d *Desk) Each(ctx context.Context, f Filter, fn func(*event.Event) error) error {
	if err := f.check(); err != nil {
		return err
	}
	left := f.Limit
	for _, ids := range f.idLists() {
		s := scan{fields: event.AllFields(), conds: append(f.conds(), ids), size: payloadRows}
		err := d.scan(ctx, s, func(page []*event.Event) (bool, error) {
			for _, e := range page {
				if err := d.fill(ctx, e); err != nil {
					return false, err
				}
				if err := fn(e); err != nil {
					return false, err
				}
				if left--; left == 0 {
					return false, nil
				}
			}
			return true, nil
		})
		if err != nil || left == 0 && f.Limit > 0 {
			return err
		}
	}
	return nil
}

// fill reads the payload of a row that holds it in chunks. One that can't be
// read in full is left empty: what else the row tells is wanted all the more.
func (d *Desk) fill(ctx context.Context, e *event.Event) error {
	if e.Encoding != event.Chunked {
		return nil
	}
	payload, err := d.chunks(ctx, e.RowID)
	switch {
	case errors.Is(err, errUnreadable):
		d.cfg.Log.Warn("a payload can't be read", "event", e.ID, "error", err)
		return nil
	case err != nil:
		return fmt.Errorf("reading the payload of %s: %w", e.ID, err)
	}
	e.Payload = payload
	return nil
}
