package operate_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/event"
	"sfbridge/bridge/operate"
	"sfbridge/salesforce"
)

func TestReplay(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.stage(map[string]any{event.FieldAttempts: 12, event.FieldReplayCount: 1, event.FieldMappingVersion: "abc"}, ev(1, nil))
	before := b.now("shop:1")
	report, err := b.Replay(t.Context(), operate.Order{
		Filter: operate.Filter{IDs: []string{"shop:1"}}, Who: "ada", Reason: "the mapping\nis fixed",
	})
	require.NoError(t, err)
	assert.Equal(t, 1, report.Matched)
	assert.Equal(t, 1, report.Done)
	assert.Equal(t, 1, b.woken)
	e := b.now("shop:1")
	assert.Equal(t, event.Received, e.Status)
	assert.Equal(t, e.HomeQueue, e.Queue)
	assert.Zero(t, e.Attempts)
	assert.Equal(t, 2, e.ReplayCount)
	assert.Empty(t, e.ErrorCode+e.Error)
	assert.True(t, e.NextAttempt.IsZero())
	assert.Equal(t, "abc", e.MappingVersion, "it tells whether there is anything to do")
	assert.Greater(t, e.Revision, before.Revision)
	assert.Equal(t, "staged\n2026-01-01T12:00:00Z Review -> Received by ada: replay: the mapping is fixed", e.History)
}

func TestReplayChooses(t *testing.T) {
	t.Parallel()
	all := func() []*event.Event {
		return []*event.Event{
			ev(1, nil), ev(2, func(e *event.Event) { e.ErrorCode = event.CodeUnmatched }), ev(3, as(event.Completed)),
			ev(4, as(event.Received)), ev(5, as(event.Retryable)), ev(6, as(event.Applied)),
			ev(7, func(e *event.Event) { e.ID, e.ErrorCode = event.ConflictID("shop:1", "abcd"), event.CodeConflict }),
		}
	}
	shop := operate.Filter{Source: "shop"}
	one := shop
	one.Limit = 1
	tests := []struct {
		name     string
		replay   operate.Order
		replayed int
		byCode   map[string]int
		skipped  int
	}{
		{"by source", operate.Order{Filter: shop}, 2, map[string]int{"FIELD": 1, "UNMATCHED": 1}, 5},
		{"with force", operate.Order{Filter: shop, Force: true}, 3, map[string]int{"FIELD": 1, "UNMATCHED": 1, "": 1}, 4},
		{"dry run", operate.Order{Filter: shop, DryRun: true}, 0, map[string]int{"FIELD": 1, "UNMATCHED": 1}, 5},
		{"limit", operate.Order{Filter: one}, 1, map[string]int{"FIELD": 1}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t)
			b.stage(nil, all()...)
			report, err := b.Replay(t.Context(), tt.replay)
			require.NoError(t, err)
			assert.Equal(t, tt.replayed, report.Done)
			assert.Equal(t, tt.byCode, report.ByCode)
			skipped := 0
			for _, n := range report.Skipped {
				skipped += n
			}
			assert.Equal(t, tt.skipped, skipped, "%v", report.Skipped)
			left, err := b.List(t.Context(), operate.Filter{Status: []event.Status{event.Received}})
			require.NoError(t, err)
			assert.Len(t, left, tt.replayed+1)
		})
	}
}

// brokenOff fails a call of UpdateAll, and lets somebody else move rows first.
type brokenOff struct {
	*salesforce.Client
	calls  int
	failAt int
	race   func()
	err    error
}

func (o *brokenOff) UpdateAll(ctx context.Context, rows []salesforce.Row, allOrNone bool) ([]salesforce.SaveResult, error) {
	o.calls++
	if o.race != nil {
		o.race()
	}
	if o.calls == o.failAt {
		return nil, o.err
	}
	return o.Client.UpdateAll(ctx, rows, allOrNone)
}

