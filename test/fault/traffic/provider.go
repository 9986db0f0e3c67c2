package traffic

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// Provider is one sender of webhooks with its mapping.
type Provider struct {
	Source  string // name in the address
	Object  string // business object that it is mapped to
	Mapping string

	id     func(own string) string
	body   func(Event) []byte
	header func(e Event, body []byte, at time.Time) http.Header
	record func(Event) map[string]any
}

// Secrets of the providers, as environment variables that the mappings name.
func Secrets() map[string]string {
	return map[string]string{
		"STRIPE_SECRET": stripeSecret, "SHOPIFY_SECRET": shopifySecret, "ORDERS_SECRET": ordersSecret,
		"RECEIPT_SECRET": "whsec_" + base64.StdEncoding.EncodeToString([]byte("receipts of the fault suite")),
	}
}

const (
	stripeSecret  = "whsec_fault_stripe"
	shopifySecret = "fault-shopify"
	ordersKey     = "standard webhooks, fault"
)

var ordersSecret = "whsec_" + base64.StdEncoding.EncodeToString([]byte(ordersKey))

// Providers are those that send: payments with an effect at each success,
// customers, and order lines.
func Providers() []Provider { return []Provider{stripe(), shopify(), orders()} }

const stripeMapping = `source: stripe
provider: stripe
secrets: ["${STRIPE_SECRET}"]
routes:
  - name: charge
    when: {type: charge.*}
    records:
      - object: Payment__c
        key: {field: Stripe_Charge_Id__c, from: $.data.object.id}
        order: true
        state: {field: Status__c, allow: {Pending: [Succeeded], Succeeded: [Refunded]}}
        fields:
          Amount__c: {from: $.data.object.amount, as: minor_units, currency: $.data.object.currency}
          Currency__c: {from: $.data.object.currency, upper: true}
          Status__c: $.data.object.status
          Note__c: $.data.object.description
    effects:
      - name: receipt
        when: {object: Payment__c, field: Status__c, to: [Succeeded]}
        post: {url: "${RECEIPT_URL}", secret: "${RECEIPT_SECRET}", body: {charge: $.data.object.id, amount: $.data.object.amount}}
`

func stripe() Provider {
	return Provider{
		Source: "stripe", Object: "Payment__c", Mapping: stripeMapping,
		id: func(own string) string { return "stripe:evt_" + own },
		body: func(e Event) []byte {
			return fmt.Appendf(nil, `{"id":"evt_%s","type":"charge.updated","created":%d,"livemode":false,"data":{"object":{"id":%q,"amount":%d,"currency":"eur","status":%q,"description":"№ %d"}}}`,
				e.own, e.At.Unix(), e.Key, e.Value, e.State, e.Value)
		},
		header: func(_ Event, body []byte, at time.Time) http.Header {
			sum := sign(stripeSecret, fmt.Sprintf("%d.%s", at.Unix(), body))
			return http.Header{"Stripe-Signature": {fmt.Sprintf("t=%d,v1=%s", at.Unix(), hex.EncodeToString(sum))}}
		},
		record: func(e Event) map[string]any {
			return map[string]any{
				"Amount__c": float64(e.Value) / 100, "Currency__c": "EUR", "Status__c": e.State, "Note__c": "№ " + strconv.Itoa(e.Value),
			}
		},
	}
}

const shopifyMapping = `source: shopify
provider: shopify
secrets: ["${SHOPIFY_SECRET}"]
routes:
  - name: customer
    when: {type: customers/*}
    records:
      - object: Customer__c
        key: {field: Stripe_Customer_Id__c, from: $.id}
        order: true
        fields: {Email__c: $.email}
`

func shopify() Provider {
	return Provider{
		Source: "shopify", Object: "Customer__c", Mapping: shopifyMapping,
		id: func(own string) string { return "shopify:customers/update:" + own },
		body: func(e Event) []byte {
			return fmt.Appendf(nil, `{"id":%q,"email":"c%d@example.test","updated_at":%q}`, e.Key, e.Value, e.At.UTC().Format(time.RFC3339))
		},
		header: func(e Event, body []byte, _ time.Time) http.Header {
			return http.Header{
				"X-Shopify-Topic": {"customers/update"}, "X-Shopify-Webhook-Id": {e.own},
				"X-Shopify-Hmac-Sha256": {base64.StdEncoding.EncodeToString(sign(shopifySecret, string(body)))},
			}
		},
		record: func(e Event) map[string]any {
			return map[string]any{"Email__c": fmt.Sprintf("c%d@example.test", e.Value)}
		},
	}
}

const ordersMapping = `source: orders
provider: standard-webhooks
secrets: ["${ORDERS_SECRET}"]
routes:
  - name: line
    when: {type: line.*}
    records:
      - object: Payment_Line__c
        key: {field: Line_Key__c, from: $.data.id}
        order: true
        fields:
          Qty__c: {from: $.data.quantity, as: integer}
          Amount__c: {from: $.data.total, as: number}
`

func orders() Provider {
	return Provider{
		Source: "orders", Object: "Payment_Line__c", Mapping: ordersMapping,
		id: func(own string) string { return "orders:msg_" + own },
		body: func(e Event) []byte {
			return fmt.Appendf(nil, `{"type":"line.changed","timestamp":%q,"data":{"id":%q,"quantity":%d,"total":%d.5}}`,
				e.At.UTC().Format(time.RFC3339), e.Key, e.Value%90, e.Value)
		},
		header: func(e Event, body []byte, at time.Time) http.Header {
			id := "msg_" + e.own
			sum := sign(ordersKey, fmt.Sprintf("%s.%d.%s", id, at.Unix(), body))
			return http.Header{
				"Webhook-Id": {id}, "Webhook-Timestamp": {strconv.FormatInt(at.Unix(), 10)},
				"Webhook-Signature": {"v1," + base64.StdEncoding.EncodeToString(sum)},
			}
		},
		record: func(e Event) map[string]any {
			return map[string]any{"Qty__c": float64(e.Value % 90), "Amount__c": float64(e.Value) + 0.5}
		},
	}
}

func sign(secret, text string) []byte {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(text))
	return mac.Sum(nil)
}

// Request is the delivery as it is sent at a time; a provider signs each try anew.
func (d Delivery) Request(at time.Time) (source string, header http.Header, body []byte) {
	p := d.Event.source
	body = p.body(d.Event)
	header = p.header(d.Event, body, at)
	header.Set("Content-Type", "application/json")
	return p.Source, header, body
}
