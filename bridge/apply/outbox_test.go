package apply_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/apply"
	"sfbridge/bridge/event"
	"sfbridge/salesforce"
	"sfbridge/salesforce/simorg/fault"
	"sfbridge/salesforce/soql"
)

// withEffects adds an effect on every change of a payment's state.
func withEffects(mappings string) string {
	const effects = `    effects:
      - name: moved
        when: {object: Payment__c, field: Status__c, to: [Pending, Succeeded, Refunded]}
        post: {url: "${URL}", body: {status: $.status}}
`
	parts := strings.SplitN(mappings, "name: charge\n", 2)
	at := strings.Index(parts[1], "\n  - ") + 1
	return parts[0] + "name: charge\n" + parts[1][:at] + effects + parts[1][at:]
}

var receipts = strings.Replace(shop, "  - {name: ping", `    effects:
      - name: receipt
        when: {object: Payment__c, field: Status__c, to: [Succeeded]}
        post: {url: "${URL}", secret: "${SECRET}", body: {charge: $.id}}
      - name: refund
        when: {object: Payment__c, field: Status__c, from: [Succeeded], to: [Refunded]}
        post: {url: "${URL}", body: {charge: $.id}}
  - {name: ping`, 1)

// effect reads one row of the outbox.
func (b *bed) effect(key string) *event.Effect {
	b.t.Helper()
	text, err := soql.Select(append(event.EffectFields(), event.EffectFieldRequest)...).From(event.EffectObject).
		Where(soql.Eq(event.EffectFieldKey, key)).Build()
	require.NoError(b.t, err)
	rows, err := b.client.Query(b.ctx, text)
	require.NoError(b.t, err)
	require.Len(b.t, rows, 1, key)
	e, err := event.EffectFromRecord(rows[0])
	require.NoError(b.t, err)
	return e
}

func (b *bed) set(key string, status event.EffectStatus) {
	b.t.Helper()
	row := b.effect(key)
	_, err := b.client.Update(b.ctx, salesforce.Row{Object: event.EffectObject, ID: row.RowID, Fields: map[string]any{
		event.EffectFieldStatus: string(status), event.EffectFieldQueue: nil, event.EffectFieldAttempts: 12,
	}})
	require.NoError(b.t, err)
}

// replay makes an event due again, as the operator's command does.
func (b *bed) replay(id string) {
	b.t.Helper()
	row := b.event(id)
	_, err := b.client.Update(b.ctx, salesforce.Row{Object: event.Object, ID: row.RowID, Fields: map[string]any{
		event.FieldStatus: string(event.Received), event.FieldQueue: row.HomeQueue, event.FieldReplayCount: row.ReplayCount + 1,
		event.FieldExpectedRevision: row.Revision, event.FieldRevision: row.Revision + 1,
	}})
	require.NoError(b.t, err)
}

func effectKeys(names ...string) map[string]bool {
	out := map[string]bool{}
	for _, n := range names {
		out[n] = true
	}
	return out
}

func TestEffectOfATransition(t *testing.T) {
	t.Parallel()
	told := 0
	b := newBed(t, receipts, func(c *bedConfig) { c.apply.Outbox = func(n int) { told += n } })
	b.stage(charge("e1", "ch_1", 1, "Succeeded"))
	b.apply()
	e := b.event("e1")
	assert.Equal(t, "Applied Created", b.ended("e1"))
	assert.Equal(t, b.files["shop"].Version(), e.MappingVersion)
	assert.Empty(t, e.Queue)
	assert.Contains(t, e.History, "causes receipt")
	row := b.effect("shop:e1:receipt:ch_1")
	assert.Equal(t, &event.Effect{
		RowID: row.RowID, Key: "shop:e1:receipt:ch_1", EventRow: e.RowID, Name: "receipt", Status: event.EffectReady,
		Queue: e.HomeQueue, Request: `{"post":{"body":{"charge":"ch_1"}}}`,
	}, row)
	assert.Equal(t, 1, told)
}

