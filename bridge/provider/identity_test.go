package provider_test

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/identify"
)

// found is what an event is identified as.
type found struct {
	id, kind, object string
	order            int64 // 0: none
}

// identified reads a delivery with the identity of a preset.
func identified(t *testing.T, name string, header map[string]string, body string) []identify.Identified {
	t.Helper()
	preset := load(t, name)
	identifier, err := identify.New(identify.Config{Source: name, Identity: preset.Identity, Content: preset.Content})
	require.NoError(t, err)
	h := http.Header{}
	for k, v := range preset.Send.For([]byte(body)) {
		if k == "Content-Type" {
			h[k] = v
		}
	}
	for k, v := range header {
		h.Set(k, v)
	}
	doc, err := identifier.Read(identify.Delivery{Header: h, Body: []byte(body), ReceivedAt: time.UnixMilli(1700000000123)})
	require.NoError(t, err)
	events, err := doc.Events()
	require.NoError(t, err)
	return events
}

// TestIdentityOfEveryOtherPreset: one realistic delivery each, and what its
// events are taken for.
func TestIdentityOfEveryOtherPreset(t *testing.T) {
	t.Parallel()
	const (
		s  = int64(1760000000000)
		at = "2025-10-09T08:53:20Z"
	)
	form := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}.Get("Content-Type")
	xmlEvent := base64.StdEncoding.EncodeToString([]byte(`<notification><timestamp type="datetime">` + at + `</timestamp><kind>subscription_went_past_due</kind><subject><subscription><id>my_id</id></subscription></subject></notification>`))
	for name, c := range map[string]struct {
		provider string
		header   map[string]string
		body     string
		want     []found
	}{
		"hubspot": {"hubspot", nil, `[{"eventId":1,"subscriptionId":12,"portalId":62,"occurredAt":1760000000000,"subscriptionType":"contact.creation","attemptNumber":0,"objectId":123},{"eventId":1,"subscriptionId":13,"portalId":62,"occurredAt":1760000000000,"subscriptionType":"contact.deletion","attemptNumber":3,"objectId":123}]`,
			[]found{{"62:12:1:1760000000000:123", "contact.creation", "123", s}, {"62:13:1:1760000000000:123", "contact.deletion", "123", s}}},
		"square payment": {"square", nil, `{"type":"payment.updated","event_id":"e1","created_at":"2025-10-09T08:53:20.372Z","data":{"type":"payment","id":"P1","object":{"payment":{"id":"P1","version":4,"updated_at":"` + at + `"}}}}`,
			[]found{{"e1", "payment.updated", "P1", 4}}},
		"square refund": {"square", nil, `{"type":"refund.updated","event_id":"e2","created_at":"2025-10-09T08:53:25Z","data":{"id":"R1","object":{"refund":{"updated_at":"` + at + `"}}}}`,
			[]found{{"e2", "refund.updated", "R1", s}}},
		"paypal": {"paypal", nil, `{"id":"WH-1","create_time":"` + at + `","event_type":"PAYMENT.SALE.COMPLETED","resource":{"id":"4EU"}}`,
			[]found{{"WH-1", "PAYMENT.SALE.COMPLETED", "4EU", s}}},
		"adyen items": {"adyen", nil, `{"live":"false","notificationItems":[{"NotificationRequestItem":{"pspReference":"P1","originalReference":"","eventCode":"AUTHORISATION","success":"true","eventDate":"2025-10-09T10:53:20+02:00"}},{"NotificationRequestItem":{"pspReference":"P2","originalReference":"P1","eventCode":"CAPTURE","success":"true","eventDate":"` + at + `"}}]}`,
			[]found{{"P1:AUTHORISATION:true", "AUTHORISATION", "P1", s}, {"P2:CAPTURE:true", "CAPTURE", "P1", s}}},
		"adyen platform": {"adyen", nil, `{"type":"balancePlatform.transfer.updated","timestamp":"2025-10-09T08:53:20+00:00","data":{"id":"T1","sequenceNumber":3}}`,
			[]found{{"balancePlatform.transfer.updated:T1:2025-10-09T08%3A53%3A20+00%3A00", "balancePlatform.transfer.updated", "T1", 3}}},
		"zendesk": {"zendesk", nil, `{"id":"cbe4","type":"zen:event-type:user.updated","time":"` + at + `","detail":{"id":"42","updated_at":"x"}}`,
			[]found{{"cbe4", "zen:event-type:user.updated", "42", s}}},
		"intercom": {"intercom", nil, `{"id":"notif_1","topic":"contact.user.updated","created_at":1,"delivery_attempts":1,"data":{"item":{"id":"c1","updated_at":1760000000}}}`,
			[]found{{"notif_1", "contact.user.updated", "c1", s}}},
		"twilio message": {"twilio", map[string]string{"Content-Type": form}, "MessageSid=SM1&MessageStatus=delivered&To=%2B49",
			[]found{{"SM1:delivered", "message.delivered", "SM1", 0}}},
		"twilio call": {"twilio", map[string]string{"Content-Type": form}, "CallSid=CA1&CallStatus=completed&SequenceNumber=3",
			[]found{{"CA1:completed", "call.completed", "CA1", 3}}},
		"sendgrid": {"sendgrid", nil, `[{"email":"a@x.test","event":"open","sg_event_id":"g1","sg_message_id":"m1","timestamp":1760000000}]`,
			[]found{{"g1", "open", "m1:a@x.test", s}}},
		"mailgun": {"mailgun", nil, `{"signature":{"timestamp":"1","token":"t","signature":"s"},"event-data":{"id":"CP","event":"opened","timestamp":1760000000.5,"message":{"headers":{"message-id":"m@x"}}}}`,
			[]found{{"CP", "opened", "m@x", s + 500}}},
		"docusign": {"docusign", nil, `{"event":"envelope-completed","retryCount":2,"generatedDateTime":"2025-10-09T08:53:20.0000000Z","data":{"envelopeId":"e1"}}`,
			[]found{{"envelope-completed:e1:2025-10-09T08%3A53%3A20.0000000Z", "envelope-completed", "e1", s}}},
		"zoom": {"zoom", nil, `{"event":"meeting.started","event_ts":1760000000000,"payload":{"object":{"id":"123","uuid":"u=="}}}`,
			[]found{{"meeting.started:1760000000000:u==", "meeting.started", "123", s}}},
		"xero": {"xero", nil, `{"events":[{"resourceId":"717f","eventDateUtc":"2025-10-09T08:53:20.000","eventType":"UPDATE","eventCategory":"CONTACT","tenantId":"c2cc"}],"entropy":"x"}`,
			[]found{{"c2cc:717f:UPDATE:2025-10-09T08%3A53%3A20.000", "CONTACT.UPDATE", "717f", s}}},
		"paddle": {"paddle", nil, `{"event_id":"evt_01","event_type":"subscription.updated","occurred_at":"` + at + `","notification_id":"ntf","data":{"id":"sub_01"}}`,
			[]found{{"evt_01", "subscription.updated", "sub_01", s}}},
		"chargebee": {"chargebee", nil, `{"id":"ev_1","event_type":"payment_succeeded","occurred_at":1,"content":{"customer":{"id":"c1"},"transaction":{"id":"txn_1","resource_version":1760000000000}}}`,
			[]found{{"ev_1", "payment_succeeded", "txn_1", s}}},
		"gocardless": {"gocardless", nil, `{"events":[{"id":"EV1","created_at":"` + at + `","resource_type":"subscriptions","action":"payment_created","links":{"payment":"PM1","subscription":"SB1"}}],"meta":{"webhook_id":"WB1"}}`,
			[]found{{"EV1", "subscriptions.payment_created", "SB1", s}}},
		"calendly": {"calendly", nil, `{"event":"invitee.created","created_at":"` + at + `","payload":{"uri":"https://api.calendly.com/i/1"}}`,
			[]found{{"invitee.created:https%3A//api.calendly.com/i/1:2025-10-09T08%3A53%3A20Z", "invitee.created", "https://api.calendly.com/i/1", s}}},
		"typeform": {"typeform", nil, `{"event_id":"t1","event_type":"form_response","form_response":{"token":"tok","submitted_at":"` + at + `"}}`,
			[]found{{"t1", "form_response", "tok", s}}},
		"woocommerce": {"woocommerce", map[string]string{"X-WC-Webhook-Delivery-ID": "d1", "X-WC-Webhook-Topic": "order.updated"}, `{"id":7,"date_modified_gmt":"2025-10-09T08:53:20"}`,
			[]found{{"d1", "order.updated", "7", s}}},
		"bigcommerce": {"bigcommerce", map[string]string{"webhook-id": "b1"}, `{"scope":"store/order/updated","data":{"id":5},"hash":"h","created_at":1760000000}`,
			[]found{{"b1", "store/order/updated", "5", s}}},
		"razorpay": {"razorpay", map[string]string{"X-Razorpay-Event-Id": "r1"}, `{"event":"order.paid","created_at":1760000000,"payload":{"payment":{"entity":{"id":"pay_1"}},"order":{"entity":{"id":"order_1"}}}}`,
			[]found{{"r1", "order.paid", "order_1", s}}},
		"braintree": {"braintree", map[string]string{"Content-Type": form}, "bt_signature=x&bt_payload=" + url.QueryEscape(xmlEvent),
			[]found{{"subscription_went_past_due:2025-10-09T08%3A53%3A20Z:my_id", "subscription_went_past_due", "my_id", s}}},
		"recurly": {"recurly", nil, `{"id":"ev1","object_type":"account","event_type":"updated","event_time":"` + at + `","uuid":"u1"}`,
			[]found{{"ev1", "account.updated", "u1", s}}},
		"box": {"box", map[string]string{"BOX-DELIVERY-ID": "changes"}, `{"id":"eb0c","created_at":"` + at + `","trigger":"FILE.UPLOADED","source":{"id":"738","etag":"3","sequence_id":"4"}}`,
			[]found{{"eb0c", "FILE.UPLOADED", "738", 4}}},
		"dropbox": {"dropbox", nil, `{"list_folder":{"accounts":["dbid:A","dbid:B"]}}`,
			[]found{{"dbid:A:1700000000123", "", "dbid:A", 0}, {"dbid:B:1700000000123", "", "dbid:B", 0}}},
		"jira": {"jira", map[string]string{"X-Atlassian-Webhook-Identifier": "j1"}, `{"webhookEvent":"jira:issue_updated","timestamp":1760000000000,"issue":{"id":"10001"}}`,
			[]found{{"j1", "jira:issue_updated", "10001", s}}},
		"bitbucket": {"bitbucket", map[string]string{"X-Request-UUID": "b1", "X-Event-Key": "pullrequest:updated"}, `{"pullrequest":{"id":3,"updated_on":"2025-10-09T08:53:20.000000+00:00"},"repository":{"uuid":"{6}"}}`,
			[]found{{"b1", "pullrequest:updated", "3", s}}},
		"gitlab": {"gitlab", map[string]string{"Idempotency-Key": "g1", "X-Gitlab-Event": "Issue Hook"}, `{"object_kind":"issue","object_attributes":{"id":301,"updated_at":"2025-10-09 08:53:20 UTC"}}`,
			[]found{{"g1", "Issue Hook", "301", s}}},
		"linear": {"linear", map[string]string{"Linear-Delivery": "l1"}, `{"action":"update","type":"Issue","createdAt":"x","data":{"id":"21","updatedAt":"` + at + `"},"webhookTimestamp":1}`,
			[]found{{"l1", "Issue.update", "21", s}}},
		"notion": {"notion", nil, `{"id":"n1","type":"page.created","timestamp":"` + at + `","entity":{"id":"p1"},"attempt_number":1}`,
			[]found{{"n1", "page.created", "p1", s}}},
		"okta": {"okta", nil, `{"eventId":"call","data":{"events":[{"uuid":"o1","eventType":"user.lifecycle.create","published":"` + at + `","target":[{"id":"00u1"}]}]}}`,
			[]found{{"o1", "user.lifecycle.create", "00u1", s}}},
		"auth0 array": {"auth0", nil, `[{"log_id":"a1","data":{"type":"s","user_id":"auth0|1","date":"` + at + `"}}]`,
			[]found{{"a1", "s", "auth0|1", s}}},
		"auth0 lines": {"auth0", nil, `{"log_id":"a1","data":{"type":"s","user_id":"u","date":"` + at + `"}}` + "\n" + `{"log_id":"a2","data":{"type":"f"}}` + "\n",
			[]found{{"a1", "s", "u", s}, {"a2", "f", "", 0}}},
		"coinbase": {"coinbase-commerce", nil, `{"id":"attempt","attempt_number":1,"event":{"id":"c1","type":"charge:confirmed","created_at":"` + at + `","data":{"code":"ABC"}}}`,
			[]found{{"c1", "charge:confirmed", "ABC", s}}},
		"mollie": {"mollie", nil, `{"id":"m1","type":"payment-link.paid","entityId":"pl_1","createdAt":"` + at + `"}`,
			[]found{{"m1", "payment-link.paid", "pl_1", s}}},
		"mollie classic": {"mollie-classic", map[string]string{"Content-Type": form}, "id=tr_1",
			[]found{{"tr_1:1700000000123", "", "tr_1", 0}}},
		"aws-sns": {"aws-sns", nil, `{"Type":"Notification","MessageId":"s1","Timestamp":"` + at + `","Message":"x"}`,
			[]found{{"s1", "Notification", "", s}}},
		"cloudevents": {"cloudevents", nil, `{"specversion":"1.0","id":"1","source":"/a","type":"t","subject":"x","time":"` + at + `"}`,
			[]found{{"/a:1", "t", "x", s}}},
		"cloudevents batch": {"cloudevents", map[string]string{"Content-Type": "application/cloudevents-batch+json"}, `[{"id":"1","source":"/a","type":"t","sequence":"7","subject":"x"},{"id":"2","source":"/a","type":"t"}]`,
			[]found{{"/a:1", "t", "x", 7}, {"/a:2", "t", "", 0}}},
		"cloudevents binary": {"cloudevents", map[string]string{"ce-id": "9", "ce-source": "/b", "ce-type": "u", "ce-time": at}, `{"id":"data"}`,
			[]found{{"/b:9", "u", "", s}}},
		"whatsapp": {"meta", nil, `{"object":"whatsapp_business_account","entry":[{"id":"W","changes":[{"field":"messages","value":{"metadata":{"id":"p"},"messages":[{"id":"wamid.1","timestamp":"1760000000"},{"id":"wamid.2","timestamp":"1760000001"}]}},{"field":"messages","value":{"statuses":[{"id":"wamid.1","status":"read","timestamp":"1760000000"}]}}]}]}`,
			[]found{{"wamid.1", "messages.messages", "wamid.1", s}, {"wamid.2", "messages.messages", "wamid.2", s + 1000}, {"wamid.1:read", "messages.statuses", "wamid.1", s}}},
		"messenger": {"meta", nil, `{"object":"page","entry":[{"id":"P","time":1,"messaging":[{"sender":{"id":"u"},"timestamp":1760000000000,"message":{"mid":"m_1"}}]}]}`,
			[]found{{"m_1", "page.message", "m_1", s}}},
		"monday": {"monday", nil, `{"event":{"triggerUuid":"q1","type":"update_column_value","pulseId":17,"boardId":5,"triggerTime":"` + at + `"}}`,
			[]found{{"q1", "update_column_value", "17", s}}},
		"salesforce": {"salesforce", map[string]string{"Content-Type": "text/xml"}, `<e:Envelope xmlns:e="x"><e:Body><notifications xmlns="http://soap.sforce.com/2005/09/outbound"><Notification><Id>04l1</Id><sObject xsi:type="sf:Contact"><sf:Id>0031</sf:Id><sf:LastModifiedDate>2025-10-09T08:53:20.000Z</sf:LastModifiedDate></sObject></Notification></notifications></e:Body></e:Envelope>`,
			[]found{{"04l1", "Contact", "0031", s}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []found
			for _, e := range identified(t, c.provider, c.header, c.body) {
				f := found{strings.TrimPrefix(e.Event.ID, c.provider+":"), e.Event.Type, e.Event.ObjectID, 0}
				if e.Event.Order != nil {
					f.order = *e.Event.Order
				}
				assert.Nil(t, e.Review)
				got = append(got, f)
			}
			assert.Equal(t, c.want, got)
		})
	}
}

