package stage

import (
	"context"
	"strings"
	"time"

	"sfbridge/bridge/event"
	"sfbridge/internal/failpoint"
	"sfbridge/salesforce"
	"sfbridge/salesforce/soql"
)

// known is a row that is durable.
type known struct {
	row      string // Salesforce id
	hash     string
	received time.Time
}

// judge finds the rows that stand in the way of the refused ones with one query
// and settles the entries by them. It returns the entries worth another send.
func (s *Stager) judge(ctx context.Context, refused []*entry) ([]*entry, error) {
	if len(refused) == 0 {
		return nil, nil
	}
	failpoint.Hit(failpoint.StageJudging)
	exact, folded, err := s.find(ctx, refused)
	if err != nil {
		return refused, err
	}
	var again []*entry
	for _, e := range refused {
		if row, ok := exact[e.event.ID]; ok {
			s.settle(e, Answer{EventID: e.event.ID, Status: e.verdict(row)}, row)
			continue
		}
		if _, ok := folded[strings.ToLower(e.event.ID)]; ok {
			s.settleCaseFold(e)
			continue
		}
		if e.misses++; e.misses < 2 {
			again = append(again, e)
			continue
		}
		s.refuse([]*entry{e}, s.alarm(e, salesforce.Fault{Code: "DUPLICATE_VALUE",
			Message: "refused as a duplicate, but no row has this Event_Id__c; another unique field of Inbound_Event__c?"}))
	}
	return again, nil
}

// verdict is Accepted when the row in the way is the one this entry sent before
// its reply was lost.
func (e *entry) verdict(row known) Status {
	if e.resent && row.holds(e.event) {
		return Accepted
	}
	return Duplicate
}

// holds says whether the row is this very delivery of the event.
func (k known) holds(e *event.Event) bool {
	const resolution = time.Second // in which Salesforce keeps a DateTime
	return k.hash == e.Hash && k.received.Truncate(resolution).Equal(e.ReceivedAt.Truncate(resolution))
}

func (s *Stager) find(ctx context.Context, refused []*entry) (exact map[string]known, folded map[string]known, err error) {
	ids := make([]string, len(refused))
	for i, e := range refused {
		ids[i] = e.event.ID
	}
	records, err := s.query(ctx, soql.In(event.FieldID, ids), event.FieldHash, event.FieldReceivedAt)
	if err != nil {
		return nil, nil, err
	}
	exact, folded = map[string]known{}, map[string]known{}
	for _, r := range records {
		e, err := event.FromRecord(r)
		if err != nil {
			return nil, nil, err
		}
		row := known{row: e.RowID, hash: e.Hash, received: e.ReceivedAt}
		exact[e.ID] = row
		folded[strings.ToLower(e.ID)] = row
	}
	return exact, folded, nil
}

// query reads fields of the rows that a condition holds for, beside their ids.
func (s *Stager) query(ctx context.Context, where soql.Cond, fields ...string) ([]salesforce.Record, error) {
	q, err := soql.Select(append([]string{"Id", event.FieldID}, fields...)...).From(event.Object).Where(where).Build()
	if err != nil {
		return nil, err
	}
	return s.cfg.Salesforce.Query(ctx, q)
}

// meet answers a waiter whose event id belongs to a known row: a duplicate when
// the content is the same, else a conflict.
func (s *Stager) meet(w *waiter, row known) {
	switch {
	case w.again && row.holds(w.event):
		w.answer(Answer{EventID: w.event.ID, Status: Duplicate})
	case row.hash == w.event.Hash:
		s.counts.add(row.row, s.cfg.Now())
		w.answer(Answer{EventID: w.event.ID, Status: Duplicate})
	case w.reject:
		s.counts.add(row.row, s.cfg.Now())
		w.answer(Answer{EventID: w.event.ID, Status: Rejected})
	case event.IsConflict(w.event.ID):
		// The same first half of a hash under one id: count it on its row.
		s.counts.add(row.row, s.cfg.Now())
		w.answer(Answer{EventID: w.event.ID, Status: Duplicate})
	default:
		s.keepConflict(w, row)
	}
}

// settleCaseFold keeps an event whose id differs only in letter case from
// another's, in an org whose Event_Id__c folds case: for review, under a hashed
// id, because dropping it silently would lose it.
func (s *Stager) settleCaseFold(e *entry) {
	s.cfg.Log.Error("Event_Id__c of Inbound_Event__c is not case sensitive: an event was kept for review; "+
		"deploy the field as shipped", "event", e.event.ID)
	s.mu.Lock()
	delete(s.live, e.event.ID)
	waiters := e.waiters
	s.mu.Unlock()
	for _, w := range waiters {
		s.reenter(w, reviewCopy(w.event, reviewed{
			id:   event.HashedID(w.event.ID),
			code: event.CodeCaseFold,
			why:  "the id differs only in letter case from another event's",
			at:   s.cfg.Now(),
		}))
	}
}

// reenter stages another row in the place of the waiter's own.
func (s *Stager) reenter(w *waiter, e *event.Event) {
	w.event = e
	stored, err := event.EncodePayload(e.Payload)
	if err != nil {
		w.answer(Answer{EventID: e.ID, Err: err})
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.gone {
		w.answer(Answer{EventID: e.ID, Err: notInTime(nil)})
		return
	}
	s.enqueue(w, stored)
}

// reviewed says how a copy of an event goes to review.
type reviewed struct {
	id, code, why string
	at            time.Time
}

func reviewCopy(e *event.Event, r reviewed) *event.Event {
	c := *e
	c.ID, c.Status, c.ErrorCode, c.Error = r.id, event.Review, r.code, r.why
	c.History = event.AppendHistory("", event.Line{At: r.at, To: event.Review, Who: "bridge", Why: r.why})
	return &c
}
