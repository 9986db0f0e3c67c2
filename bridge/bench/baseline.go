package bench

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"sfbridge/bridge/event"
	"sfbridge/internal/pause"
	"sfbridge/salesforce"
	"sfbridge/salesforce/auth"
)

// measureBaseline measures code that takes one event after the other through
// three calls: insert the staging row, upsert the record, update the staging
// row.
func (w *world) measureBaseline(ctx context.Context, r *Report) error {
	client, err := w.client()
	if err != nil {
		return err
	}
	defer client.CloseIdle()
	begin := w.read()
	working, stop := context.WithCancel(ctx)
	var done atomic.Int64
	var workers errgroup.Group
	for n := range w.cfg.Workers {
		workers.Go(func() error {
			defer stop()
			for ; working.Err() == nil; n += w.cfg.Workers {
				if err := carry(ctx, client, n); err != nil {
					return err
				}
				done.Add(1)
			}
			return nil
		})
	}
	if pause.For(working, w.cfg.WarmUp) == nil {
		before, begun := w.read(), done.Load()
		_ = pause.For(working, w.cfg.Window)
		_ = wait(working, 10*time.Millisecond, func() (bool, error) { return done.Load() > begun, nil })
		r.Baseline = Row{Name: "one call after the other, three an event", Throughput: throughput(int(done.Load()-begun), before, w.read())}
	}
	stop()
	if err := errors.Join(workers.Wait(), ctx.Err()); err != nil {
		return err
	}
	r.Baseline.of(throughput(int(done.Load()), begin, w.read()))
	r.Table = append(r.Table, r.Baseline)
	return nil
}

// client is the product's own, on the session that the org gave.
func (w *world) client() (*salesforce.Client, error) {
	transport := salesforce.NewTransport()
	source, err := auth.New(auth.Config{
		Flow: auth.GivenSession, InstanceURL: w.org.URL(), AccessToken: salesforce.Secret(w.org.AccessToken()),
		AllowHTTP: true, Transport: transport,
	})
	if err != nil {
		return nil, err
	}
	return salesforce.New(salesforce.Config{Sessions: source, Transport: transport})
}

// carry takes one event home.
func carry(ctx context.Context, client *salesforce.Client, n int) error {
	id := fmt.Sprint("single_", n)
	staged, err := client.Insert(ctx, salesforce.Row{Object: event.Object, Fields: stagingFields(id, n)})
	if err != nil {
		return fmt.Errorf("inserting: %w", err)
	}
	record, err := client.Upsert(ctx, "Stripe_Charge_Id__c", salesforce.Row{Object: target, Fields: map[string]any{
		"Stripe_Charge_Id__c": "ch_" + id, "Amount__c": n, "Currency__c": "EUR", "Status__c": "Succeeded",
		"Note__c": fmt.Sprintf("Order %d", n), "Origin__c": "Stripe",
	}})
	if err != nil {
		return fmt.Errorf("upserting: %w", err)
	}
	_, err = client.Update(ctx, salesforce.Row{Object: event.Object, ID: staged.ID, Fields: map[string]any{
		event.FieldStatus: string(event.Completed), event.FieldOutcome: string(event.Created), event.FieldTargetID: record.ID,
		event.FieldExpectedRevision: 1, event.FieldRevision: 2, event.FieldProcessedAt: event.FormatTime(time.Now()),
	}})
	if err != nil {
		return fmt.Errorf("updating: %w", err)
	}
	return nil
}
