package demo

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"sfbridge/bridge/event"
	"sfbridge/bridge/operate"
	"sfbridge/salesforce"
)

// scenes show what comes after a record is written, in the order they are shown.
var scenes = []act{
	{"effect_once", effectOnce},
	{"drift_repaired", driftRepaired},
	{"conflict_accepted", conflictAccepted},
	{"archive_restored", archiveRestored},
}

// shop is a second source: it causes receipts, and its provider can be asked.
const (
	shop        = "shop"
	shopMapping = `source: shop
provider: stripe
secrets: ["${STRIPE_SECRET}"]
reconcile:
  list: "http://%[1]s/charges"
  auth: "Bearer ${SHOP_KEY}"
  items: "$.data[*]"
  type: charge.listed
  into: $.data.object
  order: {from: "@.created", as: unix_s}
  every: 24h
  repair: true
routes:
  - name: charge
    when: {type: charge.*}
    records:
      - object: Payment__c
        key: {field: Stripe_Charge_Id__c, from: $.data.object.id}
        order: true
        state: {field: Status__c, allow: {Pending: [Succeeded]}}
        fields:
          Amount__c: {from: $.data.object.amount, as: minor_units, currency: $.data.object.currency}
          Status__c: {from: $.data.object.status, map: {pending: Pending, succeeded: Succeeded}}
    effects:
      - name: receipt
        when: {object: Payment__c, field: Status__c, to: [Succeeded]}
        post: {url: "${RECEIPT_URL}", secret: "${RECEIPT_SECRET}", body: {charge: $.data.object.id}}
`
)

// effectOnce has a payment succeed and says so again in copies, in a replay and
// in a newer event: the receiver counts one request. The replay comes while its
// event is the newest: later it would be stale, and of no effect anyhow.
func effectOnce(ctx context.Context, w *world) (string, error) {
	const name = "effect_once"
	pending := charge{Source: shop, Event: eventID(name, 1), Charge: chargeID(name, 1), Type: "charge.pending", Status: "pending", Amount: 1250, Created: begin}
	paid := charge{Source: shop, Event: eventID(name, 2), Charge: chargeID(name, 1), Amount: 1250, Created: begin + 60}
	newer := charge{Source: shop, Event: eventID(name, 3), Charge: chargeID(name, 1), Type: "charge.updated", Amount: 1250, Created: begin + 120}
	var e expect
	for n, copies := range [][]charge{{pending}, {paid, paid, paid, paid, paid}, {newer}} {
		_, err := w.deliverAll(ctx, copies, len(copies))
		e.failed(err)
		rows, err := w.settle(ctx, name, n+1)
		e.failed(err)
		if n != 1 {
			continue
		}
		e.equal("the paid event", text(rows[paid.id()][event.FieldOutcome]), "Updated")
		e.failed(w.replay(ctx, paid, true))
		rows, err = w.settle(ctx, name, n+1)
		e.failed(err)
		e.equal("its replay", text(rows[paid.id()][event.FieldOutcome]), "Unchanged")
	}
	rows := w.staged(name)
	e.equal("completed", count(rows, event.FieldStatus, "Completed"), 3)
	e.payment(w, name, 1, "Succeeded", "12.5")

	key := event.EffectKey(paid.id(), "receipt", paid.Charge)
	own, all := w.others.received(key)
	e.equal("requests under the key", own, 1)
	e.equal("requests in all", all, 1)
	outbox := w.org.Rows(event.EffectObject)
	e.equal("rows of the outbox", len(outbox), 1)
	for _, r := range outbox {
		e.equal("status of "+text(r[event.EffectFieldKey]), text(r[event.EffectFieldStatus]), string(event.EffectDone))
		e.equal("times recorded as done", strings.Count(text(r[event.EffectFieldHistory]), "-> Done"), 1)
	}
	return e.detail("five copies, a replay and a newer event that says the same: the receiver has one request")
}

