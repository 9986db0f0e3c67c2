package demo

import (
	"context"
	"fmt"
	"math/rand/v2"

	"sfbridge/bridge/event"
	"sfbridge/salesforce/simorg"
	"sfbridge/salesforce/simorg/fault"
)

// play plays a check: a detail when the promise held, else an error that says
// what was seen instead.
type play func(ctx context.Context, w *world) (string, error)

// act is a check or a scene.
type act struct {
	name string
	play play
}

// checks are the nine promises, in the order they are shown.
var checks = []act{
	{"same_twice", sameTwice},
	{"ten_at_once", tenAtOnce},
	{"one_entity", oneEntity},
	{"out_of_order", outOfOrder},
	{"bad_row", badRow},
	{"lost_reply", lostReply},
	{"bad_signature", badSignature},
	{"burst", burst},
	{"replay", replay},
}

// begin is the order of a check's first event: 2026-01-01T00:00:00Z.
const begin = 1767225600

func sameTwice(ctx context.Context, w *world) (string, error) {
	const name = "same_twice"
	c := charge{Event: eventID(name, 1), Charge: chargeID(name, 1), Amount: 1250, Created: begin}
	first, err := w.deliver(ctx, c)
	if err != nil {
		return "", err
	}
	second, err := w.deliver(ctx, c)
	if err != nil {
		return "", err
	}
	var e expect
	e.equal("first answer", first.Status, "accepted")
	e.equal("second answer", second.Status, "duplicate")
	rows, err := w.settle(ctx, name, 1)
	e.failed(err)
	e.equal("staging rows", len(rows), 1)
	e.equal("payments", len(w.payments(name)), 1)
	return e.detail("the second delivery was answered duplicate: 1 row, 1 payment")
}

func tenAtOnce(ctx context.Context, w *world) (string, error) {
	const name = "ten_at_once"
	var copies []charge
	for range 10 {
		copies = append(copies, charge{Event: eventID(name, 1), Charge: chargeID(name, 1), Amount: 500, Created: begin})
	}
	answers, err := w.deliverAll(ctx, copies, len(copies))
	if err != nil {
		return "", err
	}
	var e expect
	e.equal("answers", tally(answers), "1 accepted, 9 duplicate")
	rows, err := w.settle(ctx, name, 1)
	e.failed(err)
	e.equal("staging rows", len(rows), 1)
	e.equal("payments", len(w.payments(name)), 1)
	return e.detail("10 copies at the same time: 1 accepted, 9 duplicates, 1 payment")
}

func oneEntity(ctx context.Context, w *world) (string, error) {
	const name = "one_entity"
	events := []charge{
		{Event: eventID(name, 1), Charge: chargeID(name, 1), Type: "charge.pending", Status: "pending", Amount: 900, Created: begin},
		{Event: eventID(name, 2), Charge: chargeID(name, 1), Amount: 900, Created: begin + 1},
		{Event: eventID(name, 3), Charge: chargeID(name, 1), Type: "charge.refunded", Amount: 905, Created: begin + 2},
	}
	rand.Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
	answers, err := w.deliverAll(ctx, events, len(events))
	if err != nil {
		return "", err
	}
	var e expect
	e.equal("answers", tally(answers), "3 accepted")
	rows, err := w.settle(ctx, name, 3)
	e.failed(err)
	e.equal("completed", count(rows, event.FieldStatus, "Completed"), 3)
	e.payment(w, name, 1, "Refunded", "9.05")
	return e.detail("three events of one charge at once: one payment, Refunded, as the newest says")
}

func outOfOrder(ctx context.Context, w *world) (string, error) {
	const name = "out_of_order"
	newer := charge{Event: eventID(name, 2), Charge: chargeID(name, 1), Amount: 700, Created: begin + 60}
	older := charge{Event: eventID(name, 1), Charge: chargeID(name, 1), Type: "charge.pending", Status: "pending", Amount: 600, Created: begin}
	var e expect
	for n, c := range []charge{newer, older} {
		if _, err := w.deliver(ctx, c); err != nil {
			return "", err
		}
		_, err := w.settle(ctx, name, n+1)
		e.failed(err)
	}
	rows := w.staged(name)
	e.equal("outcome of the older", text(rows[source+":"+older.Event][event.FieldOutcome]), "Stale")
	e.payment(w, name, 1, "Succeeded", "7")
	return e.detail("an older event came late: Stale, the payment keeps the newer state")
}