// Only a change fires: not the same value, not an older event, not a value that
// the record had before what the effect asks for.
func TestEffectsFireOnTransitionsOnly(t *testing.T) {
	t.Parallel()
	b := newBed(t, receipts)
	b.stage(charge("e1", "ch_1", 1, "Pending"), charge("e2", "ch_1", 2, "Succeeded"), charge("e3", "ch_1", 3, "Succeeded"),
		charge("e4", "ch_1", 4, "Refunded"), charge("f1", "ch_2", 1, "Refunded"))
	b.apply()
	assert.Equal(t, effectKeys("shop:e2:receipt:ch_1", "shop:e4:refund:ch_1"), b.outbox(), "decided event by event within a batch")
	assert.Equal(t, map[string]int{"Applied Updated": 2, "Completed Created": 2, "Completed Updated": 1}, b.tally())
	b.stage(charge("e5", "ch_1", 2, "Succeeded"), charge("e6", "ch_1", 5, "Refunded"))
	b.apply()
	assert.Equal(t, "Completed Stale", b.ended("e5"))
	assert.Equal(t, "Completed Updated", b.ended("e6"))
	assert.Len(t, b.outbox(), 2)
}

func TestEffectsOfReplayedEvents(t *testing.T) {
	t.Parallel()
	const key = "shop:e1:receipt:ch_1"
	for name, c := range map[string]struct {
		before event.EffectStatus
		later  bool // another event has written since
		want   string
		after  event.EffectStatus
	}{
		"delivered":               {event.EffectDone, false, "Completed Unchanged", event.EffectDone},
		"failed":                  {event.EffectReview, false, "Applied Unchanged", event.EffectReady},
		"to be tried again":       {event.EffectRetryable, false, "Applied Unchanged", event.EffectReady},
		"not yet delivered":       {event.EffectReady, false, "Applied Unchanged", event.EffectReady},
		"failed, and older now":   {event.EffectReview, true, "Applied Stale", event.EffectReady},
		"delivered and older now": {event.EffectDone, true, "Completed Stale", event.EffectDone},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, receipts)
			b.stage(charge("e1", "ch_1", 1, "Succeeded"))
			b.apply()
			if c.later {
				b.stage(charge("e2", "ch_1", 2, "Succeeded"))
				b.apply()
			}
			b.set(key, c.before)
			b.replay("e1")
			b.apply()
			assert.Equal(t, c.want, b.ended("e1"))
			row := b.effect(key)
			assert.Equal(t, c.after, row.Status)
			if c.before == event.EffectReview {
				assert.Equal(t, b.event("e1").HomeQueue, row.Queue)
				assert.Zero(t, row.Attempts)
				assert.Contains(t, row.History, "Review -> Ready by bridge: its event was replayed")
			}
			assert.Len(t, b.outbox(), 1)
		})
	}
}

// Under another mapping a replay may make the transition once more; the key
// exists, and nothing is sent again.
func TestEffectOfAReplayUnderAnotherMapping(t *testing.T) {
	t.Parallel()
	b := newBed(t, receipts)
	b.stage(charge("e1", "ch_1", 1, "Succeeded"))
	b.apply()
	b.set("shop:e1:receipt:ch_1", event.EffectDone)
	row := b.payments()["ch_1"]
	_, err := b.client.Update(b.ctx, salesforce.Row{Object: "Payment__c", ID: row.ID(), Fields: map[string]any{"Status__c": "Pending"}})
	require.NoError(t, err)
	b.maps(strings.Replace(receipts, "Note__c: $.note", "Note__c: {value: again}", 1))
	b.replay("e1")
	b.apply()
	assert.Equal(t, "Completed Updated", b.ended("e1"))
	assert.Equal(t, "Succeeded", b.payments()["ch_1"].String("Status__c"))
	assert.Len(t, b.outbox(), 1)
}