// driftRepaired changes one payment and deletes another behind the bridge's
// back, and has Salesforce compared with what the provider lists.
func driftRepaired(ctx context.Context, w *world) (string, error) {
	const name, n = "drift_repaired", 3
	old := time.Now().Add(-time.Hour).Unix() // what is young is no drift
	var events []charge
	for i := range n {
		events = append(events, charge{
			Source: shop, Event: eventID(name, i), Charge: chargeID(name, i), Type: "charge.pending", Status: "pending", Amount: 1000, Created: old,
		})
	}
	if _, err := w.deliverAll(ctx, events, n); err != nil {
		return "", err
	}
	var e expect
	_, err := w.settle(ctx, name, n)
	e.failed(err)
	e.failed(w.others.firstLook(ctx, w.cfg.Patience)) // the service's own, at its start
	w.others.holds(events...)
	payments := w.payments(name)
	_, err = w.tool.Update(ctx, salesforce.Row{
		Object: "Payment__c", ID: text(payments[events[1].Charge]["Id"]), Fields: map[string]any{"Amount__c": 1},
	})
	e.failed(err)
	_, err = w.tool.Delete(ctx, "Payment__c", text(payments[events[2].Charge]["Id"]))
	e.failed(err)
	e.equal("payments before the comparison", len(w.payments(name)), n-1)

	for _, found := range []drift{{Missing: 1, Different: 1, Repaired: 2}, {}} {
		e.failed(w.compare(ctx, n, found))
		rows, err := w.settle(ctx, name, n+2)
		e.failed(err)
		e.equal("events and repairs", len(rows), n+2)
		e.equal("completed", count(rows, event.FieldStatus, "Completed"), n+2)
	}
	payments = w.payments(name)
	e.equal("payments", len(payments), n)
	for i, c := range events {
		e.amount(payments[c.Charge], "10")
		repaired := event.IsRepair(text(payments[c.Charge]["Source_Event__c"]))
		e.equal(c.Charge+" was repaired", repaired, i > 0)
	}
	return e.detail("a changed and a deleted record are again as the provider lists them; a second look finds nothing")
}

// drift is what a comparison finds and sets right.
type drift struct{ Missing, Different, Extra, Unmapped, Repaired int }

// compare compares the shop with the list of its provider, now. The comparison
// must come to its end, over so many objects, and find just this.
func (w *world) compare(ctx context.Context, objects int, want drift) error {
	report, err := w.bridge.Reconcile(ctx, shop)
	if err != nil || len(report.Sweeps) != 1 {
		return errors.Join(err, fmt.Errorf("%d comparisons of the shop, want 1", len(report.Sweeps)))
	}
	s := report.Sweeps[0]
	var e expect
	e.equal("problem of the comparison", s.Problem, "")
	e.equal("comparison finished", s.Finished, true)
	e.equal("objects compared", s.Objects, objects)
	e.equal("drift", drift{s.Missing, s.Different, s.Extra, s.Unmapped, s.Repaired}, want)
	_, err = e.detail("")
	return err
}

// conflictAccepted sends other content under a used id: it waits for a person,
// who accepts it.
func conflictAccepted(ctx context.Context, w *world) (string, error) {
	const name = "conflict_accepted"
	first := charge{Event: eventID(name, 1), Charge: chargeID(name, 1), Amount: 1250, Created: begin}
	other := first
	other.Amount = 9900
	var e expect
	answers := make([]answer, 2)
	for i, c := range []charge{first, other} {
		var err error
		if answers[i], err = w.deliver(ctx, c); err != nil {
			return "", err
		}
		_, err = w.settle(ctx, name, i+1)
		e.failed(err)
	}
	e.equal("answers", tally(answers), "1 accepted, 1 conflict")
	conflict := answers[1].EventID
	e.equal("the other content", text(w.staged(name)[conflict][event.FieldStatus]), "Review")
	e.payment(w, name, 1, "Succeeded", "12.5")

	done, err := w.desk.Accept(ctx, operate.Order{Filter: operate.Filter{IDs: []string{conflict}}, Who: "demo", Reason: "the provider has confirmed it"})
	e.failed(errors.Join(err, one(done)))
	rows, err := w.settle(ctx, name, 2)
	e.failed(err)
	e.equal("the accepted content", text(rows[conflict][event.FieldOutcome]), "Updated")
	e.payment(w, name, 1, "Succeeded", "99")

	again, err := w.deliver(ctx, first)
	e.failed(err)
	e.equal("the first content again", again.Status, "duplicate")
	e.payment(w, name, 1, "Succeeded", "99")
	return e.detail("other content under a used id waited in Review; accepted, it is the payment")
}
