package reconcile_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/event"
	"sfbridge/bridge/reconcile"
	"sfbridge/salesforce"
)

func (b *bed) effect(eventRow, key string, status event.EffectStatus, queue any) {
	b.t.Helper()
	e := event.Effect{Key: key, EventRow: eventRow, Name: "mail", Request: `{}`}
	fields := e.Insert()
	fields[event.EffectFieldStatus], fields[event.EffectFieldQueue] = string(status), queue
	_, err := b.client.Insert(b.t.Context(), salesforce.Row{Object: event.EffectObject, Fields: fields})
	require.NoError(b.t, err)
}

func TestStrayRowsAreSetRight(t *testing.T) {
	t.Parallel()
	b := newBed(t, whole)
	unqueued := b.row(event.Event{ID: "shop:1", ObjectID: "a"}, map[string]any{event.FieldQueue: nil})
	homeless := b.row(event.Event{ID: "shop:2", ObjectID: "b", Status: event.Retryable}, map[string]any{event.FieldQueue: nil, event.FieldHomeQueue: nil})
	kept := b.row(event.Event{ID: "shop:3", ObjectID: "c", Status: event.Completed, Outcome: event.Created}, map[string]any{event.FieldQueue: "B03"})
	ended := b.row(event.Event{ID: "shop:4", ObjectID: "d", Status: event.Applied}, nil)
	b.effect(ended, "shop:4:mail:d", event.EffectDone, nil)
	failed := b.row(event.Event{ID: "shop:5", ObjectID: "e", Status: event.Applied}, nil)
	b.effect(failed, "shop:5:mail:e", event.EffectReview, nil)
	b.effect(failed, "shop:5:task:e", event.EffectDone, nil)
	working := b.row(event.Event{ID: "shop:6", ObjectID: "f", Status: event.Applied}, nil)
	b.effect(working, "shop:6:mail:f", event.EffectRetryable, nil)
	b.effect(working, "shop:6:task:f", event.EffectReview, nil)
	stuck := b.row(event.Event{ID: "shop:7", ObjectID: "g", ReceivedAt: now.Add(-2 * time.Hour)}, nil)
	waiting := b.row(event.Event{ID: "shop:8", ObjectID: "h", Status: event.Retryable, ReceivedAt: now.Add(-2 * time.Hour)},
		map[string]any{event.FieldNextAttempt: event.FormatTime(now.Add(time.Minute))})
	b.journal.suspects = map[string]int{kept: 2, stuck: 1}

	rows := b.reconciler().Heal(t.Context())
	require.Empty(t, rows.Problem)
	assert.Equal(t, 3, rows.Unqueued, "two events and an effect")
	assert.Equal(t, 1, rows.Kept)
	assert.Equal(t, 2, rows.Ended)
	assert.Equal(t, 1, rows.Stuck)
	assert.Equal(t, 1, rows.Journal)
	assert.Equal(t, []string{kept}, b.journal.done)
	assert.Equal(t, map[string]int{"shop stuck": 1}, b.metrics.drift)
	assert.False(t, reconcile.Report{Rows: rows}.Settled(), "somebody has to look at the stuck one")

	for id, want := range map[string]struct {
		status event.Status
		queue  string
		line   string
	}{
		unqueued: {event.Received, event.HomeQueue(event.ByBridge, "shop:a"), "Received -> Received by bridge: it stood in no queue"},
		homeless: {event.Retryable, event.HomeQueue(event.ByBridge, "shop:b"), "it stood in no queue"},
		kept:     {event.Completed, "", "still stood in a queue"},
		ended:    {event.Completed, "", "Applied -> Completed by bridge: its effects were all done"},
		failed:   {event.Review, "", "Applied -> Review by bridge: an effect failed for good"},
		working:  {event.Applied, "", ""},
		waiting:  {event.Retryable, event.HomeQueue(event.ByBridge, "shop:h"), ""},
	} {
		e := b.read(id)
		assert.Equal(t, want.status, e.Status, e.ID)
		assert.Equal(t, want.queue, e.Queue, e.ID)
		assert.Contains(t, e.History, want.line)
	}
	assert.Equal(t, event.CodeEffect, b.read(failed).ErrorCode)
	effects, err := b.client.Query(t.Context(), "SELECT Id FROM Outbound_Effect__c WHERE Status__c = 'Retryable' AND Queue__c = null")
	require.NoError(t, err)
	assert.Empty(t, effects)

	again := b.reconciler().Heal(t.Context())
	assert.Zero(t, again.Unqueued+again.Kept+again.Ended, "what was set right stays so")
}

// TestARowThatMovesMeanwhileIsLeftAlone: somebody moves the row between the look
// and the change.
func TestARowThatMovesMeanwhileIsLeftAlone(t *testing.T) {
	t.Parallel()
	b := newBed(t, whole)
	id := b.row(event.Event{ID: "shop:1", ObjectID: "a"}, map[string]any{event.FieldQueue: nil})
	r := b.reconciler(func(c *reconcile.Config) { c.Org = &meddled{Client: b.client, t: t, row: id} })
	rows := r.Heal(t.Context())
	require.Empty(t, rows.Problem)
	assert.Zero(t, rows.Unqueued)
	assert.False(t, rows.Found[0].Healed)
	assert.Equal(t, event.Completed, b.read(id).Status)
}