// A mapping that ignores an event now, or writes no record for it any more,
// leaves what the event has caused before to be delivered.
func TestEffectsOfAReplayThatWritesNothing(t *testing.T) {
	t.Parallel()
	const key = "shop:e1:receipt:ch_1"
	ignored := strings.Replace(receipts, "when: {type: charge.updated}", "when: {type: [other]}", 1) + "  - {name: gone, when: {type: charge.updated}, ignore: true}\n"
	for name, c := range map[string]struct {
		mapping string
		before  event.EffectStatus
		want    string
		after   event.EffectStatus
	}{
		"failed, ignored now":    {ignored, event.EffectReview, "Applied Ignored", event.EffectReady},
		"delivered, ignored now": {ignored, event.EffectDone, "Completed Ignored", event.EffectDone},
		"failed, unmatched now":  {strings.Replace(receipts, "type: charge.updated", "type: other", 1), event.EffectReview, "Review UNMATCHED", event.EffectReview},
		"failed, no records now": {strings.Replace(receipts, "key: {field: Stripe_Charge_Id__c, from: $.id}", `each: "$.none[*]"
        key: {field: Stripe_Charge_Id__c, template: "{$.id}/{@.id}"}`, 1), event.EffectReview, "Applied Unchanged", event.EffectReady},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			told := 0
			b := newBed(t, receipts, func(bc *bedConfig) { bc.apply.Outbox = func(n int) { told += n } })
			b.stage(charge("e1", "ch_1", 1, "Succeeded"))
			b.apply()
			b.set(key, c.before)
			require.NotEqual(t, receipts, c.mapping)
			b.maps(c.mapping)
			b.replay("e1")
			told = 0
			b.apply()
			assert.Equal(t, c.want, b.ended("e1"))
			row := b.effect(key)
			assert.Equal(t, c.after, row.Status)
			assert.Len(t, b.outbox(), 1)
			if c.after == event.EffectReady {
				assert.Equal(t, b.event("e1").HomeQueue, row.Queue)
				assert.Contains(t, row.History, "Review -> Ready by bridge: its event was replayed")
				assert.Contains(t, b.event("e1").History, "causes receipt")
				assert.Equal(t, 1, told)
			}
		})
	}
}

// A key that exists although the event was never replayed (its row was restored
// from a backup, say) is read, and not inserted again.
func TestEffectKeyThatExists(t *testing.T) {
	t.Parallel()
	for _, unsure := range [][]string{nil, {"culprit-unnamed"}} {
		t.Run(fmt.Sprint(unsure), func(t *testing.T) {
			t.Parallel()
			b := newBed(t, receipts, func(c *bedConfig) { c.org.Unsure = unsure })
			_, err := b.client.Insert(b.ctx, salesforce.Row{Object: event.EffectObject, Fields: map[string]any{
				event.EffectFieldKey: "shop:e1:receipt:ch_1", event.EffectFieldStatus: string(event.EffectDone),
			}})
			require.NoError(t, err)
			b.stage(charge("e1", "ch_1", 1, "Succeeded"), charge("e2", "ch_2", 1, "Succeeded"))
			b.apply()
			assert.Equal(t, "Completed Created", b.ended("e1"))
			assert.Equal(t, "Applied Created", b.ended("e2"))
			assert.Len(t, b.outbox(), 2)
		})
	}
}

// An effect whose values the event lacks sends it to a person before anything
// is written.
func TestEffectThatCantBeFilled(t *testing.T) {
	t.Parallel()
	b := newBed(t, strings.Replace(receipts, `post: {url: "${URL}", secret: "${SECRET}", body: {charge: $.id}}`,
		`salesforce: {object: Payment_Line__c, key: {field: Line_Key__c, from: $.line}, fields: {Qty__c: {value: 1}}}`, 1))
	b.stage(charge("e1", "ch_1", 1, "Succeeded"), charge("e2", "ch_2", 1, "Pending"))
	b.apply()
	assert.Equal(t, "Review FIELD", b.ended("e1"))
	assert.Contains(t, b.event("e1").Error, "Payment_Line__c.Line_Key__c from $.line")
	assert.Equal(t, "Completed Created", b.ended("e2"))
	assert.NotContains(t, b.payments(), "ch_1")
}

