package retain_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/event"
	"sfbridge/bridge/retain"
	"sfbridge/bridge/store"
	"sfbridge/salesforce"
)

func names(events map[string]*event.Event) string {
	return strings.Join(slices.Sorted(maps.Keys(events)), " ")
}

func TestTwoSteps(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	young, cleared, gone := ev(1, 29, nil), ev(2, 31, nil), ev(3, 91, nil)
	b.stage(young, cleared, gone)
	b.effect(gone, "receipt", event.EffectDone)
	report := b.sweep()
	assert.Equal(t, retain.Report{Deleted: 1, Cleared: 1, Archived: 2}, report)
	left := b.events()
	assert.Equal(t, "shop:1 shop:2", names(left))
	assert.Equal(t, `{"n":1}`, string(left["shop:1"].Payload))
	e := left["shop:2"]
	assert.True(t, e.Cleared())
	assert.Empty(t, string(e.Payload)+string(e.Context)+e.History)
	assert.Equal(t, event.Updated, e.Outcome)
	assert.Equal(t, cleared.Hash, e.Hash, "duplicates are still told")
	assert.Empty(t, b.all(event.EffectObject, event.EffectFieldKey), "effects go with their event")
	assert.Equal(t, retain.Report{}, b.sweep(), "nothing is left to do")
}

// What was sent and answered holds what the payload held, so it goes with it.
func TestEffectsAreClearedWithTheirEvent(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	young, cleared, discarded := ev(1, 29, nil), ev(2, 31, nil), ev(3, 31, ended(event.Discarded))
	b.stage(young, cleared, discarded)
	b.effect(young, "young", event.EffectDone)
	for n := range 250 {
		b.effect(cleared, fmt.Sprintf("receipt-%d", n), event.EffectDone)
	}
	b.effect(discarded, "failed", event.EffectReview)
	assert.Equal(t, retain.Report{Cleared: 2, Archived: 2}, b.sweep())
	left := b.outbox()
	assert.Len(t, left, 252)
	assert.Equal(t, `Done|{"post":{"body":1}}|HTTP 200|to ada@example.com|sent`, left["young"])
	assert.Equal(t, "Done||HTTP 200||", left["receipt-249"], "how it ended stays")
	assert.Equal(t, "Review||HTTP 200||", left["failed"])
}

func TestWhatIsLeftAlone(t *testing.T) {
	t.Parallel()
	older := func(o int64) func(*event.Event) {
		return func(e *event.Event) { e.Order, e.ObjectID = &o, "ch" }
	}
	both := func(changes ...func(*event.Event)) func(*event.Event) {
		return func(e *event.Event) {
			for _, c := range changes {
				c(e)
			}
		}
	}
	tests := []struct {
		name   string
		events []*event.Event
		effect event.EffectStatus // of the first event
		stays  bool               // the first event
	}{
		{"Completed goes", []*event.Event{ev(1, 100, nil)}, "", false},
		{"Review", []*event.Event{ev(1, 100, in(event.Review))}, "", true},
		{"Received", []*event.Event{ev(1, 100, in(event.Received))}, "", true},
		{"Retryable", []*event.Event{ev(1, 100, in(event.Retryable))}, "", true},
		{"Applied", []*event.Event{ev(1, 100, in(event.Applied))}, "", true},
		{"effect ready", []*event.Event{ev(1, 100, nil)}, event.EffectReady, true},
		{"effect retryable", []*event.Event{ev(1, 100, nil)}, event.EffectRetryable, true},
		{"effect in review", []*event.Event{ev(1, 100, nil)}, event.EffectReview, true},
		{"effect done", []*event.Event{ev(1, 100, nil)}, event.EffectDone, false},
		{"discarded, effect in review", []*event.Event{ev(1, 100, ended(event.Discarded))}, event.EffectReview, false},
		{"discarded, effect ready", []*event.Event{ev(1, 100, ended(event.Discarded))}, event.EffectReady, true},
		{"a deletion, older open", []*event.Event{ev(1, 100, both(ended(event.Deleted), older(5))), ev(2, 1, both(in(event.Received), older(4)))}, "", true},
		{"a deletion, older in review", []*event.Event{ev(1, 100, both(ended(event.Deleted), older(5))), ev(2, 1, both(in(event.Review), older(4)))}, "", true},
		{"a deletion, newer open", []*event.Event{ev(1, 100, both(ended(event.Deleted), older(5))), ev(2, 1, both(in(event.Received), older(6)))}, "", false},
		{"a deletion, older finished", []*event.Event{ev(1, 100, both(ended(event.Deleted), older(5))), ev(2, 1, older(4))}, "", false},
		{"a deletion, another's older open", []*event.Event{ev(1, 100, both(ended(event.Deleted), older(5))),
			ev(2, 1, both(in(event.Received), older(4), func(e *event.Event) { e.Source = "other" }))}, "", false},
		{"an update, older open", []*event.Event{ev(1, 100, older(5)), ev(2, 1, both(in(event.Received), older(4)))}, "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t)
			b.stage(tt.events...)
			if tt.effect != "" {
				b.effect(tt.events[0], "receipt", tt.effect)
			}
			b.sweep()
			_, stays := b.events()["shop:1"]
			assert.Equal(t, tt.stays, stays)
		})
	}
}

