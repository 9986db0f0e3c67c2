package operate

import (
	"context"
	"fmt"

	"golang.org/x/time/rate"

	"sfbridge/bridge/event"
	"sfbridge/salesforce"
	"sfbridge/salesforce/soql"
)

// Report counts what an action on chosen events found and did.
type Report struct {
	Action   string         `json:"action"`    // replay, discard or accept
	Matched  int            `json:"matched"`   // chosen by the filter and free for the action
	ByStatus map[string]int `json:"by_status"` // of these
	ByCode   map[string]int `json:"by_code"`   // of these, by Error_Code__c
	Skipped  map[string]int `json:"skipped"`   // chosen by the filter but left alone, by reason
	Done     int            `json:"done"`      // rows that the action has moved
	Moved    int            `json:"moved"`     // moved on by somebody else meanwhile
	Failed   int            `json:"failed"`    // refused by the org
	Refusals []Refusal      `json:"refusals,omitempty"`
	Missing  []string       `json:"missing,omitempty"` // the first ids of the filter under which nothing was chosen
}

// Refusal is an event that the org refused to move.
type Refusal struct {
	EventID string `json:"event_id"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

// NoSuchEvent is the reason under which ids that aren't there are skipped.
const NoSuchEvent = "no such event among those chosen"

// maxNamed bounds the events that a report names; all are counted.
const maxNamed = 20

// bulk is an action on all events that a filter chooses, page by page. A row
// that it has moved is no longer chosen, so one that was broken off is resumed
// by starting it again.
type bulk struct {
	Order
	desk *Desk

	// skip says why an event is to be left alone; "" when it isn't.
	skip func(*event.Event) string
	// move carries the action out on one call's worth of events; results stand
	// at the place of their event.
	move func(ctx context.Context, events []*event.Event) ([]salesforce.SaveResult, error)

	report Report
	met    map[string]bool // ids of the filter under which an event was chosen
	pace   *rate.Limiter
}

func (b *bulk) run(ctx context.Context, action string) (Report, error) {
	b.report = Report{Action: action, ByStatus: map[string]int{}, ByCode: map[string]int{}, Skipped: map[string]int{}}
	b.pace, b.met = b.desk.pace(), map[string]bool{}
	if b.Who == "" {
		b.Who = "operator"
	}
	if !b.Filter.Selective() {
		return b.report, usage("say which events to %s: an id, a status or another filter", action)
	}
	if err := b.Filter.check(); err != nil {
		return b.report, err
	}
	for _, ids := range b.Filter.idLists() {
		if b.full() {
			break
		}
		if err := b.list(ctx, ids); err != nil {
			return b.report, err
		}
	}
	if !b.full() {
		b.missing()
	}
	return b.report, nil
}

func (b *bulk) meet(page []*event.Event) {
	if len(b.Filter.IDs) == 0 {
		return
	}
	for _, e := range page {
		b.met[e.ID] = true
	}
}

// missing counts and names the ids that nothing was found under.
func (b *bulk) missing() {
	for _, id := range b.Filter.IDs {
		if b.met[id] {
			continue
		}
		b.met[id] = true // given twice, it is missing once
		b.report.Skipped[NoSuchEvent]++
		if len(b.report.Missing) < maxNamed {
			b.report.Missing = append(b.report.Missing, id)
		}
	}
}

func (d *Desk) pace() *rate.Limiter {
	if d.cfg.Rate == 0 {
		return rate.NewLimiter(rate.Inf, rowsACall)
	}
	return rate.NewLimiter(rate.Limit(d.cfg.Rate), rowsACall)
}

// list works on the events of one list of ids, or all that the filter chooses.
func (b *bulk) list(ctx context.Context, ids soql.Cond) error {
	s := scan{fields: event.ListFields(), size: rowsACall, conds: append(b.Filter.conds(), ids)}
	if b.DryRun {
		s.fields, s.size = append(event.KeyFields(), event.FieldOutcome), pageRows
	}
	return b.desk.scan(ctx, s, func(page []*event.Event) (bool, error) {
		b.meet(page)
		err := b.rows(ctx, b.choose(page))
		return !b.full(), err
	})
}

// full says whether as many events were found as were asked for.
func (b *bulk) full() bool { return b.Filter.Limit > 0 && b.report.Matched >= b.Filter.Limit }

// choose counts what the action may move of a page and returns it.
func (b *bulk) choose(page []*event.Event) []*event.Event {
	var chosen []*event.Event
	for _, e := range page {
		if b.full() {
			break
		}
		if reason := b.skip(e); reason != "" {
			b.report.Skipped[reason]++
			continue
		}
		b.report.Matched++
		b.report.ByStatus[string(e.Status)]++
		b.report.ByCode[e.ErrorCode]++
		chosen = append(chosen, e)
	}
	return chosen
}

// rows carries the action out on one call's worth of events.
func (b *bulk) rows(ctx context.Context, events []*event.Event) error {
	if len(events) == 0 || b.DryRun {
		b.tell()
		return nil
	}
	if err := b.pace.WaitN(ctx, len(events)); err != nil {
		return fmt.Errorf("waiting for the rate limit: %w", err)
	}
	results, err := b.move(ctx, events)
	for i, result := range results {
		b.note(events[i], result)
	}
	if err != nil {
		return fmt.Errorf("%d events to %s (start it again to go on): %w", len(events), b.report.Action, err)
	}
	b.tell()
	return nil
}

// note counts what became of one row.
func (b *bulk) note(e *event.Event, result salesforce.SaveResult) {
	fault := result.Fault()
	switch {
	case result.Success:
		b.report.Done++
		b.desk.cfg.Log.Info("event moved by a person", "action", b.report.Action, "event", e.ID, "from", e.Status, "by", b.Who)
	case fault.Token() == salesforce.TokenRevision || fault.Code == "ENTITY_IS_DELETED":
		b.report.Moved++
	default:
		b.report.Failed++
		if len(b.report.Refusals) < maxNamed {
			b.report.Refusals = append(b.report.Refusals, Refusal{EventID: e.ID, Code: fault.Code, Message: fault.Message})
		}
	}
}

func (b *bulk) tell() {
	if b.Progress != nil {
		b.Progress(b.report)
	}
}

// update adds to a change of status what every one of them carries: the line
// for auditors and the revision that lets exactly one writer move a row on.
func (b *bulk) update(e *event.Event, to event.Status, change map[string]any) salesforce.Row {
	why := b.report.Action
	if b.Reason != "" {
		why += ": " + b.Reason
	}
	line := event.Line{At: b.desk.cfg.Now(), From: e.Status, To: to, Who: b.Who, Why: why}
	change[event.FieldStatus] = string(to)
	change[event.FieldHistory] = event.AppendHistory(e.History, line)
	change[event.FieldExpectedRevision] = e.Revision
	change[event.FieldRevision] = event.NextRevision(e.Revision, b.desk.cfg.IntN)
	return salesforce.Row{Object: event.Object, ID: e.RowID, Fields: change}
}
