package reconcile

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"sfbridge/bridge/event"
	"sfbridge/salesforce"
	"sfbridge/salesforce/soql"
)

// rowsACall bounds what one look reads and one update writes.
const rowsACall = 200

// who stands in the history of rows that were set right.
const who = "bridge"

// Heal looks at the staging rows and sets right what nobody else would. Every
// change goes by the revision that was read, so a row that somebody moves
// meanwhile is left to them.
func (r *Reconciler) Heal(ctx context.Context) Rows {
	h := &healing{Reconciler: r, rows: Rows{At: r.cfg.Now().UTC(), Found: []Finding{}}}
	for _, step := range []func(context.Context) error{h.unqueued, h.unqueuedEffects, h.kept, h.ended, h.stuck, h.journal} {
		if err := step(ctx); err != nil {
			h.rows.Problem = err.Error()
			break
		}
	}
	r.cfg.Log.Info("looked at the staging rows", "stuck", h.rows.Stuck, "unqueued", h.rows.Unqueued, "kept_in_queue", h.rows.Kept,
		"effects_ended", h.rows.Ended, "journal", h.rows.Journal, "problem", h.rows.Problem)
	r.mu.Lock()
	r.rows = &h.rows
	r.mu.Unlock()
	return h.rows
}

// healing is one look.
type healing struct {
	*Reconciler
	rows Rows
}

func open() soql.Cond {
	return soql.In(event.FieldStatus, []string{string(event.Received), string(event.Retryable)})
}

func queues() []string {
	var names []string
	for n := range event.Queues {
		names = append(names, event.QueueName(event.ByBridge, n), event.QueueName(event.ByOrg, n))
	}
	return names
}

// events reads rows with their histories, oldest first.
func (h *healing) events(ctx context.Context, conds ...soql.Cond) ([]*event.Event, error) {
	text, err := soql.Select(event.ListFields()...).From(event.Object).Where(conds...).OrderBy("Id").Limit(rowsACall).Build()
	if err != nil {
		return nil, err
	}
	records, err := h.org.Query(ctx, text)
	if err != nil {
		return nil, fmt.Errorf("looking at the staging rows: %w", err)
	}
	list := make([]*event.Event, 0, len(records))
	for _, rec := range records {
		e, err := event.FromRecord(rec)
		if err != nil {
			h.cfg.Log.Warn("a row can't be read in full", "row", e.RowID, "error", err)
			continue
		}
		list = append(list, e)
	}
	return list, nil
}

// change is what a row is to become.
type change struct {
	event  *event.Event
	to     event.Status
	fields map[string]any
	why    string
}

// save writes changes, each from the revision that was read, and counts those
// that took.
func (h *healing) save(ctx context.Context, list []change, count *int) error {
	if len(list) == 0 {
		return nil
	}
	rows := make([]salesforce.Row, len(list))
	for i, c := range list {
		e := c.event
		c.fields[event.FieldStatus] = string(c.to)
		c.fields[event.FieldHistory] = event.AppendHistory(e.History, event.Line{At: h.cfg.Now(), From: e.Status, To: c.to, Who: who, Why: c.why})
		c.fields[event.FieldExpectedRevision] = e.Revision
		c.fields[event.FieldRevision] = event.NextRevision(e.Revision, h.cfg.IntN)
		rows[i] = salesforce.Row{Object: event.Object, ID: e.RowID, Fields: c.fields}
	}
	results, err := h.org.UpdateAll(ctx, rows, false)
	if err != nil {
		return fmt.Errorf("setting rows right: %w", err)
	}
	for i, res := range results {
		h.rows.add(Finding{EventID: list[i].event.ID, RowID: list[i].event.RowID, What: list[i].why, Healed: res.Success})
		if res.Success {
			*count++
		}
	}
	return nil
}

// unqueued gives open rows back to their queue, without which nobody finds them.
func (h *healing) unqueued(ctx context.Context) error {
	list, err := h.events(ctx, open(), soql.Null(event.FieldQueue))
	if err != nil {
		return err
	}
	var changes []change
	for _, e := range list {
		home := e.HomeQueue
		if home == "" {
			home = event.HomeQueue(event.ByBridge, e.Entity())
		}
		changes = append(changes, change{e, e.Status, map[string]any{event.FieldQueue: home, event.FieldHomeQueue: home}, "it stood in no queue"})
	}
	return h.save(ctx, changes, &h.rows.Unqueued)
}

// unqueuedEffects does the same for the outbox.
func (h *healing) unqueuedEffects(ctx context.Context) error {
	const home = "Event__r." + event.FieldHomeQueue
	text, err := soql.Select("Id", event.EffectFieldKey, home).From(event.EffectObject).Where(
		soql.In(event.EffectFieldStatus, []string{string(event.EffectReady), string(event.EffectRetryable)}),
		soql.Null(event.EffectFieldQueue), soql.NotNull(home)).OrderBy("Id").Limit(rowsACall).Build()
	if err != nil {
		return err
	}
	records, err := h.org.Query(ctx, text)
	if err != nil || len(records) == 0 {
		return wrapped("looking at the outbox", err)
	}
	rows := make([]salesforce.Row, len(records))
	for i, rec := range records {
		queue := rec.Sub("Event__r").String(event.FieldHomeQueue)
		rows[i] = salesforce.Row{Object: event.EffectObject, ID: rec.ID(), Fields: map[string]any{event.EffectFieldQueue: queue}}
	}
	results, err := h.org.UpdateAll(ctx, rows, false)
	if err != nil {
		return wrapped("setting the outbox right", err)
	}
	for i, res := range results {
		h.rows.add(Finding{RowID: records[i].ID(), What: "the effect " + records[i].String(event.EffectFieldKey) + " stood in no queue", Healed: res.Success})
		if res.Success {
			h.rows.Unqueued++
		}
	}
	return nil
}

