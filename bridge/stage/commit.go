package stage

import (
	"context"
	"fmt"
	"time"

	"sfbridge/bridge/event"
	"sfbridge/internal/failpoint"
	"sfbridge/internal/pause"
	"sfbridge/salesforce"
)

// Repeats of one batch before its rows are given back to their senders.
const (
	maxSends  = 4
	firstWait = 100 * time.Millisecond
)

// commit brings every entry of the batch to an answer.
func (s *Stager) commit(ctx context.Context, batch []*entry) {
	pending := s.recognize(ctx, batch)
	var last error
	for send := 0; send < maxSends && len(pending) > 0; send++ {
		if send > 0 && pause.For(ctx, firstWait<<(send-1)) != nil {
			break
		}
		pending, last = s.send(ctx, pending)
	}
	for _, e := range pending {
		s.settle(e, Answer{EventID: e.event.ID, Err: unavailable("Salesforce did not take the event", last)}, known{})
	}
	failpoint.Hit(failpoint.StageSettled)
	if open := due(batch); len(open) > 0 {
		s.cfg.Staged(open)
	}
}

// due counts the rows of a settled batch that are new and that a processor has
// to work on, by home queue.
func due(batch []*entry) map[string]int {
	open := map[string]int{}
	for _, e := range batch {
		if e.accepted && e.event.Open() {
			open[e.event.HomeQueue]++
		}
	}
	return open
}

// send makes one call and settles what is decided by it. It returns the entries
// that are worth another send and why they failed.
func (s *Stager) send(ctx context.Context, batch []*entry) ([]*entry, error) {
	started := s.cfg.Now()
	failpoint.Hit(failpoint.StageSending)
	results, err := s.insert(ctx, batch)
	failpoint.Hit(failpoint.StageAnswered)
	s.observe(len(batch), s.cfg.Now().Sub(started))
	if class := salesforce.ClassOf(err); class != salesforce.ClassData {
		s.health.note(s.cfg.Now(), err)
	}
	if err == nil {
		return s.sort(ctx, batch, results)
	}
	switch salesforce.ClassOf(err) {
	case salesforce.ClassUnknownOutcome:
		for _, e := range batch {
			e.resent = true
		}
		return batch, err
	case salesforce.ClassRetryable:
		return batch, err
	case salesforce.ClassData:
		return s.bisect(ctx, batch, err)
	default:
		s.cfg.Log.Error("Salesforce takes no events: they are spooled, or senders get 503", "error", err)
		s.refuse(batch, unavailable("Salesforce takes no events at the moment", err))
		return nil, nil
	}
}

// insert sends the batch: rows as a collection, a row with chunks as one
// transaction with them.
func (s *Stager) insert(ctx context.Context, batch []*entry) ([]salesforce.SaveResult, error) {
	if batch[0].large() {
		return s.insertLarge(ctx, batch[0])
	}
	rows := make([]salesforce.Row, len(batch))
	for i, e := range batch {
		rows[i] = e.row()
	}
	return s.cfg.Salesforce.InsertAll(ctx, rows, false)
}

// insertLarge writes the event first and then its chunks: all exist or none.
func (s *Stager) insertLarge(ctx context.Context, e *entry) ([]salesforce.SaveResult, error) {
	subs := []salesforce.Subrequest{salesforce.InsertRow("event", e.row())}
	for i, data := range e.payload.Chunks {
		subs = append(subs, salesforce.InsertRow(fmt.Sprintf("chunk%d", i), salesforce.Row{
			Object: event.ChunkObject,
			Fields: map[string]any{event.ChunkFieldEvent: "@{event.id}", event.ChunkFieldIndex: i, event.ChunkFieldData: data},
		}))
	}
	responses, err := s.cfg.Salesforce.Composite(ctx, subs, true)
	if err != nil {
		return nil, err
	}
	if salesforce.Committed(responses) {
		return responses[0].Results, nil
	}
	for _, c := range salesforce.Culprits(responses) {
		return []salesforce.SaveResult{{Errors: []salesforce.Fault{c.Fault}}}, nil
	}
	return []salesforce.SaveResult{{}}, nil
}

// sort settles the rows by their results; rows refused as duplicates are judged
// by the rows in their way.
func (s *Stager) sort(ctx context.Context, batch []*entry, results []salesforce.SaveResult) (again []*entry, last error) {
	var twins []*entry
	for i, r := range results {
		e, fault := batch[i], r.Fault()
		switch {
		case r.Success:
			s.settle(e, Answer{EventID: e.event.ID, Status: Accepted}, known{row: r.ID, hash: e.event.Hash, received: e.event.ReceivedAt})
		case fault.Code == "DUPLICATE_VALUE":
			twins = append(twins, e)
		case e.event.ConflictOf != "" && gone(fault):
			e.event = alone(e.event, s.cfg.Now())
			again, last = append(again, e), faultError(fault)
		case fault.Class == salesforce.ClassRetryable, fault.Class == salesforce.ClassCollateral:
			again, last = append(again, e), faultError(fault)
		case fault.Class == salesforce.ClassLimit:
			s.refuse([]*entry{e}, unavailable("Salesforce has no room", faultError(fault)))
		default:
			s.refuse([]*entry{e}, s.alarm(e, fault))
		}
	}
	retry, err := s.judge(ctx, twins)
	if err != nil {
		last = err
	}
	return append(again, retry...), last
}

// bisect isolates the row that makes Salesforce refuse the whole call, so that
// its mates are staged.
func (s *Stager) bisect(ctx context.Context, batch []*entry, err error) ([]*entry, error) {
	if len(batch) == 1 {
		s.refuse(batch, s.alarm(batch[0], salesforce.Fault{Code: "call", Message: err.Error()}))
		return nil, nil
	}
	half := len(batch) / 2
	again, last := s.send(ctx, batch[:half])
	more, err := s.send(ctx, batch[half:])
	if err != nil {
		last = err
	}
	return append(again, more...), last
}

func (s *Stager) refuse(batch []*entry, err error) {
	for _, e := range batch {
		s.settle(e, Answer{EventID: e.event.ID, Err: err}, known{})
	}
}

// alarm tells the operator of an event that Salesforce will refuse every time.
func (s *Stager) alarm(e *entry, f salesforce.Fault) error {
	s.cfg.Log.Error("Salesforce refuses a staging row for good: the event is not stored and its sender gets 503; "+
		"check the metadata of Inbound_Event__c and the permissions of the integration user",
		"event", e.event.ID, "code", f.Code, "message", f.Message)
	return &Unavailable{Reason: "Salesforce refuses the staging row", Alarm: true, Cause: faultError(f)}
}

func faultError(f salesforce.Fault) error { return fmt.Errorf("%s: %s", f.Code, f.Message) }

func unavailable(reason string, err error) error {
	u := &Unavailable{Reason: reason, Cause: err}
	if e, ok := salesforce.AsError(err); ok {
		u.RetryAfter = e.Pause
	}
	return u
}