// TestRetriesAreTheSameEvent: what differs between attempts changes neither id
// nor hash.
func TestRetriesAreTheSameEvent(t *testing.T) {
	t.Parallel()
	for provider, c := range map[string][2]string{
		"hubspot":           {`[{"eventId":1,"subscriptionId":1,"portalId":1,"occurredAt":1,"objectId":1,"attemptNumber":0}]`, `"attemptNumber":0|"attemptNumber":4`},
		"docusign":          {`{"event":"e","generatedDateTime":"2025-10-09T08:53:20Z","data":{"envelopeId":"1"},"retryCount":0}`, `"retryCount":0|"retryCount":9`},
		"notion":            {`{"id":"1","attempt_number":1}`, `"attempt_number":1|"attempt_number":2`},
		"intercom":          {`{"id":"1","delivery_attempts":1}`, `"delivery_attempts":1|"delivery_attempts":2`},
		"coinbase-commerce": {`{"id":"x","attempt_number":1,"event":{"id":"1"}}`, `"id":"x","attempt_number":1|"id":"y","attempt_number":2`},
		"mailgun":           {`{"signature":{"token":"a"},"event-data":{"id":"1"}}`, `"token":"a"|"token":"b"`},
		"paddle":            {`{"event_id":"1","notification_id":"a"}`, `"notification_id":"a"|"notification_id":"b"`},
	} {
		from, to, _ := strings.Cut(c[1], "|")
		first := identified(t, provider, nil, c[0])
		again := identified(t, provider, nil, strings.Replace(c[0], from, to, 1))
		assert.NotEqual(t, first[0].Event.Payload, again[0].Event.Payload, provider)
		assert.Equal(t, first[0].Event.ID, again[0].Event.ID, provider)
		assert.Equal(t, first[0].Event.Hash, again[0].Event.Hash, provider)
	}
}

