package event

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// EffectObject is the API name of the outbox: one row for each side effect that
// a transition has caused.
const EffectObject = "Outbound_Effect__c"

// Field names of Outbound_Effect__c.
const (
	EffectFieldKey          = "Effect_Key__c"
	EffectFieldEvent        = "Event__c"
	EffectFieldName         = "Name__c"
	EffectFieldStatus       = "Status__c"
	EffectFieldQueue        = "Queue__c"
	EffectFieldAttempts     = "Attempts__c"
	EffectFieldNextAttempt  = "Next_Attempt_At__c"
	EffectFieldRequest      = "Request__c"
	EffectFieldResponseCode = "Response_Code__c"
	EffectFieldResponse     = "Response__c"
	EffectFieldHistory      = "History__c"
)

// RequestLimit and ResponseLimit are the lengths of Request__c and Response__c
// in characters, CodeLimit that of Response_Code__c.
const (
	RequestLimit  = 131072
	ResponseLimit = 32768
	CodeLimit     = 80
)

// EffectStatus is where a row of the outbox stands.
type EffectStatus string

const (
	// EffectReady: never tried, or made ready again by a replay. The effect
	// worker moves it on.
	EffectReady EffectStatus = "Ready"
	// EffectDone: delivered, and its result written down.
	EffectDone EffectStatus = "Done"
	// EffectRetryable: a try failed, Next_Attempt_At__c is set. The effect
	// worker moves it on.
	EffectRetryable EffectStatus = "Retryable"
	// EffectReview: failed for good, or ended when its event was discarded. A
	// replay of its event makes it Ready.
	EffectReview EffectStatus = "Review"
)

var effectStatuses = []EffectStatus{EffectReady, EffectDone, EffectRetryable, EffectReview}

// EffectStatuses returns the values of Outbound_Effect__c.Status__c in picklist
// order.
func EffectStatuses() []EffectStatus { return slices.Clone(effectStatuses) }

// Open says whether the effect worker still has to work on rows in this state.
func (s EffectStatus) Open() bool { return s == EffectReady || s == EffectRetryable }

// EffectKey is Effect_Key__c, the idempotency key of every delivery of the
// effect: event id, name of the effect and key of the record whose field
// changed, hashed when that is too long.
func EffectKey(eventID, name, recordKey string) string {
	key := eventID + ":" + name + ":" + recordKey
	if UTF16Len(key) <= TextLimit {
		return key
	}
	return hashed(key)
}

// Effect is one row of Outbound_Effect__c. Zero values mean null.
type Effect struct {
	RowID       string
	Key         string
	EventRow    string // row id of the event
	Name        string
	Status      EffectStatus
	Queue       string // home queue of the event while open, else empty
	Attempts    int
	NextAttempt time.Time
	Request     string
	Code        string // of the last answer
	Response    string // of the last answer, cut
	History     string
}

// EffectFields returns the fields of a row that EffectFromRecord reads, but for
// Request__c.
func EffectFields() []string {
	return []string{
		"Id", EffectFieldKey, EffectFieldEvent, EffectFieldName, EffectFieldStatus, EffectFieldQueue,
		EffectFieldAttempts, EffectFieldNextAttempt, EffectFieldResponseCode, EffectFieldResponse, EffectFieldHistory,
	}
}

// EffectFromRecord reads a row as a query returned it.
func EffectFromRecord(r map[string]any) (*Effect, error) {
	d := decoder{record: r}
	e := &Effect{
		RowID: d.text("Id"), Key: d.text(EffectFieldKey), EventRow: d.text(EffectFieldEvent), Name: d.text(EffectFieldName),
		Status: EffectStatus(d.text(EffectFieldStatus)), Queue: d.text(EffectFieldQueue),
		Attempts: int(d.integer(EffectFieldAttempts)), NextAttempt: d.time(EffectFieldNextAttempt),
		Request: d.text(EffectFieldRequest), Code: d.text(EffectFieldResponseCode),
		Response: d.text(EffectFieldResponse), History: d.text(EffectFieldHistory),
	}
	if d.err != nil {
		return e, fmt.Errorf("reading effect %s: %w", e.RowID, d.err)
	}
	return e, nil
}

// Insert is the row as it is put into the outbox.
func (e *Effect) Insert() map[string]any {
	return map[string]any{
		EffectFieldKey:      e.Key,
		EffectFieldEvent:    e.EventRow,
		EffectFieldName:     e.Name,
		EffectFieldStatus:   string(EffectReady),
		EffectFieldQueue:    e.Queue,
		EffectFieldAttempts: 0,
		EffectFieldRequest:  e.Request,
	}
}

// EffectLine is one decision about a row of the outbox, for auditors.
func EffectLine(at time.Time, from, to EffectStatus, who, why string) string {
	return fmt.Sprintf("%s %s -> %s by %s: %s", at.UTC().Format(time.RFC3339), from, to, who, strings.Join(strings.Fields(why), " "))
}

// Again is the update that makes a row ready to be delivered once more, under
// its own key.
func (e *Effect) Again(queue, line string) map[string]any {
	return map[string]any{
		EffectFieldStatus:      string(EffectReady),
		EffectFieldQueue:       queue,
		EffectFieldAttempts:    0,
		EffectFieldNextAttempt: nil,
		EffectFieldHistory:     AppendLine(e.History, line),
	}
}

// Closed is the update that ends a row that is not delivered yet: nobody sends
// it any more unless its event is replayed.
func (e *Effect) Closed(line string) map[string]any {
	return map[string]any{
		EffectFieldStatus:      string(EffectReview),
		EffectFieldQueue:       nil,
		EffectFieldNextAttempt: nil,
		EffectFieldHistory:     AppendLine(e.History, line),
	}
}