func TestReplayOfManyIsResumed(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	var events []*event.Event
	for n := range 450 {
		events = append(events, ev(n, nil))
	}
	b.stage(nil, events...)
	org := &brokenOff{Client: b.client, failAt: 2, err: errors.New("gone away")}
	var told []int
	request := operate.Order{
		Filter:   operate.Filter{Status: []event.Status{event.Review}},
		Progress: func(r operate.Report) { told = append(told, r.Done) },
	}
	report, err := b.desk(org).Replay(t.Context(), request)
	assert.ErrorIs(t, err, org.err)
	assert.ErrorContains(t, err, "start it again")
	assert.Equal(t, 200, report.Done)

	report, err = b.desk(org).Replay(t.Context(), request)
	require.NoError(t, err)
	assert.Equal(t, 250, report.Done)
	assert.Equal(t, []int{200, 200, 250}, told)
	assert.Equal(t, 4, org.calls, "200 a call")
	assert.Equal(t, 450, b.woken)
}

func TestReplayThatLosesARace(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	e, refused := ev(1, nil), ev(2, nil)
	b.stage(nil, e, refused)
	org := &brokenOff{Client: b.client, race: func() {
		_, err := b.client.Update(t.Context(), salesforce.Row{Object: event.Object, ID: e.RowID, Fields: map[string]any{
			event.FieldExpectedRevision: 1, event.FieldRevision: 2, event.FieldStatus: "Completed"}})
		require.NoError(t, err)
	}}
	report, err := b.desk(org).Replay(t.Context(), operate.Order{Filter: operate.Filter{Source: "shop"}})
	require.NoError(t, err)
	assert.Equal(t, 1, report.Moved)
	assert.Equal(t, 1, report.Done)
	assert.Equal(t, event.Completed, b.now("shop:1").Status)
}

// refusing is an org that holds rows and refuses every change of them.
type refusing struct{ records []salesforce.Record }

func (o *refusing) Query(context.Context, string) ([]salesforce.Record, error) {
	page := o.records[:min(200, len(o.records))]
	o.records = o.records[len(page):]
	return page, nil
}

func (o *refusing) Graph(context.Context, []salesforce.Graph) ([]salesforce.GraphResult, error) {
	return nil, errors.New("no graph is expected")
}

func (o *refusing) UpdateAll(_ context.Context, rows []salesforce.Row, _ bool) ([]salesforce.SaveResult, error) {
	results := make([]salesforce.SaveResult, len(rows))
	for i := range results {
		results[i].Errors = []salesforce.Fault{{Code: "INSUFFICIENT_ACCESS", Message: "no"}}
	}
	return results, nil
}

func newRefusing(n int) *refusing {
	o := &refusing{}
	for i := range n {
		o.records = append(o.records, salesforce.Record{"Id": fmt.Sprintf("a00%015d", i),
			event.FieldID: fmt.Sprintf("shop:%d", i), event.FieldStatus: "Review", event.FieldEncoding: "Plain"})
	}
	return o
}

func TestReplayNamesRefusals(t *testing.T) {
	t.Parallel()
	d, err := operate.New(operate.Config{Org: newRefusing(450)})
	require.NoError(t, err)
	report, err := d.Replay(t.Context(), operate.Order{Filter: operate.Filter{Source: "shop"}})
	require.NoError(t, err)
	assert.Equal(t, 450, report.Failed)
	assert.Len(t, report.Refusals, 20, "all are counted, some are named")
	assert.Equal(t, operate.Refusal{EventID: "shop:0", Code: "INSUFFICIENT_ACCESS", Message: "no"}, report.Refusals[0])
}

func TestReplayIsRateLimited(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, err := operate.New(operate.Config{Org: newRefusing(600), Rate: 50})
		require.NoError(t, err)
		start := time.Now()
		_, err = d.Replay(t.Context(), operate.Order{Filter: operate.Filter{Source: "shop"}})
		require.NoError(t, err)
		assert.Equal(t, 8*time.Second, time.Since(start), "the first 200 go at once")

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		d, err = operate.New(operate.Config{Org: newRefusing(600), Rate: 50})
		require.NoError(t, err)
		_, err = d.Replay(ctx, operate.Order{Filter: operate.Filter{Source: "shop"}})
		assert.ErrorContains(t, err, "rate limit")
	})
}
