package bench

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"sfbridge/bridge/event"
	"sfbridge/salesforce"
)

// bulkRows is how many staging rows each way inserts.
const bulkRows = 20_000

// measureBulk inserts the same rows in calls of 200 rows, as the drain does, and
// by jobs of Bulk API 2.0, one and several at once.
func (w *world) measureBulk(ctx context.Context, r *Report) error {
	client, err := w.client()
	if err != nil {
		return err
	}
	defer client.CloseIdle()
	bulk := &bulkClient{url: w.org.URL(), token: w.org.AccessToken()}
	n := min(bulkRows, w.cfg.Outage)
	ways := []struct {
		name  string
		lanes int
		part  int // rows of one insert
		send  func(context.Context, []map[string]any) error
	}{
		{"collections, 4 calls at once", 4, salesforce.MaxRows, func(ctx context.Context, rows []map[string]any) error { return insertAll(ctx, client, rows) }},
		{"Bulk API 2.0, 1 job", 1, n, bulk.insert},
		{"Bulk API 2.0, 4 jobs at once", 4, (n + 3) / 4, bulk.insert},
	}
	for i, way := range ways {
		w.org.Reset()
		before, begun := w.read(), time.Now()
		err := inLanes(ctx, way.lanes, parts(i, n, way.part), way.send)
		if err != nil {
			return fmt.Errorf("%s: %w", way.name, err)
		}
		after := w.read()
		if after.staged != n {
			return fmt.Errorf("%s: %d rows of %d", way.name, after.staged, n)
		}
		after.at = before.at.Add(time.Since(begun))
		r.Bulk = append(r.Bulk, Row{Name: way.name, Throughput: throughput(n, before, after)})
	}
	w.org.Reset()
	return nil
}

// parts cuts n staging rows into inserts.
func parts(way, n, size int) [][]map[string]any {
	var all [][]map[string]any
	for from := 0; from < n; from += size {
		var rows []map[string]any
		for i := from; i < min(n, from+size); i++ {
			rows = append(rows, stagingFields(fmt.Sprintf("bulk%d_%d", way, i), i))
		}
		all = append(all, rows)
	}
	return all
}

// stagingFields is a staging row as the bridge writes it.
func stagingFields(id string, n int) map[string]any {
	return map[string]any{
		event.FieldID: "stripe:evt_" + id, event.FieldSource: "stripe", event.FieldType: "charge.succeeded",
		event.FieldObjectID: "ch_" + id, event.FieldPayload: string(delivery{n: n}.body()),
		event.FieldEncoding: string(event.Plain), event.FieldStatus: string(event.Received),
		event.FieldReceivedAt: event.FormatTime(time.Now()),
	}
}

// inLanes sends the parts, so many at once, until one fails.
func inLanes(ctx context.Context, lanes int, all [][]map[string]any, send func(context.Context, []map[string]any) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan []map[string]any, len(all))
	for _, rows := range all {
		next <- rows
	}
	close(next)
	var wg sync.WaitGroup
	for range lanes {
		wg.Go(func() {
			for rows := range next {
				if ctx.Err() != nil {
					return
				}
				if err := send(ctx, rows); err != nil {
					cancel(err)
				}
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

func insertAll(ctx context.Context, client *salesforce.Client, rows []map[string]any) error {
	list := make([]salesforce.Row, len(rows))
	for i, fields := range rows {
		list[i] = salesforce.Row{Object: event.Object, Fields: fields}
	}
	results, err := client.InsertAll(ctx, list, false)
	if err != nil {
		return err
	}
	for _, r := range results {
		if !r.Success {
			return errors.New("a row was refused: " + r.Fault().Code)
		}
	}
	return nil
}
