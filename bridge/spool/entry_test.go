package spool_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/event"
	"sfbridge/bridge/spool"
	"sfbridge/bridge/stage"
)

func anEvent(key string) *event.Event {
	order := int64(7)
	id := event.ID("stripe", key)
	return &event.Event{
		ID: id, Source: "stripe", Type: "charge.succeeded", DeliveryID: "d1", ObjectID: "ch_1",
		Hash: "aa", Context: []byte(`{"header.x":"1"}`), Trust: event.SignedBody, SourceTime: time.Unix(1767225600, 0).UTC(),
		Order: &order, ReceivedAt: time.Unix(1767225601, 5e6).UTC(), Status: event.Received,
		HomeQueue: event.HomeQueue(event.ByBridge, "stripe:ch_1"), Payload: []byte("{\"a\":1}\x00\xff"),
	}
}

func TestAnEntryIsTheWholeRequest(t *testing.T) {
	t.Parallel()
	review := anEvent("r")
	review.Status, review.ErrorCode, review.Error, review.History = event.Review, "SCHEMA", "why", "line"
	bare := &event.Event{ID: "x:1", Status: event.Received, HomeQueue: "O01", Payload: []byte{}}
	for _, want := range []stage.Request{
		{Event: anEvent("e"), RejectConflict: true}, {Event: review}, {Event: bare},
	} {
		entry, err := spool.Encode(want)
		require.NoError(t, err)
		assert.Equal(t, want.Event.HomeQueue, entry.Queue)
		got, err := spool.Decode(entry.Data)
		require.NoError(t, err)
		assert.True(t, got.Again, "it may have been staged before")
		assert.Equal(t, want.RejectConflict, got.RejectConflict)
		assert.Equal(t, want.Event, got.Event)
	}
}

func FuzzDecode(f *testing.F) {
	entry, err := spool.Encode(stage.Request{Event: anEvent("e")})
	require.NoError(f, err)
	f.Add(entry.Data)
	f.Add(entry.Data[:40])
	f.Add([]byte{})
	f.Add([]byte{1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Add([]byte("\x01\x0b{\"id\":\"a\"} rest"))
	f.Add([]byte("\x02\x0b{\"id\":\"a\"}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := spool.Decode(data)
		if err != nil {
			return
		}
		again, err := spool.Encode(r)
		require.NoError(t, err)
		twice, err := spool.Decode(again.Data)
		require.NoError(t, err)
		assert.True(t, bytes.Equal(r.Event.Payload, twice.Event.Payload))
		assert.Equal(t, r.Event.ID, twice.Event.ID)
	})
}
