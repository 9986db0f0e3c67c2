package provider_test

import (
	"bytes"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/event"
	"sfbridge/bridge/identify"
	"sfbridge/bridge/provider"
	"sfbridge/mapping/view"
)

// reader is a preset with its identifier.
type presetReader struct {
	*provider.Preset
	*identify.Identifier
}

func everyPreset(t testing.TB) []presetReader {
	t.Helper()
	catalog, err := catalog()
	require.NoError(t, err)
	var list []presetReader
	for _, name := range catalog.Names() {
		p := load(t, name)
		if len(p.Required) > 0 {
			continue // its identity is the mapping's
		}
		i, err := identify.New(identify.Config{Source: name, Identity: p.Identity, Content: p.Content})
		require.NoError(t, err)
		list = append(list, presetReader{p, i})
	}
	return list
}

func (p presetReader) read(contentType, header string, body []byte) ([]identify.Identified, error) {
	h := http.Header{}
	for name := range p.Send.Headers {
		h.Set(name, header)
	}
	h.Set("Content-Type", contentType)
	doc, err := p.Read(identify.Delivery{Header: h, Body: body, ReceivedAt: time.Unix(1767225600, 0)})
	if err != nil {
		return nil, err
	}
	return doc.Events()
}

var seeds = []string{
	`{"id":"e1","event":"x","data":{"object":{"id":1}},"timestamp":"2026-01-01T00:00:00Z"}`,
	`[{"eventId":1,"portalId":1,"subscriptionId":1,"occurredAt":1,"objectId":1},null,7]`,
	`{"events":[{"resourceId":"1","eventDateUtc":"2025-10-09T08:53:20","eventType":"U","tenantId":"t"},{"id":"EV","links":{"payment":"P"},"resource_type":"payments"}]}`,
	`{"object":"page","entry":[{"id":"W","time":1,"changes":[{"field":"messages","value":{"messages":[{"id":"a"},{"id":"b"}],"statuses":[{"id":"a","status":"read"},{"id":"b","status":"read"}]}}]}]}`,
	`{"notificationItems":[{"NotificationRequestItem":{"pspReference":"P","eventCode":"C","success":"true"}}]}`,
	"{\"log_id\":\"a\"}\n{\"log_id\":\"b\"}\n", "MessageSid=SM1&MessageStatus=sent&Tag=a&Tag=b", "id=tr_1",
	`<Envelope><Body><notifications><Notification><Id>1</Id><sObject xsi:type="sf:A"><Id>2</Id></sObject></Notification></notifications></Body></Envelope>`,
	"bt_payload=PG4%2BPGtpbmQ%2BYTwva2luZD48L24%2B&bt_signature=a%7Cb", `{"Type":"Notification","MessageId":"m"}`, "<a", "{", "%", "",
}

// FuzzEveryPreset reads any body as every provider's. Nothing panics; events
// have ids that fit, and what is stored can be read again as it was.
func FuzzEveryPreset(f *testing.F) {
	list := everyPreset(f)
	for _, seed := range seeds {
		for i := range list {
			f.Add(i, "application/json", "h", []byte(seed))
		}
		f.Add(0, "application/x-www-form-urlencoded", "", []byte(seed))
		f.Add(1, "text/xml; charset=UTF-8", " ", []byte(seed))
	}
	f.Fuzz(func(t *testing.T, which int, contentType, header string, body []byte) {
		p := list[uint(which)%uint(len(list))]
		events, err := p.read(contentType, header, body)
		if err != nil {
			refusal := (*identify.Refusal)(nil)
			require.ErrorAs(t, err, &refusal)
			return
		}
		again, err := p.read(contentType, header, body)
		require.NoError(t, err)
		require.Len(t, again, len(events))
		for i, e := range events {
			assert.Equal(t, e.Event, again[i].Event)
			assert.True(t, strings.HasPrefix(e.Event.ID, p.Name+":"))
			assert.LessOrEqual(t, event.UTF16Len(e.Event.ID), event.TextLimit)
			assert.Len(t, e.Event.Hash, 64)
			stored, err := view.Decode(e.Event.Payload)
			if e.Review == nil {
				require.NoError(t, err)
				assert.Equal(t, e.Value, stored, "the mapping sees later what was seen at receipt")
			}
		}
	})
}

