package operate

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/time/rate"

	"sfbridge/bridge/event"
	"sfbridge/salesforce"
	"sfbridge/salesforce/soql"
)

// Replay is a request to work on events again.
type Replay struct {
	Filter Filter
	Force  bool   // Completed events too
	DryRun bool   // count only
	Who    string // for the history
	Reason string // for the history; may be empty
	// Progress is told after every call how the replay stands; may be nil.
	Progress func(ReplayReport)
}

// ReplayReport counts what a replay found and did.
type ReplayReport struct {
	Matched  int            `json:"matched"`   // chosen by the filter and free to be replayed
	ByStatus map[string]int `json:"by_status"` // of these
	ByCode   map[string]int `json:"by_code"`   // of these, by Error_Code__c
	Skipped  map[string]int `json:"skipped"`   // chosen by the filter but not to be replayed, by reason
	Replayed int            `json:"replayed"`
	Moved    int            `json:"moved"`  // moved on by somebody else meanwhile
	Failed   int            `json:"failed"` // refused by the org
	Refusals []Refusal      `json:"refusals,omitempty"`
}

// Refusal is an event whose replay the org refused.
type Refusal struct {
	EventID string `json:"event_id"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

// maxRefusals bounds the refusals that a report names; all are counted.
const maxRefusals = 20

// Replay makes the chosen events due again: restores their queue, resets their
// attempts and counts the replay. Each row moves only from the revision that
// was read. Conflict rows are left alone: to replay one is to accept it, which
// is a decision of its own.
func (d *Desk) Replay(ctx context.Context, r Replay) (ReplayReport, error) {
	work := &replaying{desk: d, Replay: r, report: newReport(), pace: d.pace()}
	if err := r.check(); err != nil {
		return work.report, err
	}
	for _, ids := range r.Filter.idLists() {
		if err := work.list(ctx, ids); err != nil {
			return work.report, err
		}
	}
	return work.report, nil
}

func (r Replay) check() error {
	if !r.Filter.Selective() {
		return usage("say which events to replay: an id, a status or another filter")
	}
	if slices.Contains(r.Filter.Status, event.Completed) && !r.Force {
		return usage("completed events are replayed only with force")
	}
	return r.Filter.check()
}

// replaying is a replay under way.
type replaying struct {
	Replay
	desk   *Desk
	report ReplayReport
	pace   *rate.Limiter
}

func newReport() ReplayReport {
	return ReplayReport{ByStatus: map[string]int{}, ByCode: map[string]int{}, Skipped: map[string]int{}}
}

func (d *Desk) pace() *rate.Limiter {
	if d.cfg.Rate == 0 {
		return rate.NewLimiter(rate.Inf, rowsACall)
	}
	return rate.NewLimiter(rate.Limit(d.cfg.Rate), rowsACall)
}

// list replays the events of one list of ids (or all that the filter chooses),
// page by page in order of their row ids, so that no row is met twice.
func (r *replaying) list(ctx context.Context, ids soql.Cond) error {
	size, fields := rowsACall, event.ListFields()
	if r.DryRun {
		size, fields = pageRows, event.KeyFields()
	}
	for after := (soql.Cond{}); !r.full(); {
		page, err := r.desk.read(ctx, soql.Select(fields...).From(event.Object).
			Where(append(r.Filter.conds(), ids, after)...).OrderBy("Id").Limit(size))
		if err != nil {
			return fmt.Errorf("reading events to replay: %w", err)
		}
		if err := r.rows(ctx, r.choose(page)); err != nil {
			return err
		}
		if len(page) < size {
			return nil
		}
		after = soql.Greater("Id", page[len(page)-1].RowID)
	}
	return nil
}

// full says whether as many events were found as were asked for.
func (r *replaying) full() bool { return r.Filter.Limit > 0 && r.report.Matched >= r.Filter.Limit }

// choose counts what may be replayed of a page and returns it.
func (r *replaying) choose(page []*event.Event) []*event.Event {
	var chosen []*event.Event
	for _, e := range page {
		if r.full() {
			break
		}
		if reason := r.skip(e); reason != "" {
			r.report.Skipped[reason]++
			continue
		}
		r.report.Matched++
		r.report.ByStatus[string(e.Status)]++
		r.report.ByCode[e.ErrorCode]++
		chosen = append(chosen, e)
	}
	return chosen
}

// skip says why an event is not to be replayed; "" when it is.
func (r *replaying) skip(e *event.Event) string {
	switch {
	case event.CheckMove(e.Status, event.Received) != nil:
		return "status " + string(e.Status)
	case e.Status == event.Completed && !r.Force:
		return "completed, replayed only with force"
	case event.IsConflict(e.ID):
		return "conflict, to be accepted or discarded"
	}
	return ""
}

// rows replays one call's worth of events.
func (r *replaying) rows(ctx context.Context, events []*event.Event) error {
	if len(events) == 0 || r.DryRun {
		r.tell()
		return nil
	}
	if err := r.pace.WaitN(ctx, len(events)); err != nil {
		return fmt.Errorf("waiting for the rate limit: %w", err)
	}
	updates := make([]salesforce.Row, len(events))
	for i, e := range events {
		updates[i] = r.update(e)
	}
	results, err := r.desk.cfg.Org.UpdateAll(ctx, updates, false)
	if err != nil {
		return fmt.Errorf("replaying %d events (start the replay again to go on): %w", len(events), err)
	}
	before := r.report.Replayed
	for i, result := range results {
		r.note(events[i], result)
	}
	r.desk.cfg.Wake(r.report.Replayed - before)
	r.tell()
	return nil
}

// update is the write that makes a row due again. What it was decided on
// before (mapping version, target, business key) stays: a replay that finds its
// own event id on the target under the same mapping has nothing to do.
func (r *replaying) update(e *event.Event) salesforce.Row {
	home := e.HomeQueue
	if home == "" {
		home = event.HomeQueue(event.ByBridge, e.Entity())
	}
	why := "replay"
	if r.Reason != "" {
		why += ": " + r.Reason
	}
	line := event.Line{At: r.desk.cfg.Now(), From: e.Status, To: event.Received, Who: r.who(), Why: why}
	return salesforce.Row{Object: event.Object, ID: e.RowID, Fields: map[string]any{
		event.FieldStatus:           string(event.Received),
		event.FieldHomeQueue:        home,
		event.FieldQueue:            home,
		event.FieldAttempts:         0,
		event.FieldNextAttempt:      nil,
		event.FieldOutcome:          nil,
		event.FieldProcessedAt:      nil,
		event.FieldErrorCode:        nil,
		event.FieldError:            nil,
		event.FieldReplayCount:      e.ReplayCount + 1,
		event.FieldHistory:          event.AppendHistory(e.History, line),
		event.FieldExpectedRevision: e.Revision,
		event.FieldRevision:         event.NextRevision(e.Revision, r.desk.cfg.IntN),
	}}
}

func (r *replaying) who() string {
	if r.Who == "" {
		return "operator"
	}
	return r.Who
}

// note counts what became of one row.
func (r *replaying) note(e *event.Event, result salesforce.SaveResult) {
	fault := result.Fault()
	switch {
	case result.Success:
		r.report.Replayed++
		r.desk.cfg.Log.Info("event replayed", "event", e.ID, "from", e.Status, "by", r.who())
	case fault.Token() == salesforce.TokenRevision || fault.Code == "ENTITY_IS_DELETED":
		r.report.Moved++
	default:
		r.report.Failed++
		if len(r.report.Refusals) < maxRefusals {
			r.report.Refusals = append(r.report.Refusals, Refusal{EventID: e.ID, Code: fault.Code, Message: fault.Message})
		}
	}
}

func (r *replaying) tell() {
	if r.Progress != nil {
		r.Progress(r.report)
	}
}