// kept takes rows that are done out of their queue, where every look for due
// rows would meet them.
func (h *healing) kept(ctx context.Context) error {
	list, err := h.events(ctx, soql.In(event.FieldQueue, queues()), soql.Not(open()))
	if err != nil {
		return err
	}
	var changes []change
	for _, e := range list {
		changes = append(changes, change{e, e.Status, map[string]any{event.FieldQueue: nil}, "it was done and still stood in a queue"})
	}
	return h.save(ctx, changes, &h.rows.Kept)
}

// ended moves events on whose effects have all ended without their event being
// told.
func (h *healing) ended(ctx context.Context) error {
	list, err := h.events(ctx, soql.Eq(event.FieldStatus, string(event.Applied)), soql.Less("LastModifiedDate", h.cfg.Now().Add(-h.cfg.Young)))
	if err != nil || len(list) == 0 {
		return err
	}
	states, err := h.effectsOf(ctx, list)
	if err != nil {
		return err
	}
	var changes []change
	for _, e := range list {
		switch s := states[e.RowID]; {
		case s.open:
		case s.failed != "":
			why := "an effect failed for good"
			changes = append(changes, change{e, event.Review, map[string]any{
				event.FieldErrorCode: event.CodeEffect, event.FieldError: "the effect " + s.failed + " failed for good",
			}, why})
		default:
			changes = append(changes, change{e, event.Completed, map[string]any{
				event.FieldProcessedAt: event.FormatTime(h.cfg.Now()), event.FieldErrorCode: nil, event.FieldError: nil,
			}, "its effects were all done"})
		}
	}
	return h.save(ctx, changes, &h.rows.Ended)
}

// outbox is how the effects of an event stand.
type outbox struct {
	open   bool
	failed string // name of one that failed for good
}

func (h *healing) effectsOf(ctx context.Context, list []*event.Event) (map[string]outbox, error) {
	ids := make([]string, len(list))
	for i, e := range list {
		ids[i] = e.RowID
	}
	text, err := soql.Select("Id", event.EffectFieldEvent, event.EffectFieldStatus, event.EffectFieldName).From(event.EffectObject).
		Where(soql.In(event.EffectFieldEvent, ids), soql.NotEq(event.EffectFieldStatus, string(event.EffectDone))).Build()
	if err != nil {
		return nil, err
	}
	records, err := h.org.Query(ctx, text)
	if err != nil {
		return nil, wrapped("looking at the outbox", err)
	}
	states := map[string]outbox{}
	for _, rec := range records {
		s := states[rec.String(event.EffectFieldEvent)]
		if event.EffectStatus(rec.String(event.EffectFieldStatus)) == event.EffectReview {
			s.failed = rec.String(event.EffectFieldName)
		} else {
			s.open = true
		}
		states[rec.String(event.EffectFieldEvent)] = s
	}
	return states, nil
}

// stuck finds rows that are due for long. Their processor is not running, or
// can't keep up: that is for a person to see.
func (h *healing) stuck(ctx context.Context) error {
	before := h.cfg.Now().Add(-h.cfg.Stuck)
	list, err := h.events(ctx, soql.In(event.FieldQueue, queues()), open(), soql.Less(event.FieldReceivedAt, before),
		soql.Or(soql.Null(event.FieldNextAttempt), soql.Less(event.FieldNextAttempt, before)))
	if err != nil {
		return err
	}
	for _, e := range list {
		h.rows.Stuck++
		h.cfg.Metrics.Drift(e.Source, "stuck", 1)
		h.rows.add(Finding{EventID: e.ID, RowID: e.RowID, What: "due since " + dueSince(e).UTC().Format(time.RFC3339)})
	}
	return nil
}

func dueSince(e *event.Event) time.Time {
	if e.NextAttempt.IsZero() {
		return e.ReceivedAt
	}
	return e.NextAttempt
}

// journal drops the entries of rows that nobody works on any more.
func (h *healing) journal(ctx context.Context) error {
	if h.cfg.Journal == nil {
		return nil
	}
	suspects := slices.Sorted(maps.Keys(h.cfg.Journal.Suspects()))
	for ids := range slices.Chunk(suspects, rowsACall) {
		text, err := soql.Select("Id").From(event.Object).Where(soql.In("Id", ids), open()).Build()
		if err != nil {
			return err
		}
		records, err := h.org.Query(ctx, text)
		if err != nil {
			return wrapped("looking at rows of the journal", err)
		}
		left := slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
			return slices.ContainsFunc(records, func(rec salesforce.Record) bool { return rec.ID() == id })
		})
		if err := h.cfg.Journal.Done(left); err != nil {
			return err
		}
		for _, id := range left {
			h.rows.Journal++
			h.rows.add(Finding{RowID: id, What: "it stood in the journal and is done", Healed: true})
		}
	}
	return nil
}

func wrapped(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, err)
}
