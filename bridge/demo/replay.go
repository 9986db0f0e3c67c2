package demo

import (
	"context"
	"errors"
	"fmt"

	"sfbridge/bridge/event"
	"sfbridge/bridge/operate"
	"sfbridge/salesforce/simorg/fault"
)

// replay sends an event into Review by a rule of the org that is then lifted,
// replays it, and replays an older event of the same charge over the newer one.
func replay(ctx context.Context, w *world) (string, error) {
	const name = "replay"
	older := charge{Event: eventID(name, 1), Charge: chargeID(name, 1), Type: "charge.pending", Status: "pending", Amount: 300, Created: begin}
	newer := charge{Event: eventID(name, 2), Charge: chargeID(name, 1), Amount: 400, Created: begin + 60}
	var e expect
	if _, err := w.deliver(ctx, older); err != nil {
		return "", err
	}
	_, err := w.settle(ctx, name, 1)
	e.failed(err)
	w.org.AddFaults(fault.Fault{Operation: "*", Object: "Payment__c", Key: newer.Charge, Kind: fault.Validation})
	_, err = w.deliver(ctx, newer)
	e.failed(err)
	rows, err := w.settle(ctx, name, 2)
	e.failed(err)
	e.equal("refused event", text(rows[source+":"+newer.Event][event.FieldStatus]), "Review")
	w.org.ClearFaults()

	e.failed(w.replay(ctx, newer, false))
	rows, err = w.settle(ctx, name, 2)
	e.failed(err)
	e.equal("after the replay", text(rows[source+":"+newer.Event][event.FieldOutcome]), "Updated")
	e.payment(w, name, 1, "Succeeded", "4")

	e.failed(w.replay(ctx, older, true))
	rows, err = w.settle(ctx, name, 2)
	e.failed(err)
	e.equal("older event replayed", text(rows[source+":"+older.Event][event.FieldOutcome]), "Stale")
	e.payment(w, name, 1, "Succeeded", "4")
	return e.detail("an event replayed out of Review was applied; an older one ended Stale and changed nothing")
}

// replay replays one event, which must not be passed over.
func (w *world) replay(ctx context.Context, c charge, force bool) error {
	done, err := w.desk.Replay(ctx, operate.Order{
		Filter: operate.Filter{IDs: []string{c.id()}}, Force: force, Who: "demo", Reason: "demo",
	})
	return errors.Join(err, one(done))
}

// one says whether an action has moved its one event.
func one(r operate.Report) error {
	if r.Done != 1 {
		return fmt.Errorf("%s: %d of 1 events (skipped %v, moved by others %d, refused %v)", r.Action, r.Done, r.Skipped, r.Moved, r.Refusals)
	}
	return nil
}
