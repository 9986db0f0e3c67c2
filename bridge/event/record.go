package event

import (
	"encoding/json"
	"fmt"
	"math/big"
	"time"
)

// The forms in which Salesforce takes and gives a DateTime.
const (
	timeOut    = "2006-01-02T15:04:05.000Z"
	timeIn     = "2006-01-02T15:04:05.000-0700"
	timeInZone = time.RFC3339Nano
)

// FormatTime writes a DateTime as Salesforce's JSON input takes it, in UTC cut
// to milliseconds; a zero time is null.
func FormatTime(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Truncate(time.Millisecond).Format(timeOut)
}

// ParseTime reads a DateTime as Salesforce's JSON output writes it.
func ParseTime(s string) (time.Time, error) {
	for _, layout := range []string{timeIn, timeInZone} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is no DateTime of Salesforce", s)
}

// Insert is the row as the staging insert sends it. Fields that are null are
// left out. The payload is given in its stored form.
func (e *Event) Insert(p StoredPayload) map[string]any {
	f := map[string]any{
		FieldID:        e.ID,
		FieldEncoding:  string(p.Encoding),
		FieldStatus:    string(e.Status),
		FieldHomeQueue: e.HomeQueue,
	}
	set := func(name, value string) {
		if value != "" {
			f[name] = value
		}
	}
	set(FieldSource, e.Source)
	set(FieldType, e.Type)
	set(FieldDeliveryID, e.DeliveryID)
	set(FieldObjectID, e.ObjectID)
	set(FieldPayload, p.Text)
	set(FieldHash, e.Hash)
	set(FieldContext, string(e.Context))
	set(FieldTrust, string(e.Trust))
	set(FieldQueue, QueueFor(e.Status, e.HomeQueue))
	set(FieldOutcome, string(e.Outcome))
	set(FieldErrorCode, e.ErrorCode)
	set(FieldError, Cut(e.Error, ErrorLimit))
	set(FieldHistory, e.History)
	set(FieldConflictOf, e.ConflictOf)
	setTime := func(name string, t time.Time) {
		if !t.IsZero() {
			f[name] = FormatTime(t)
		}
	}
	setTime(FieldSourceTime, e.SourceTime)
	setTime(FieldReceivedAt, e.ReceivedAt)
	if e.Order != nil {
		f[FieldOrder] = *e.Order
	}
	return f
}

// FromRecord reads a row as a query returned it (numbers as json.Number);
// fields that were not selected stay empty. The payload is decoded unless it
// is Chunked, then Payload stays nil and the chunks have to be read.
func FromRecord(r map[string]any) (*Event, error) {
	d := decoder{record: r}
	e := &Event{
		RowID: d.text("Id"), ID: d.text(FieldID), Source: d.text(FieldSource), Type: d.text(FieldType),
		DeliveryID: d.text(FieldDeliveryID), ObjectID: d.text(FieldObjectID), BusinessKey: d.text(FieldBusinessKey),
		Encoding: Encoding(d.text(FieldEncoding)), Hash: d.text(FieldHash), Trust: Trust(d.text(FieldTrust)),
		SourceTime: d.time(FieldSourceTime), Order: d.number(FieldOrder),
		ReceivedAt: d.time(FieldReceivedAt), ProcessedAt: d.time(FieldProcessedAt), NextAttempt: d.time(FieldNextAttempt),
		Revision: d.integer(FieldRevision), Status: Status(d.text(FieldStatus)), Outcome: Outcome(d.text(FieldOutcome)),
		HomeQueue: d.text(FieldHomeQueue), Queue: d.text(FieldQueue),
		Attempts: int(d.integer(FieldAttempts)), ReplayCount: int(d.integer(FieldReplayCount)),
		DuplicateCount: int(d.integer(FieldDuplicateCount)), LastDuplicateAt: d.time(FieldLastDuplicateAt),
		MappingVersion: d.text(FieldMappingVersion), TargetObject: d.text(FieldTargetObject), TargetID: d.text(FieldTargetID),
		ErrorCode: d.text(FieldErrorCode), Error: d.text(FieldError), History: d.text(FieldHistory),
		ConflictOf: d.text(FieldConflictOf),
	}
	if context := d.text(FieldContext); context != "" {
		e.Context = []byte(context)
	}
	if text := d.text(FieldPayload); text != "" && e.Encoding != Chunked {
		raw, err := DecodePayload(e.Encoding, text, nil)
		d.note(err)
		e.Payload = raw
	}
	if d.err != nil {
		return e, fmt.Errorf("reading row %s: %w", e.RowID, d.err)
	}
	return e, nil
}

// decoder reads fields and keeps the first problem.
type decoder struct {
	record map[string]any
	err    error
}

func (d *decoder) note(err error) {
	if d.err == nil {
		d.err = err
	}
}

func (d *decoder) text(name string) string {
	switch v := d.record[name].(type) {
	case nil:
		return ""
	case string:
		return v
	default:
		d.note(fmt.Errorf("%s is a %T, not text", name, v))
		return ""
	}
}

func (d *decoder) time(name string) time.Time {
	s := d.text(name)
	if s == "" {
		return time.Time{}
	}
	t, err := ParseTime(s)
	d.note(err)
	return t
}

// number reads whole numbers, however Salesforce writes them (17, 17.0, 1.7E1).
func (d *decoder) number(name string) *int64 {
	switch v := d.record[name].(type) {
	case nil:
		return nil
	case json.Number:
		rat, ok := new(big.Rat).SetString(v.String())
		if !ok || !rat.IsInt() || !rat.Num().IsInt64() {
			d.note(fmt.Errorf("%s is no whole number: %s", name, v))
			return nil
		}
		n := rat.Num().Int64()
		return &n
	default:
		d.note(fmt.Errorf("%s is a %T, not a number", name, v))
		return nil
	}
}

func (d *decoder) integer(name string) int64 {
	if n := d.number(name); n != nil {
		return *n
	}
	return 0
}