// The outbox costs no call of its own, and a bad row of 200 takes only its own
// effect with it.
func TestEffectsOfAFullBatch(t *testing.T) {
	t.Parallel()
	count := func(mappings string) int {
		b := newBed(t, mappings)
		var events []ev
		for i := range 200 {
			events = append(events, charge(fmt.Sprintf("e%03d", i), fmt.Sprintf("ch_%03d", i), 1, "Succeeded"))
		}
		b.stage(events...)
		due := b.due()
		return b.calls(func() {
			_, err := b.applier.Apply(b.ctx, due)
			require.NoError(t, err)
		})
	}
	assert.Equal(t, count(shop), count(receipts))

	b := newBed(t, receipts)
	var events []ev
	for i := range 200 {
		status := "Succeeded"
		if i == 77 {
			status = "No such state"
		}
		events = append(events, charge(fmt.Sprintf("e%03d", i), fmt.Sprintf("ch_%03d", i), 1, status))
	}
	b.stage(events...)
	b.apply()
	assert.Equal(t, map[string]int{"Applied Created": 199, "Review INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST": 1}, b.tally())
	assert.Len(t, b.outbox(), 199)
}

// Whatever becomes of the call, the effect exists exactly when the record does.
func TestEffectsUnderFaults(t *testing.T) {
	t.Parallel()
	for _, kind := range []fault.Kind{fault.DropAfter, fault.DropBefore, fault.LockRow, fault.HTML200, fault.Truncated} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			b := newBed(t, receipts, func(c *bedConfig) { c.org.Unsure = []string{"culprit-unnamed"} })
			b.stage(charge("e1", "ch_1", 1, "Succeeded"), charge("e2", "ch_2", 1, "Succeeded"))
			due := b.due()
			b.plant(fault.Fault{Operation: fault.Composite, Kind: kind, After: 0})
			_, _ = b.applier.Apply(b.ctx, due)
			b.org.ClearFaults()
			b.apply()
			assert.Equal(t, effectKeys("shop:e1:receipt:ch_1", "shop:e2:receipt:ch_2"), b.outbox())
			assert.Equal(t, map[string]int{"Applied Created": 2}, b.tally())
		})
	}
}

// noOutbox is an org that lacks the outbox.
type noOutbox struct{ apply.Org }

func (o noOutbox) Composite(ctx context.Context, subs []salesforce.Subrequest, allOrNone bool) ([]salesforce.Subresponse, error) {
	answers := make([]salesforce.Subresponse, len(subs))
	refused := false
	for i, s := range subs {
		fault := salesforce.Fault{Code: "PROCESSING_HALTED", Class: salesforce.ClassCollateral}
		if strings.HasPrefix(s.Ref, "x") {
			fault, refused = salesforce.Fault{Code: "INVALID_TYPE", Class: salesforce.ClassConfiguration}, true
		}
		answers[i] = salesforce.Subresponse{Ref: s.Ref, Status: 400, Faults: []salesforce.Fault{fault}}
	}
	if refused {
		return answers, nil
	}
	return o.Org.Composite(ctx, subs, allOrNone)
}

// An org that doesn't take outbox rows at all stops everything: without them,
// events must not be applied.
func TestOrgWithoutOutbox(t *testing.T) {
	t.Parallel()
	b := newBed(t, receipts, func(c *bedConfig) { c.wrap = func(o apply.Org) apply.Org { return noOutbox{o} } })
	b.stage(charge("e1", "ch_1", 1, "Succeeded"))
	_, err := b.applier.Apply(b.ctx, b.due())
	assert.Equal(t, salesforce.ClassConfiguration, salesforce.ClassOf(err))
	assert.Equal(t, "Received", b.ended("e1"))
	assert.Empty(t, b.payments())
}