// TestNoDeliveryCostsMoreThanASmallMultipleOfItsSize under any preset, and the
// rows of its events, of which there are at most identify.MaxEvents.
func TestNoDeliveryCostsMoreThanASmallMultipleOfItsSize(t *testing.T) {
	const size, row = 32 << 10, 4 << 10
	changes := strings.Repeat(`{"id":"a"},`, size/20)
	hostile := map[string]string{
		"messages":      `{"entry":[{"changes":[{"value":{"messages":[` + changes + `{}],"x":"` + strings.Repeat("y", size/2) + `"}}]}]}`,
		"changes":       `{"entry":[` + strings.Repeat(`{"changes":[{"value":{"messages":[1,2,3,4]}}]},`, size/48) + `{}]}`,
		"lines":         strings.Repeat("{}\n", size/3),
		"notifications": `<Envelope><Body><notifications>` + strings.Repeat("<Notification><Id>0123456789</Id></Notification>", size/50) + `</notifications></Body></Envelope>`,
		"elements":      `<Envelope><Body><notifications>` + strings.Repeat("<Notification/>", size/15) + `</notifications></Body></Envelope>`,
		"fields":        strings.Repeat("a=b&", size/4),
		"events":        `{"events":[` + strings.Repeat(`{},`, size/3) + `{}]}`,
		"base64 member": "bt_payload=" + strings.Repeat("PGE%2B", size/6),
		"deep":          strings.Repeat("[", size),
	}
	for _, p := range everyPreset(t) {
		for name, body := range hostile {
			for _, contentType := range []string{"application/json", "application/x-www-form-urlencoded", "text/xml"} {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				events, _ := p.read(contentType, "h", []byte(body))
				runtime.ReadMemStats(&after)
				assert.LessOrEqual(t, after.TotalAlloc-before.TotalAlloc, uint64(64*len(body)+row*len(events)), "%s: %s as %s", p.Name, name, contentType)
			}
		}
	}
}

// BenchmarkIdentify64KiB is a delivery of 64 KiB in each of its forms.
func BenchmarkIdentify64KiB(b *testing.B) {
	const size = 64 << 10
	for _, c := range []struct{ provider, contentType, lead, one, tail string }{
		{"stripe", "application/json", `{"id":"e","type":"t","created":1,"x":[`, `{"sku":"a-1","qty":3},`, `0]}`},
		{"hubspot", "application/json", `[`, `{"eventId":1,"portalId":1,"subscriptionId":1,"occurredAt":1767225600000,"objectId":1,"subscriptionType":"contact.creation"},`,
			`{"eventId":1,"portalId":1,"subscriptionId":1,"occurredAt":1767225600000,"objectId":1}]`},
		{"twilio", "application/x-www-form-urlencoded", "MessageSid=SM1&MessageStatus=sent", "&Field=%2B49+30+1234", ""},
		{"salesforce", "text/xml", `<Envelope><Body><notifications>`, `<Notification><Id>04l1</Id><sObject xsi:type="sf:Contact"><sf:Id>0031</sf:Id><sf:LastName>Doe</sf:LastName></sObject></Notification>`, `</notifications></Body></Envelope>`},
	} {
		body := []byte(c.lead + strings.Repeat(c.one, (size-len(c.lead)-len(c.tail))/len(c.one)) + c.tail)
		for _, p := range everyPreset(b) {
			if p.Name != c.provider {
				continue
			}
			b.Run(fmt.Sprint(c.provider), func(b *testing.B) {
				b.SetBytes(int64(len(body)))
				b.ReportAllocs()
				for b.Loop() {
					if events, err := p.read(c.contentType, "h", bytes.Clone(body)); err != nil || len(events) == 0 {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
