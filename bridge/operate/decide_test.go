package operate_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/event"
	"sfbridge/bridge/operate"
	"sfbridge/salesforce"
)

// conflictOf is a conflict row of event n.
func conflictOf(n int) *event.Event {
	return ev(n, func(e *event.Event) {
		e.ID, e.ErrorCode, e.Outcome = event.ConflictID(e.ID, "abcdef0123456789"), event.CodeConflict, event.Conflict
	})
}

var shop = operate.Filter{Source: "shop"}

func TestDiscard(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.stage(nil, ev(1, nil), conflictOf(1), ev(2, as(event.Completed)), ev(3, as(event.Received)), ev(4, as(event.Applied)), ev(5, as(event.Retryable)))
	dry, err := b.Discard(t.Context(), operate.Order{Filter: shop, Reason: "a test", DryRun: true})
	require.NoError(t, err)
	report, err := b.Discard(t.Context(), operate.Order{Filter: shop, Who: "ada", Reason: "a test\nof theirs"})
	require.NoError(t, err)
	assert.Equal(t, 2, report.Done)
	assert.Equal(t, map[string]int{"FIELD": 1, "CONFLICT": 1}, report.ByCode)
	assert.Equal(t, map[string]int{"status Completed": 1, "status Received": 1, "status Applied": 1, "status Retryable": 1}, report.Skipped)
	assert.Zero(t, dry.Done)
	assert.Equal(t, report.ByCode, dry.ByCode)
	e := b.now("shop:1")
	assert.Equal(t, event.Completed, e.Status)
	assert.Equal(t, event.Discarded, e.Outcome)
	assert.Empty(t, e.Queue)
	assert.Equal(t, noon, e.ProcessedAt)
	assert.Equal(t, event.CodeField, e.ErrorCode, "it tells what was discarded")
	assert.Contains(t, e.History, "Review -> Completed by ada: discard: a test of theirs")
	assert.Zero(t, b.woken)
}

func TestAccept(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	conflict := conflictOf(1)
	b.stage(nil, ev(1, nil), conflict)
	report, err := b.Accept(t.Context(), operate.Order{Filter: shop, Who: "ada", Reason: "the shop has confirmed it"})
	require.NoError(t, err)
	assert.Equal(t, 1, report.Done)
	assert.Equal(t, map[string]int{"no conflict row, to be replayed or discarded": 1}, report.Skipped)
	e := b.now(conflict.ID)
	assert.Equal(t, event.Received, e.Status)
	assert.Equal(t, e.HomeQueue, e.Queue)
	assert.Empty(t, e.Outcome)
	assert.Contains(t, e.History, "Review -> Received by ada: accept: the shop has confirmed it")
	assert.Equal(t, 1, b.woken)
	assert.Equal(t, event.Review, b.now("shop:1").Status)
}

func TestDecisionsNeedAReason(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	_, discard := b.Discard(t.Context(), operate.Order{Filter: shop, Reason: " "})
	_, accept := b.Accept(t.Context(), operate.Order{Filter: shop})
	for _, err := range []error{discard, accept} {
		var wrong *operate.UsageError
		assert.ErrorAs(t, err, &wrong)
		assert.ErrorContains(t, err, "a reason is needed")
	}
	_, discard = b.Discard(t.Context(), operate.Order{Filter: shop, Reason: "x", Force: true})
	_, accept = b.Accept(t.Context(), operate.Order{Filter: shop, Reason: "x", Force: true})
	for _, err := range []error{discard, accept} {
		assert.ErrorContains(t, err, "force is for replays")
	}
}

func TestReplayLeavesAlone(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	discarded := conflictOf(1)
	discarded.Status, discarded.Outcome = event.Completed, event.Discarded
	b.stage(nil, discarded)
	b.stage(map[string]any{event.FieldEncoding: nil, event.FieldPayload: nil}, ev(2, as(event.Completed)))
	f := operate.Filter{IDs: []string{discarded.ID, "shop:2", "shop:404", "shop:404"}}
	report, err := b.Replay(t.Context(), operate.Order{Filter: f, Force: true})
	require.NoError(t, err)
	assert.Zero(t, report.Matched)
	assert.Equal(t, map[string]int{
		"conflict, to be accepted or discarded":                      1,
		"its payload was cleared by retention, to be restored first": 1,
		"no such event among those chosen":                           1,
	}, report.Skipped)
	assert.Equal(t, []string{"shop:404"}, report.Missing)
}

// effect puts a row into the outbox of an event.
func (b *bed) effect(e *event.Event, name string, status event.EffectStatus) {
	b.t.Helper()
	x := &event.Effect{Key: event.EffectKey(e.ID, name, "ch_1"), EventRow: e.RowID, Name: name, Request: "{}"}
	fields := x.Insert()
	fields[event.EffectFieldStatus], fields[event.EffectFieldAttempts] = string(status), 12
	_, err := b.client.Insert(b.t.Context(), salesforce.Row{Object: event.EffectObject, Fields: fields})
	require.NoError(b.t, err)
}