func TestTheOriginalOfAnOpenConflictStays(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	original := ev(1, 100, nil)
	b.stage(original)
	conflict := ev(2, 1, func(e *event.Event) { e.Status, e.ConflictOf = event.Review, original.RowID })
	b.stage(conflict)
	assert.Equal(t, retain.Report{Held: 2}, b.sweep(), "neither deleted nor cleared")
	_, err := b.client.Update(t.Context(), salesforce.Row{Object: event.Object, ID: conflict.RowID, Fields: map[string]any{
		event.FieldStatus: "Completed", event.FieldExpectedRevision: 1, event.FieldRevision: 2}})
	require.NoError(t, err)
	assert.Equal(t, 1, b.sweep().Deleted)
}

func TestFinishedLatelyStays(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	e := ev(1, 100, nil)
	b.stage(e)
	_, err := b.client.Update(t.Context(), salesforce.Row{Object: event.Object, ID: e.RowID,
		Fields: map[string]any{event.FieldProcessedAt: event.FormatTime(noon.Add(-day))}})
	require.NoError(t, err)
	assert.Equal(t, retain.Report{}, b.sweep())
}

func TestHorizonMovesBeforeRowsGo(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	same := func(e *event.Event) { e.HomeQueue = "B03" }
	b.stage(ev(1, 95, same), ev(2, 92, same), ev(3, 60, same))
	var atSleep time.Time
	b.cfg.Sleep = func(_ context.Context, d time.Duration) error {
		assert.Equal(t, 30*time.Second, d)
		assert.Len(t, b.events(), 3, "nothing is deleted yet")
		atSleep, _ = b.all(event.QueueObject, event.QueueFieldName, event.QueueFieldHorizon)["B03"].Time(event.QueueFieldHorizon)
		return nil
	}
	assert.Equal(t, 2, b.sweep().Deleted)
	assert.Equal(t, noon.Add(-92*day), atSleep, "the latest receive time that is deleted")

	b.stage(ev(4, 99, same))
	b.cfg.Sleep = func(context.Context, time.Duration) error {
		t.Error("no wait is needed: the horizon stays")
		return nil
	}
	assert.Equal(t, 1, b.sweep().Deleted)
	after, _ := b.all(event.QueueObject, event.QueueFieldName, event.QueueFieldHorizon)["B03"].Time(event.QueueFieldHorizon)
	assert.Equal(t, atSleep, after, "it never moves back")
}

func TestAReplayInTheMeantimeWins(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.stage(ev(1, 95, nil), ev(2, 95, nil))
	b.cfg.Sleep = func(ctx context.Context, _ time.Duration) error {
		_, err := b.client.Update(ctx, salesforce.Row{Object: event.Object, ID: b.events()["shop:1"].RowID, Fields: map[string]any{
			event.FieldStatus: "Received", event.FieldExpectedRevision: 1, event.FieldRevision: 7}})
		return err
	}
	report := b.sweep()
	assert.Equal(t, 1, report.Deleted)
	assert.Equal(t, 1, report.Moved)
	assert.Equal(t, event.Received, b.events()["shop:1"].Status)
}

func TestManyRowsTwoHundredACall(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	var rows []salesforce.Row
	for n := range 450 {
		e := ev(n, 95, nil)
		f := e.Insert(event.StoredPayload{Encoding: event.Plain, Text: "{}"})
		rows = append(rows, salesforce.Row{Object: event.Object, Fields: f})
	}
	_, err := b.client.InsertAll(t.Context(), rows, true)
	require.NoError(t, err)
	org := &counting{Client: b.client}
	b.cfg.Org = org
	assert.Equal(t, 450, b.sweep().Deleted)
	assert.Equal(t, 3, org.composites)
	assert.Equal(t, 8, org.queries, "page, effects, conflicts, horizons, three to archive, and what is left to clear")
	assert.Empty(t, b.events())
}

