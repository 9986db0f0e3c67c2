package retain

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sfbridge/bridge/event"
	"sfbridge/internal/lease"
	"sfbridge/salesforce/soql"
)

// pageRows is how many rows are looked at together, askRows how many are asked
// about in one query, batchRows how many go in one transaction.
const (
	pageRows  = 2000
	askRows   = 1000
	batchRows = 200
)

// leaseTTL is after how long another keeper goes on where one died.
const (
	leaseName = "retain"
	leaseTTL  = time.Minute
)

// Report counts what a sweep did.
type Report struct {
	Deleted  int  `json:"deleted"`  // rows
	Cleared  int  `json:"cleared"`  // payloads
	Archived int  `json:"archived"` // lines
	Held     int  `json:"held"`     // old enough, but not to be touched yet
	Moved    int  `json:"moved"`    // changed by somebody else meanwhile
	Yielded  bool `json:"yielded"`  // stopped because the API budget is short
}

// Run sweeps from time to time until ctx ends.
func (k *Keeper) Run(ctx context.Context) error {
	for {
		report, made, err := k.turn(ctx)
		if ctx.Err() != nil {
			return nil
		}
		rest := k.cfg.Every
		if err != nil || report.Yielded || !made {
			rest = k.cfg.Again
		}
		k.tell(report, err)
		if k.cfg.Sleep(ctx, rest) != nil {
			return nil
		}
	}
}

// turn sweeps unless the keeper of another process is at it.
func (k *Keeper) turn(ctx context.Context) (report Report, made bool, err error) {
	if k.cfg.Leases == nil {
		report, err = k.Sweep(ctx)
		return report, true, err
	}
	claim := lease.Claim{Leases: k.cfg.Leases, Owner: k.cfg.Owner, Name: leaseName, TTL: leaseTTL}
	var failed error
	made, err = lease.Hold(ctx, claim, func(ctx context.Context) { report, failed = k.Sweep(ctx) })
	if !made && err == nil {
		k.cfg.Log.Info("retention: another process is at it")
	}
	return report, made, errors.Join(failed, err)
}

func (k *Keeper) tell(r Report, err error) {
	switch {
	case err != nil:
		k.cfg.Log.Warn("retention stopped on the way; it begins again later", "error", err, "deleted", r.Deleted, "cleared", r.Cleared)
	case r != Report{}:
		k.cfg.Log.Info("retention", "deleted", r.Deleted, "cleared", r.Cleared, "archived", r.Archived,
			"held", r.Held, "moved", r.Moved, "yielded", r.Yielded)
	}
}

// Sweep deletes rows and then clears payloads, as long as there are any and the
// API budget has room. It may be broken off anywhere: the next one goes on.
func (k *Keeper) Sweep(ctx context.Context) (Report, error) {
	s := &sweep{Keeper: k}
	if err := s.pages(ctx, k.deletable(), s.purge); err != nil {
		return s.report, fmt.Errorf("deleting old rows: %w", err)
	}
	if err := s.pages(ctx, k.clearable(), s.clear); err != nil {
		return s.report, fmt.Errorf("clearing old payloads: %w", err)
	}
	return s.report, nil
}

// sweep is one sweep under way.
type sweep struct {
	*Keeper
	report Report
}

// old says that rows are finished, and were received and finished before a time.
func old(than time.Time) []soql.Cond {
	return []soql.Cond{
		soql.Eq(event.FieldStatus, string(event.Completed)),
		soql.Or(soql.Less(event.FieldReceivedAt, than), soql.And(soql.Null(event.FieldReceivedAt), soql.Less("CreatedDate", than))),
		soql.Or(soql.Null(event.FieldProcessedAt), soql.Less(event.FieldProcessedAt, than)),
	}
}

func (k *Keeper) deletable() []soql.Cond { return old(k.cfg.Now().Add(-k.cfg.RowAfter)) }

func (k *Keeper) clearable() []soql.Cond {
	return append(old(k.cfg.Now().Add(-k.cfg.PayloadAfter)), soql.NotNull(event.FieldEncoding))
}

// pages hands the rows for which the conditions hold to work, in order of their
// ids, so that rows which are left alone are met once.
func (s *sweep) pages(ctx context.Context, conds []soql.Cond, work func(context.Context, []*row) error) error {
	after := soql.Cond{}
	for !s.yields() {
		page, err := s.read(ctx, append(conds, after))
		if err != nil || len(page) == 0 {
			return err
		}
		if err := work(ctx, page); err != nil {
			return err
		}
		if len(page) < pageRows {
			return nil
		}
		after = soql.Greater("Id", page[len(page)-1].RowID)
	}
	return nil
}

func (s *sweep) yields() bool {
	s.report.Yielded = s.report.Yielded || s.cfg.Yields()
	return s.report.Yielded
}

// row is an event that is old enough.
type row struct {
	*event.Event
	created time.Time
	effects []string // row ids of its effects
	chunks  []string // row ids of its payload's parts
}

// received is when the event came.
func (r *row) received() time.Time {
	if r.ReceivedAt.IsZero() {
		return r.created
	}
	return r.ReceivedAt
}

func (r *row) queue() string {
	if r.HomeQueue == "" {
		return event.HomeQueue(event.ByBridge, r.Entity())
	}
	return r.HomeQueue
}

func (s *sweep) read(ctx context.Context, conds []soql.Cond) ([]*row, error) {
	fields := append(event.KeyFields(), event.FieldOutcome, "CreatedDate")
	text, err := soql.Select(fields...).From(event.Object).Where(conds...).OrderBy("Id").Limit(pageRows).Build()
	if err != nil {
		return nil, err
	}
	records, err := s.cfg.Org.Query(ctx, text)
	if err != nil {
		return nil, err
	}
	rows := make([]*row, len(records))
	for i, rec := range records {
		e, err := event.FromRecord(rec)
		if err != nil {
			return nil, err
		}
		created, _ := rec.Time("CreatedDate")
		rows[i] = &row{Event: e, created: created}
	}
	return rows, nil
}

func ids(rows []*row) []string {
	list := make([]string, len(rows))
	for i, r := range rows {
		list[i] = r.RowID
	}
	return list
}
