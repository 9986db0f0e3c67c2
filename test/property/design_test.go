package property

import (
	"encoding/json"
	"fmt"
	"strings"
)

const source = "prop"

// An arc of the graph of states: one entry of allow.
type arc struct {
	From string
	To   []string
}

// How a payment's customer comes into being.
type customer string

const (
	noCustomer     customer = "none"
	ownCustomer    customer = "own"    // written with the payment
	sharedCustomer customer = "shared" // one for all payments, written with each
	parentCustomer customer = "parent" // an event of its own, that the payment has to wait for
)

// A design is a mapping as far as the cases differ in it.
type design struct {
	Guarded         bool // the payment keeps an order
	Allow           []arc
	Coalesce        bool
	Customer        customer
	CustomerOrdered bool
	CustomerUpdated bool // the payment's events change the customer too, but never make it
	Lines           int
	LinesOrdered    bool
	Deletes         bool // the mapping has a route that deletes
	Effects         bool // every change of the payment's state causes one
}

func paymentKey(entity int) string { return fmt.Sprintf("Payment__c/p%d", entity) }

func (d design) customerID(entity int) string {
	if d.Customer == sharedCustomer {
		return "c"
	}
	return fmt.Sprintf("c%d", entity)
}

// guardKey is the record that an event is decided by.
func (s snapshot) guardKey() string {
	if s.Parent {
		return fmt.Sprintf("Customer__c/c%d", s.Entity)
	}
	return paymentKey(s.Entity)
}

// withoutParent is the design without events to wait for.
func (d design) withoutParent() design {
	if d.Customer == parentCustomer {
		d.Customer, d.CustomerUpdated = noCustomer, false
	}
	return d
}

// writesCustomer says whether a payment's event writes the customer too.
func (d design) writesCustomer() bool {
	return d.Customer == ownCustomer || d.Customer == sharedCustomer || d.CustomerUpdated
}

// records is what an event sets, by record.
func (d design) records(s snapshot) map[string]map[string]string {
	all := map[string]map[string]string{}
	email := map[string]string{"Email__c": fmt.Sprintf("v%d@example.com", s.Value)}
	if s.Parent {
		all[s.guardKey()] = email
		return all
	}
	payment := map[string]string{"Amount__c": fmt.Sprint(s.Value), "Note__c": fmt.Sprintf("note %d", s.Value)}
	if len(d.Allow) > 0 {
		payment["Status__c"] = s.State
	}
	if d.Customer != noCustomer {
		payment["Customer__c"] = d.customerID(s.Entity)
	}
	if d.writesCustomer() {
		all["Customer__c/"+d.customerID(s.Entity)] = email
	}
	all[paymentKey(s.Entity)] = payment
	for n := range d.Lines {
		all[fmt.Sprintf("Payment_Line__c/p%d/%d", s.Entity, n)] = map[string]string{
			"Qty__c": fmt.Sprint(s.Value + n), "Payment__c": fmt.Sprintf("p%d", s.Entity),
		}
	}
	return all
}

// ordered says whether a record keeps an order.
func (d design) ordered(key string) bool {
	switch {
	case strings.HasPrefix(key, "Customer__c/"):
		return d.CustomerOrdered
	case strings.HasPrefix(key, "Payment_Line__c/"):
		return d.LinesOrdered
	}
	return d.Guarded
}

// deletes says whether the delete route takes the record away too.
func (d design) deletes(key string) bool {
	return !strings.HasPrefix(key, "Customer__c/") || d.Customer == ownCustomer
}

// payload is the delivery of an event.
func (d design) payload(s snapshot) []byte {
	body := map[string]any{"id": s.ID, "type": "pay.set", "obj": fmt.Sprintf("p%d", s.Entity), "value": s.Value}
	if s.Order != nil {
		body["order"] = *s.Order
	}
	lines := make([]map[string]any, d.Lines)
	for n := range lines {
		lines[n] = map[string]any{"n": n, "qty": s.Value + n}
	}
	body["lines"], body["cust"] = lines, d.customerID(s.Entity)
	switch {
	case s.Parent:
		body["type"], body["obj"] = "cust.set", d.customerID(s.Entity)
	case s.Gone:
		body["type"] = "pay.gone"
	default:
		body["state"] = s.State
	}
	switch s.Flaw {
	case unmappable:
		body["paid"] = "never"
	case unreadable:
		body["value"] = "many"
	case tooLong:
		body["origin"] = strings.Repeat("x", 81)
	}
	raw, err := json.Marshal(body)
	if err != nil {
		panic(err) // plain values only
	}
	return raw
}