type counting struct {
	*salesforce.Client
	composites, queries int
}

func (c *counting) Query(ctx context.Context, soql string) ([]salesforce.Record, error) {
	c.queries++
	return c.Client.Query(ctx, soql)
}

func (c *counting) QueryEach(ctx context.Context, soql string, fn func(salesforce.Record) error) error {
	c.queries++
	return c.Client.QueryEach(ctx, soql, fn)
}

func (c *counting) Composite(ctx context.Context, subs []salesforce.Subrequest, allOrNone bool) ([]salesforce.Subresponse, error) {
	c.composites++
	return c.Client.Composite(ctx, subs, allOrNone)
}

// cut breaks the first transaction off: before it arrives, or after it was
// committed.
type cut struct {
	*salesforce.Client
	after bool
	calls int
}

func (o *cut) Composite(ctx context.Context, subs []salesforce.Subrequest, allOrNone bool) ([]salesforce.Subresponse, error) {
	if o.calls++; o.calls > 1 {
		return o.Client.Composite(ctx, subs, allOrNone)
	}
	if o.after {
		if _, err := o.Client.Composite(ctx, subs, allOrNone); err != nil {
			return nil, err
		}
	}
	return nil, errors.New("cut off")
}

func TestASweepThatWasBrokenOff(t *testing.T) {
	t.Parallel()
	for name, after := range map[string]bool{"between archive and deletion": false, "after the deletion": true} {
		for step, days := range map[string]int{"deleted": 95, "cleared": 40} {
			t.Run(step+", "+name, func(t *testing.T) {
				t.Parallel()
				b := newBed(t)
				b.stage(ev(1, days, nil), ev(2, days, nil))
				b.cfg.Org = &cut{Client: b.client, after: after}
				k, err := retain.New(b.cfg)
				require.NoError(t, err)
				_, err = k.Sweep(t.Context())
				require.ErrorContains(t, err, "cut off")
				if !after {
					assert.Equal(t, `{"n":1}`, string(b.events()["shop:1"].Payload), "nothing was touched")
				}
				_, err = k.Sweep(t.Context())
				require.NoError(t, err)
				assert.Equal(t, retain.Report{}, b.sweep())
				report, err := b.restore(nil)
				require.NoError(t, err)
				assert.Equal(t, 2, report.Matched, "archived twice is one event")
				assert.Equal(t, 2, report.Restored+report.Refilled)
				assert.Equal(t, `{"n":2}`, string(b.events()["shop:2"].Payload))
			})
		}
	}
}

func TestYieldsToTheBudget(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.stage(ev(1, 95, nil))
	b.cfg.Yields = func() bool { return true }
	assert.Equal(t, retain.Report{Yielded: true}, b.sweep())
	assert.Len(t, b.events(), 1)
}

func TestRunGoesOnAfterFailures(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	ctx, cancel := context.WithCancel(t.Context())
	b.cfg.Org = &failing{Client: b.client}
	b.cfg.Sleep = func(_ context.Context, d time.Duration) error {
		if b.slept = append(b.slept, d); len(b.slept) == 2 {
			cancel()
			return context.Canceled
		}
		return nil
	}
	k, err := retain.New(b.cfg)
	require.NoError(t, err)
	require.NoError(t, k.Run(ctx))
	assert.Equal(t, []time.Duration{10 * time.Minute, time.Hour}, b.slept)
}

// failing fails the first query.
type failing struct {
	*salesforce.Client
	failed bool
}

func (o *failing) Query(ctx context.Context, soql string) ([]salesforce.Record, error) {
	if !o.failed {
		o.failed = true
		return nil, errors.New("away")
	}
	return o.Client.Query(ctx, soql)
}

func TestNewChecks(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	for says, c := range map[string]retain.Config{
		"client":       {},
		"PayloadAfter": {Org: b.client},
		"shorter":      {Org: b.client, PayloadAfter: 2, RowAfter: 1},
		"owner":        {Org: b.client, PayloadAfter: 1, RowAfter: 1, Leases: store.NewMemoryLeases(nil)},
	} {
		_, err := retain.New(c)
		assert.ErrorContains(t, err, says, fmt.Sprint(says))
	}
}