// TestEventsWithoutAnID are told apart by what they hold, and only by that.
func TestEventsWithoutAnID(t *testing.T) {
	t.Parallel()
	one := `{"action":"added","created_at":"2025-10-09T08:53:20.000Z","resource":{"gid":"12","resource_type":"task"},"parent":null}`
	events := identified(t, "asana", nil, `{"events":[`+one+`,`+strings.Replace(one, `"12"`, `"13"`, 1)+`, `+one+`]}`)
	require.Len(t, events, 3)
	assert.Equal(t, "asana:sha256:"+events[0].Event.Hash, events[0].Event.ID)
	assert.Equal(t, events[0].Event.ID, events[2].Event.ID)
	assert.NotEqual(t, events[0].Event.ID, events[1].Event.ID)
	assert.Equal(t, "added.task", events[0].Event.Type)
	feed := identified(t, "meta", nil, `{"object":"page","entry":[{"id":"P","time":5,"changes":[{"field":"feed","value":{"item":"a"}},{"field":"feed","value":{"item":"b"}}]}]}`)
	require.Len(t, feed, 2)
	assert.True(t, strings.HasPrefix(feed[0].Event.ID, "meta:P:feed:5:"), feed[0].Event.ID)
	assert.NotEqual(t, feed[0].Event.ID, feed[1].Event.ID)
	assert.Equal(t, "P", feed[0].Event.ObjectID)
}

// TestSpreadEventsKeepTheShapeOfSingleOnes: a change with two messages gives
// the same payloads as two changes with one.
func TestSpreadEventsKeepTheShapeOfSingleOnes(t *testing.T) {
	t.Parallel()
	wrap := func(messages string) string {
		return `{"entry":[{"id":"W","changes":[{"value":{"m":[1, 2],"messages":[` + messages + `],"z":[1, 2]},"field":"messages"}]}]}`
	}
	a, b := `{"id":"wamid.1","text":{"body":"[1, 2]"}}`, `{"id":"wamid.2","text":{"body":"x"}}`
	both := identified(t, "meta", nil, wrap(a+" , "+b))
	require.Len(t, both, 2)
	for i, single := range []string{a, b} {
		alone := identified(t, "meta", nil, wrap(single))
		require.Len(t, alone, 1)
		assert.Equal(t, string(alone[0].Event.Payload), string(both[i].Event.Payload))
		assert.Equal(t, alone[0].Event.Hash, both[i].Event.Hash)
	}
}
