package demo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sfbridge/bridge/app"
	"sfbridge/bridge/event"
	"sfbridge/bridge/retain"
	"sfbridge/internal/pause"
	"sfbridge/salesforce"
	"sfbridge/salesforce/simorg"
)

// longAgo is when an event for retention came: nothing else is as old.
var longAgo = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

// archiveRestored has retention archive and delete an old event, puts it back
// from the archive, and delivers and replays it once more.
func archiveRestored(ctx context.Context, w *world) (string, error) {
	const name = "archive_restored"
	older := charge{Event: eventID(name, 1), Charge: chargeID(name, 1), Type: "charge.pending", Status: "pending", Amount: 300, Created: begin}
	newer := charge{Event: eventID(name, 2), Charge: chargeID(name, 1), Amount: 400, Created: begin + 60}
	var e expect
	for n, c := range []charge{older, newer} {
		_, err := w.deliver(ctx, c)
		e.failed(err)
		_, err = w.settle(ctx, name, n+1)
		e.failed(err)
	}
	before := w.staged(name)[older.id()]
	e.failed(w.age(ctx, before))
	e.failed(w.retain(ctx, name, older))
	e.equal("rows that are left", len(w.staged(name)), 1)

	e.failed(w.restore(ctx, older))
	restored := w.staged(name)[older.id()]
	for _, field := range []string{event.FieldPayload, event.FieldHash, event.FieldStatus, event.FieldOutcome} {
		e.equal("restored "+field, restored[field], before[field])
	}
	again, err := w.deliver(ctx, older)
	e.failed(err)
	e.equal("delivered again", again.Status, "duplicate")
	e.failed(w.replay(ctx, older, true))
	rows, err := w.settle(ctx, name, 2)
	e.failed(err)
	e.equal("replayed", text(rows[older.id()][event.FieldOutcome]), "Stale")
	e.payment(w, name, 1, "Succeeded", "4")
	return e.detail("archived, deleted and restored as it was; delivered again a duplicate, replayed it is Stale")
}

// age makes an event old. The horizon of its queue is there already, so that
// retention need not wait until every receiver knows of it.
func (w *world) age(ctx context.Context, row simorg.Row) error {
	at := event.FormatTime(longAgo)
	queue := salesforce.Row{Object: event.QueueObject, Fields: map[string]any{
		event.QueueFieldName: text(row[event.FieldHomeQueue]), event.QueueFieldHorizon: at,
	}}
	if _, err := w.tool.Upsert(ctx, event.QueueFieldName, queue); err != nil {
		return fmt.Errorf("setting the horizon: %w", err)
	}
	_, err := w.tool.Update(ctx, salesforce.Row{Object: event.Object, ID: text(row["Id"]), Fields: map[string]any{
		event.FieldReceivedAt: at, event.FieldProcessedAt: at,
	}})
	return err
}

// retain runs a process of retention alone until the event is gone.
func (w *world) retain(ctx context.Context, check string, gone charge) error {
	keeper, err := w.newBridge(app.Retain)
	if err != nil {
		return err
	}
	if err := keeper.Start(ctx); err != nil {
		return err
	}
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- keeper.Run(running) }()
	waiting, cancel := context.WithTimeout(ctx, w.cfg.Patience)
	defer cancel()
	for err == nil && w.staged(check)[gone.id()] != nil {
		if pause.For(waiting, look) != nil {
			err = fmt.Errorf("%s is still there after %s", gone.id(), w.cfg.Patience)
		}
	}
	stop()
	return errors.Join(err, <-ended)
}

// restore is what bridge restore does.
func (w *world) restore(ctx context.Context, c charge) error {
	var org app.Org = w.tool
	if wrap := w.cfg.Seams.Org; wrap != nil {
		org = wrap(org)
	}
	done, err := retain.Restore(ctx, retain.Restoring{
		Org: org, From: []string{w.config.Retention.ArchiveDir}, Who: "demo", Reason: "demo",
		Match: func(e *event.Event) bool { return e.ID == c.id() },
	})
	if err == nil && done.Restored != 1 {
		return fmt.Errorf("%d of 1 events restored, %d refused", done.Restored, done.Failed)
	}
	return err
}