// badRow sends 200 events, one with an amount that no Number(16,2) holds: only
// the org can tell.
func badRow(ctx context.Context, w *world) (string, error) {
	const name, n, bad = "bad_row", 200, 117
	var events []charge
	for i := range n {
		c := charge{Event: eventID(name, i), Charge: chargeID(name, i), Amount: int64(100 + i), Created: begin}
		if i == bad {
			c.Amount = 9_000_000_000_000_000_000
		}
		events = append(events, c)
	}
	answers, err := w.deliverAll(ctx, events, n)
	if err != nil {
		return "", err
	}
	var e expect
	e.equal("answers", tally(answers), "200 accepted")
	rows, err := w.settle(ctx, name, n)
	e.failed(err)
	e.equal("completed", count(rows, event.FieldStatus, "Completed"), n-1)
	e.equal("in review", count(rows, event.FieldStatus, "Review"), 1)
	culprit := rows[source+":"+eventID(name, bad)]
	e.equal("status of the bad one", text(culprit[event.FieldStatus]), "Review")
	e.equal("payments", len(w.payments(name)), n-1)
	return e.detail("199 of 200 completed, the bad one waits in Review: " + text(culprit[event.FieldErrorCode]))
}

// lostReply loses the reply of a staging call and of a commit, each after the
// org has carried it out.
func lostReply(ctx context.Context, w *world) (string, error) {
	const name, n = "lost_reply", 20
	w.org.AddFaults(
		fault.Fault{Operation: "collections_insert", Object: event.Object, Kind: fault.DropAfter, Times: 1},
		fault.Fault{Operation: "collections_upsert", Object: "Payment__c", Kind: fault.DropAfter, Times: 1},
	)
	defer w.org.ClearFaults()
	var events []charge
	for i := range n {
		events = append(events, charge{Event: eventID(name, i), Charge: chargeID(name, i), Amount: 100, Created: begin})
	}
	answers, err := w.deliverAll(ctx, events, n)
	if err != nil {
		return "", err
	}
	var e expect
	for _, a := range answers {
		e.equal("answered 2xx", a.ok(), true)
	}
	rows, err := w.settle(ctx, name, n)
	e.failed(err)
	e.equal("staging rows", len(rows), n)
	e.equal("completed", count(rows, event.FieldStatus, "Completed"), n)
	e.equal("payments", len(w.payments(name)), n)
	for id, r := range rows {
		e.equal("attempts of "+id, fmt.Sprint(r[event.FieldAttempts] == nil || fmt.Sprint(r[event.FieldAttempts]) == "0"), "true")
	}
	return e.detail("two replies lost after the commit: nothing lost, nothing twice, no attempt charged")
}

func badSignature(ctx context.Context, w *world) (string, error) {
	const name = "bad_signature"
	c := charge{Event: eventID(name, 1), Charge: chargeID(name, 1), Amount: 100, Created: begin}
	a, err := w.deliverSigned(ctx, c, wrongSecret)
	if err != nil {
		return "", err
	}
	var e expect
	e.equal("status", a.Code, 401)
	e.equal("error", a.Error, "bad_signature")
	e.equal("staging rows", len(w.staged(name)), 0)
	return e.detail("signed with another secret: 401, nothing stored")
}

// The budget of API calls for an event that writes one object. A burst that is
// too small to fill its calls has a wider one.
const (
	fullBurst        = 2000
	maxCallsPerEvent = 0.025
	smallBurstCalls  = 0.25
)

// burst sends many events at once. Inserting takes an org several times as long
// as answering does: what comes meanwhile shares the next call, and so the number
// of calls does not hang on how fast this machine sends.
func burst(ctx context.Context, w *world) (string, error) {
	const name, inserting = "burst", 4
	n := w.cfg.Events
	w.org.AddFaults(fault.Fault{Operation: "collections_insert", Object: event.Object, Kind: fault.Slow, Delay: inserting * w.cfg.Latency})
	defer w.org.ClearFaults()
	var events []charge
	for i := range n {
		events = append(events, charge{Event: eventID(name, i), Charge: chargeID(name, i), Amount: int64(i + 1), Created: begin})
	}
	before := w.org.Stats().APICalls.Total
	answers, err := w.deliverAll(ctx, events, senders)
	if err != nil {
		return "", err
	}
	rows, err := w.settle(ctx, name, n)
	var e expect
	e.failed(err)
	w.callsPerEvent = float64(w.org.Stats().APICalls.Total-before) / float64(n)
	e.equal("answers", tally(answers), fmt.Sprintf("%d accepted", n))
	e.equal("completed", count(rows, event.FieldStatus, "Completed"), n)
	e.equal("payments", len(w.payments(name)), n)
	limit := maxCallsPerEvent
	if n < fullBurst {
		limit = smallBurstCalls
	}
	if w.callsPerEvent > limit {
		e.failed(fmt.Errorf("%.4f API calls per event, want at most %.3f", w.callsPerEvent, limit))
	}
	return e.detail(fmt.Sprintf("%d events, %.4f API calls each", n, w.callsPerEvent))
}

func count(rows map[string]simorg.Row, field, value string) int {
	n := 0
	for _, r := range rows {
		if text(r[field]) == value {
			n++
		}
	}
	return n
}
