package event_test

import (
	"encoding/json"
	"testing"

	"sfbridge/bridge/event"
)

func BenchmarkHashJSON(b *testing.B) {
	object := map[string]any{"amount": json.Number("1250"), "currency": "eur", "paid": true, "invoice": nil, "lines": []any{}}
	for _, name := range []string{"id", "email", "name", "status", "description", "payment_intent", "receipt_url", "customer"} {
		object[name] = "some text of " + name
	}
	tree := map[string]any{"id": "evt_1", "pending_webhooks": json.Number("1"), "data": map[string]any{"object": object}}
	volatile := []event.Segments{{"pending_webhooks"}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := event.HashJSON(tree, volatile); err != nil {
			b.Fatal(err)
		}
	}
}
