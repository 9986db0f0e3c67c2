package spool

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"sfbridge/bridge/event"
	"sfbridge/bridge/stage"
)

// form is the first byte of an encoded entry.
const form = 1

// maxHead bounds the part before the payload: its texts are bounded by the
// fields that hold them.
const maxHead = 1 << 20

var errForm = errors.New("the entry is not in a form that this version writes")

// head is an entry without its payload, which follows as it is.
type head struct {
	ID         string       `json:"id"`
	Source     string       `json:"source,omitempty"`
	Type       string       `json:"type,omitempty"`
	DeliveryID string       `json:"delivery,omitempty"`
	ObjectID   string       `json:"object,omitempty"`
	Hash       string       `json:"hash,omitempty"`
	Context    []byte       `json:"context,omitempty"`
	Trust      event.Trust  `json:"trust,omitempty"`
	SourceTime time.Time    `json:"source_time,omitzero"`
	Order      *int64       `json:"order,omitempty"`
	ReceivedAt time.Time    `json:"received,omitzero"`
	Status     event.Status `json:"status"`
	HomeQueue  string       `json:"queue"`
	ErrorCode  string       `json:"code,omitempty"`
	Error      string       `json:"error,omitempty"`
	History    string       `json:"history,omitempty"`
	Reject     bool         `json:"reject,omitempty"`
}

// Encode writes a request: a byte for the form, the length of the head, the
// head as JSON, the payload.
func Encode(r stage.Request) (Entry, error) {
	e := r.Event
	text, err := json.Marshal(head{
		ID: e.ID, Source: e.Source, Type: e.Type, DeliveryID: e.DeliveryID, ObjectID: e.ObjectID, Hash: e.Hash,
		Context: e.Context, Trust: e.Trust, SourceTime: e.SourceTime, Order: e.Order, ReceivedAt: e.ReceivedAt,
		Status: e.Status, HomeQueue: e.HomeQueue, ErrorCode: e.ErrorCode, Error: e.Error, History: e.History,
		Reject: r.RejectConflict,
	})
	if err != nil {
		return Entry{}, fmt.Errorf("encoding the entry: %w", err)
	}
	data := make([]byte, 0, 1+binary.MaxVarintLen32+len(text)+len(e.Payload))
	data = append(data, form)
	data = binary.AppendUvarint(data, uint64(len(text)))
	data = append(data, text...)
	return Entry{Queue: e.HomeQueue, Data: append(data, e.Payload...)}, nil
}

// Decode is the reverse of Encode. The request is marked as one that may have
// been staged before.
func Decode(data []byte) (stage.Request, error) {
	if len(data) == 0 || data[0] != form {
		return stage.Request{}, errForm
	}
	size, n := binary.Uvarint(data[1:])
	if n <= 0 || size > maxHead || uint64(len(data)-1-n) < size {
		return stage.Request{}, errForm
	}
	rest := data[1+n:]
	var h head
	if err := json.Unmarshal(rest[:size], &h); err != nil || h.ID == "" {
		return stage.Request{}, errForm
	}
	return stage.Request{
		RejectConflict: h.Reject, Again: true,
		Event: &event.Event{
			ID: h.ID, Source: h.Source, Type: h.Type, DeliveryID: h.DeliveryID, ObjectID: h.ObjectID, Hash: h.Hash,
			Context: h.Context, Trust: h.Trust, SourceTime: h.SourceTime, Order: h.Order, ReceivedAt: h.ReceivedAt,
			Status: h.Status, HomeQueue: h.HomeQueue, ErrorCode: h.ErrorCode, Error: h.Error, History: h.History,
			Payload: rest[size:],
		},
	}, nil
}