// effects gives the outbox of an event: status and queue by name.
func (b *bed) effects(id string) map[string]string {
	b.t.Helper()
	story, err := b.Show(b.t.Context(), id)
	require.NoError(b.t, err)
	found := map[string]string{}
	for _, e := range story.Effects {
		found[e.Name] = string(e.Status) + " " + e.Queue
	}
	return found
}

func TestReplayOfFailedEffectsLeavesRecordsAlone(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	failed := func(e *event.Event) { e.ErrorCode, e.Outcome = event.CodeEffect, event.Updated }
	one, two, gone := ev(1, failed), ev(2, nil), ev(3, failed)
	b.stage(nil, one, two, gone)
	b.effect(one, "receipt", event.EffectReview)
	b.effect(one, "notice", event.EffectDone)
	report, err := b.Replay(t.Context(), operate.Order{Filter: shop, Who: "ada", Reason: "they are up again"})
	require.NoError(t, err)
	assert.Equal(t, 3, report.Done, "%+v", report)
	e := b.now("shop:1")
	assert.Equal(t, event.Applied, e.Status)
	assert.Equal(t, event.Updated, e.Outcome)
	assert.Empty(t, e.Queue+e.ErrorCode)
	assert.Equal(t, 1, e.ReplayCount)
	assert.Contains(t, e.History, "Review -> Applied by ada: replay: they are up again")
	assert.Equal(t, map[string]string{"receipt": "Ready " + e.HomeQueue, "notice": "Done "}, b.effects("shop:1"))
	assert.Equal(t, 1, b.ready)
	assert.Equal(t, event.Received, b.now("shop:2").Status)
	assert.Equal(t, event.Received, b.now("shop:3").Status, "its effects are gone: it is decided anew")
	assert.Equal(t, 2, b.woken)
}

func TestReplayOfFailedEffectsLosesARace(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	e := ev(1, func(e *event.Event) { e.ErrorCode = event.CodeEffect })
	b.stage(nil, e)
	b.effect(e, "receipt", event.EffectReview)
	org := &racing{Client: b.client, race: func() {
		_, err := b.Discard(t.Context(), operate.Order{Filter: shop, Reason: "first"})
		require.NoError(t, err)
	}}
	report, err := b.desk(org).Replay(t.Context(), operate.Order{Filter: shop})
	require.NoError(t, err)
	assert.Equal(t, 1, report.Moved, "%+v", report)
	assert.Equal(t, event.Discarded, b.now("shop:1").Outcome)
	assert.Equal(t, map[string]string{"receipt": "Review "}, b.effects("shop:1"), "all of it or none")
}

// racing lets somebody else act just before a graph is sent.
type racing struct {
	*salesforce.Client
	race func()
}

func (o *racing) Graph(ctx context.Context, graphs []salesforce.Graph) ([]salesforce.GraphResult, error) {
	o.race()
	return o.Client.Graph(ctx, graphs)
}

func TestDiscardEndsOpenEffects(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	one, two := ev(1, func(e *event.Event) { e.ErrorCode, e.Outcome = event.CodeEffect, event.Updated }), ev(2, nil)
	b.stage(nil, one, two)
	for name, status := range map[string]event.EffectStatus{
		"failed": event.EffectReview, "later": event.EffectRetryable, "fresh": event.EffectReady, "sent": event.EffectDone,
	} {
		b.effect(one, name, status)
	}
	report, err := b.Discard(t.Context(), operate.Order{Filter: shop, Who: "ada", Reason: "a test"})
	require.NoError(t, err)
	assert.Equal(t, 2, report.Done, "%+v", report)
	assert.Equal(t, map[string]string{"failed": "Review ", "later": "Review ", "fresh": "Review ", "sent": "Done "}, b.effects("shop:1"))
	story, err := b.Show(t.Context(), "shop:1")
	require.NoError(t, err)
	assert.Equal(t, event.Discarded, story.Event.Outcome)
	for _, e := range story.Effects {
		assert.Equal(t, e.Name == "later", e.History == "2026-01-01T12:00:00Z Retryable -> Review by ada: its event was discarded", e.History)
		assert.True(t, e.NextAttempt.IsZero())
	}
	assert.Zero(t, b.ready)

	_, err = b.Replay(t.Context(), operate.Order{Filter: operate.Filter{IDs: []string{"shop:1"}}, Force: true})
	require.NoError(t, err)
	assert.Equal(t, event.Received, b.now("shop:1").Status, "it is decided anew, with its effects")
}

func TestDiscardThatLosesARaceEndsNoEffect(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	e := ev(1, func(e *event.Event) { e.ErrorCode = event.CodeEffect })
	b.stage(nil, e)
	b.effect(e, "failed", event.EffectReview)
	b.effect(e, "later", event.EffectRetryable)
	org := &racing{Client: b.client, race: func() {
		_, err := b.Replay(t.Context(), operate.Order{Filter: shop})
		require.NoError(t, err)
	}}
	report, err := b.desk(org).Discard(t.Context(), operate.Order{Filter: shop, Reason: "a test"})
	require.NoError(t, err)
	assert.Equal(t, 1, report.Moved, "%+v", report)
	assert.Equal(t, event.Applied, b.now("shop:1").Status)
	assert.Equal(t, map[string]string{"failed": "Ready " + e.HomeQueue, "later": "Retryable "}, b.effects("shop:1"))
}