// yaml is the mapping file.
func (d design) yaml() string {
	var b strings.Builder
	line := func(indent int, format string, args ...any) {
		fmt.Fprintf(&b, strings.Repeat(" ", indent)+format+"\n", args...)
	}
	line(0, `source: %s`, source)
	line(0, `provider: generic`)
	line(0, `secrets: ["${SECRET}"]`)
	line(0, `event: {id: $.id, type: $.type, object: $.obj, order: {from: $.order, as: integer}}`)
	line(0, `routes:`)
	line(2, `- name: set`)
	line(4, `when: {type: pay.set}`)
	line(4, `records:`)
	d.paymentYAML(line)
	if d.writesCustomer() {
		d.customerYAML(line, d.CustomerUpdated)
	}
	if d.Lines > 0 {
		line(6, `- object: Payment_Line__c`)
		line(8, `each: "$.lines[*]"`)
		line(8, `key: {field: Line_Key__c, template: "{$.obj}/{@.n}"}`)
		d.orderYAML(line, d.LinesOrdered)
		line(8, `fields: {Qty__c: {from: "@.qty", as: integer}, Payment__r: {lookup: Payment__c, by: Stripe_Charge_Id__c, from: $.obj}}`)
	}
	if d.Effects {
		line(4, `effects:`)
		line(6, `- name: moved`)
		line(8, `when: {object: Payment__c, field: Status__c, to: [%s]}`, strings.Join(states(), ", "))
		line(8, `post: {url: "${URL}", body: {state: $.state}}`)
	}
	if d.Customer == parentCustomer {
		line(2, `- name: customer`)
		line(4, `when: {type: cust.set}`)
		line(4, `records:`)
		d.customerYAML(line, false)
	}
	if d.Deletes {
		d.goneYAML(line)
	}
	return b.String()
}

type liner func(indent int, format string, args ...any)

func (d design) paymentYAML(line liner) {
	line(6, `- object: Payment__c`)
	line(8, `key: {field: Stripe_Charge_Id__c, from: $.obj}`)
	d.orderYAML(line, d.Guarded)
	if d.Coalesce {
		line(8, `coalesce: true`)
	}
	fields := []string{
		"Amount__c: $.value", `Note__c: {template: "note {$.value}"}`, "Paid_At__c: {from: $.paid, as: datetime}", "Origin__c: $.origin",
	}
	if len(d.Allow) > 0 {
		entries := make([]string, len(d.Allow))
		for i, a := range d.Allow {
			entries[i] = fmt.Sprintf("%s: [%s]", a.From, strings.Join(a.To, ", "))
		}
		line(8, `state: {field: Status__c, allow: {%s}}`, strings.Join(entries, ", "))
		fields = append(fields, "Status__c: $.state")
	}
	if d.Customer != noCustomer {
		fields = append(fields, "Customer__r: {lookup: Customer__c, by: Stripe_Customer_Id__c, from: $.cust}")
	}
	line(8, `fields: {%s}`, strings.Join(fields, ", "))
}

func (d design) customerYAML(line liner, update bool) {
	line(6, `- object: Customer__c`)
	if update {
		line(8, `action: update`)
	}
	line(8, `key: {field: Stripe_Customer_Id__c, from: $.cust}`)
	d.orderYAML(line, d.CustomerOrdered)
	line(8, `fields: {Email__c: {template: "v{$.value}@example.com"}}`)
}

func (d design) orderYAML(line liner, ordered bool) {
	if ordered {
		line(8, `order: true`)
	}
}

func (d design) goneYAML(line liner) {
	line(2, `- name: gone`)
	line(4, `when: {type: pay.gone}`)
	line(4, `records:`)
	line(6, `- object: Payment__c`)
	line(8, `action: delete`)
	line(8, `key: {field: Stripe_Charge_Id__c, from: $.obj}`)
	d.orderYAML(line, d.Guarded)
	if d.Customer == ownCustomer {
		line(6, `- object: Customer__c`)
		line(8, `action: delete`)
		line(8, `key: {field: Stripe_Customer_Id__c, from: $.cust}`)
		d.orderYAML(line, d.CustomerOrdered)
	}
	if d.Lines > 0 {
		line(6, `- object: Payment_Line__c`)
		line(8, `action: delete`)
		line(8, `each: "$.lines[*]"`)
		line(8, `key: {field: Line_Key__c, template: "{$.obj}/{@.n}"}`)
		d.orderYAML(line, d.LinesOrdered)
	}
}

// states are the values of the sample's picklist.
func states() []string { return []string{"Pending", "Succeeded", "Failed", "Refunded", "Disputed"} }
