package identify_test

import (
	"bytes"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/event"
	"sfbridge/bridge/identify"
	"sfbridge/mapping/path"
)

// fuzzedIdentity uses what a mapping may use, over batches or not.
func fuzzedIdentity(t testing.TB, split string) *identify.Identifier {
	t.Helper()
	cfg := identify.Config{Source: "shop", Identity: stripeLike(t), Content: identify.Content{FormMember: "payload"},
		Context: paths(t, "$$.account", "header.X-Topic")}
	cfg.Identity.ID = append(cfg.Identity.ID, template(t, "{header.X-Topic}:{$['id'][0]}", path.EventID))
	cfg.Identity.Volatile = paths(t, "$.volatile", "$.list[0]")
	if split != "" {
		list, err := path.ParseList(split)
		require.NoError(t, err)
		cfg.Identity = cfg.Identity.With(identify.Override{Split: &list})
	}
	identifier, err := identify.New(cfg)
	require.NoError(t, err)
	return identifier
}

// FuzzDelivery reads any body in any form. Nothing panics; every event has an
// id that fits, a hash, and bytes that stand in the delivery; reading it again
// gives the same.
func FuzzDelivery(f *testing.F) {
	identifiers := []*identify.Identifier{fuzzedIdentity(f, ""), fuzzedIdentity(f, "$[*]"), fuzzedIdentity(f, "$.entry[*].changes[*]")}
	for _, body := range []string{
		`{"id":"evt_1","type":"charge.succeeded","created":1767225600,"data":{"id":820982911946154508}}`,
		`[{"id":"a"},null,{"no":"id"},7,"x",{"id":["b"]}]`,
		`{"entry":[{"changes":[{"id":"a"}]},{"changes":5},null]}`, "{\"id\":\"Jos\xE9\"}", `{"id":"\ud83d"}`, "\xEF\xBB\xBF{}",
		`payload=%7B%22id%22%3A%22x%22%7D`, `{"id":"a"}{"id":"b"}`, `{"id":1e999999999,"created":1e999999999,"data":{"id":1}}`, ` `, `"`,
	} {
		f.Add(0, body, "application/json", "orders/create")
		f.Add(1, body, "application/x-www-form-urlencoded", "a, b")
		f.Add(2, body, "text/plain; charset=x", "")
	}
	f.Fuzz(func(t *testing.T, which int, body, contentType, topic string) {
		identifier := identifiers[uint(which)%uint(len(identifiers))]
		d := identify.Delivery{Header: http.Header{"Content-Type": {contentType}, "X-Topic": {topic}}, Body: []byte(body), ReceivedAt: received}
		events, again := eventsOf(t, identifier, d), eventsOf(t, identifier, d)
		require.Len(t, again, len(events))
		for i, found := range events {
			e := found.Event
			assert.Equal(t, e, again[i].Event)
			assert.True(t, strings.HasPrefix(e.ID, "shop:") && len(e.ID) > len("shop:"))
			assert.LessOrEqual(t, event.UTF16Len(e.ID), event.TextLimit)
			assert.LessOrEqual(t, event.UTF16Len(e.ObjectID), event.TextLimit)
			assert.LessOrEqual(t, event.UTF16Len(e.Type), event.TextLimit)
			assert.Len(t, e.Hash, 64)
			assert.NotEmpty(t, e.Payload)
			assert.True(t, bytes.Contains(d.Body, e.Payload) || strings.HasPrefix(contentType, "application/x-www"))
			assert.False(t, e.SourceTime.IsZero())
		}
	})
}

func eventsOf(t testing.TB, identifier *identify.Identifier, d identify.Delivery) []identify.Identified {
	t.Helper()
	doc, err := identifier.Read(d)
	var found []identify.Identified
	if err == nil {
		found, err = doc.Events()
	}
	if err != nil {
		refusal := (*identify.Refusal)(nil)
		require.ErrorAs(t, err, &refusal)
	}
	return found
}

// TestNoDeliveryCostsMoreThanASmallMultipleOfItsSize measures what a hostile
// body makes identification allocate.
func TestNoDeliveryCostsMoreThanASmallMultipleOfItsSize(t *testing.T) {
	const size = 256 << 10
	for name, body := range map[string]string{
		"deep":          strings.Repeat(`[`, size),
		"deep objects":  strings.Repeat(`{"a":`, size/5),
		"empty objects": `{"id":"a","x":[` + strings.Repeat(`{},`, size/3) + `{}]}`,
		"numbers":       `{"id":"a","x":[` + strings.Repeat(`1,`, size/2) + `1]}`,
		"members":       `{"id":"a"` + strings.Repeat(`,"a":0`, size/6) + `}`,
		"text":          `{"id":"` + strings.Repeat(`\u0041`, size/6) + `"}`,
		"elements":      `[` + strings.Repeat(`1,`, size/2) + `1]`,
		"entries":       `{"entry":[` + strings.Repeat(`0,`, size/2) + `0]}`,
		"not UTF-8":     `{"id":"` + strings.Repeat("\xFF", size) + `"}`,
		"form":          strings.Repeat("a&", size/2),
	} {
		for which, split := range []string{"", "$[*]", "$.entry[*].changes[*]"} {
			identifier := fuzzedIdentity(t, split)
			contentType := "application/json"
			if name == "form" {
				contentType = "application/x-www-form-urlencoded"
			}
			d := identify.Delivery{Header: http.Header{"Content-Type": {contentType}}, Body: []byte(body), ReceivedAt: received}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_ = eventsOf(t, identifier, d)
			runtime.ReadMemStats(&after)
			assert.LessOrEqual(t, after.TotalAlloc-before.TotalAlloc, uint64(64*len(body)), "%s, split %d", name, which)
		}
	}
}

// BenchmarkIdentify is one Stripe-like event of 2 KiB.
func BenchmarkIdentify(b *testing.B) {
	identifier := fuzzedIdentity(b, "")
	body := []byte(`{"id":"evt_1","type":"charge.succeeded","created":1767225600,"data":{"id":"ch_1","lines":[` +
		strings.TrimSuffix(strings.Repeat(`{"sku":"a-1","qty":3,"amount":12.50},`, 54), ",") + `]}}`)
	d := identify.Delivery{Header: http.Header{"Content-Type": {"application/json"}}, Body: body, ReceivedAt: received}
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if len(eventsOf(b, identifier, d)) != 1 {
			b.Fatal("no event")
		}
	}
}
