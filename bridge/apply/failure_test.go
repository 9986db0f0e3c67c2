package apply_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/apply"
	"sfbridge/bridge/event"
	"sfbridge/salesforce"
	"sfbridge/salesforce/simorg/fault"
)

func charges(n int) []ev {
	events := make([]ev, n)
	for i := range events {
		events[i] = charge(fmt.Sprintf("e%03d", i), fmt.Sprintf("ch_%03d", i), 1, "Pending")
	}
	return events
}

// tally counts how the staged rows ended.
func (b *bed) tally() map[string]int {
	b.t.Helper()
	out := map[string]int{}
	for _, row := range b.org.Rows(event.Object) {
		text := fmt.Sprint(row[event.FieldStatus])
		for _, field := range []string{event.FieldOutcome, event.FieldErrorCode} {
			if row[field] != nil {
				text += fmt.Sprint(" ", row[field])
			}
		}
		out[text]++
	}
	return out
}

func TestOneBadRowOf200(t *testing.T) {
	t.Parallel()
	b := newBed(t, shop)
	b.stage(charges(200)...)
	b.plant(fault.Fault{Operation: fault.CollectionsUpsert, Object: "Payment__c", Key: "ch_077", Kind: fault.Validation, Times: 9})
	b.apply()
	assert.Equal(t, map[string]int{"Completed Created": 199, "Review FIELD_CUSTOM_VALIDATION_EXCEPTION": 1}, b.tally())
	assert.Equal(t, "Review FIELD_CUSTOM_VALIDATION_EXCEPTION", b.ended("e077"))
	assert.Len(t, b.payments(), 199)
}

// Later events of an entity go on when the bad one is in Review.
func TestReviewHoldsNothingBack(t *testing.T) {
	t.Parallel()
	b := newBed(t, shop)
	b.stage(charge("e1", "ch_1", 1, "Nonsense"), charge("e2", "ch_1", 2, "Pending"), charge("e3", "ch_2", 1, "Pending"))
	b.apply()
	assert.Equal(t, "Review INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST", b.ended("e1"))
	assert.Equal(t, "Completed Created", b.ended("e2"))
	assert.Equal(t, "Completed Created", b.ended("e3"))
}

// A value that Salesforce can't parse fails the whole call; it is found by
// halves, within the bound.
func TestBisectsARefusedCall(t *testing.T) {
	t.Parallel()
	b := newBed(t, strings.Replace(shop, "{from: $.amount, as: number}", "$.amount", 1))
	b.stage(charge("warm", "ch_warm", 1, "Pending"))
	b.apply()
	events := charges(199)
	events = append(events, charge("bad", "ch_bad", 1, "Pending").with(map[string]any{"amount": "N0100"}))
	b.stage(events...)
	calls := b.calls(func() { b.apply() })
	assert.Equal(t, map[string]int{"Completed Created": 200, "Review JSON_PARSER_ERROR": 1}, b.tally())
	assert.Equal(t, "Review JSON_PARSER_ERROR", b.ended("bad"))
	const reads, outcome, bound = 2, 1, 2*8 + 1
	assert.LessOrEqual(t, calls, reads+outcome+bound)
}

func TestRowsLocked(t *testing.T) {
	t.Parallel()
	for _, kind := range []fault.Kind{fault.LockRow, fault.LockNested} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			b := newBed(t, shop)
			b.stage(charges(20)...)
			b.plant(fault.Fault{Operation: fault.Any, Object: "Payment__c", Key: "ch_007", Kind: kind, Times: 2})
			b.apply()
			assert.Equal(t, map[string]int{"Completed Created": 20}, b.tally())
		})
		t.Run(string(kind)+"ForLong", func(t *testing.T) {
			t.Parallel()
			b := newBed(t, shop)
			b.stage(charges(20)...)
			b.stage(charge("after", "ch_007", 2, "Succeeded"))
			b.plant(fault.Fault{Operation: fault.Any, Object: "Payment__c", Key: "ch_007", Kind: kind, Times: 1000})
			b.apply()
			row := b.event("e007")
			assert.Equal(t, event.Retryable, row.Status)
			assert.Zero(t, row.Attempts)
			assert.Equal(t, event.Received, b.event("after").Status, "waits for the locked one")
			assert.Equal(t, 19, b.tally()["Completed Created"])

			b.org.ClearFaults()
			b.now = b.now.Add(time.Hour)
			b.apply()
			assert.Equal(t, "Completed Created", b.ended("e007"))
			assert.Equal(t, "Completed Updated", b.ended("after"))
		})
	}
}

// Whatever happens to a call, the events end once and the same, and no attempt
// is charged.
func TestCallFaults(t *testing.T) {
	t.Parallel()
	kinds := []fault.Kind{
		fault.Unavailable, fault.HTML503, fault.HTML200, fault.DropBefore, fault.DropAfter, fault.ExpireSession,
		fault.Malformed, fault.Truncated,
	}
	for _, op := range []fault.Operation{fault.Composite, fault.CollectionsUpsert, fault.CollectionsUpdate, fault.Query} {
		for _, kind := range kinds {
			t.Run(string(op)+"/"+string(kind), func(t *testing.T) {
				t.Parallel()
				b := newBed(t, shop)
				b.stage(charge("old", "ch_1", 1, "Pending"))
				b.apply()
				b.stage(charge("new", "ch_1", 2, "Succeeded"), charge("e2", "ch_2", 1, "Pending"), charge("e3", "ch_2", 2, "Failed"))
				batch := b.due()
				b.plant(fault.Fault{Operation: op, Kind: kind, Times: 1})
				_, err := b.applier.Apply(b.ctx, batch)
				b.org.ClearFaults()
				if err != nil {
					b.apply()
				}
				assert.Equal(t, map[string]int{"Completed Created": 2, "Completed Updated": 2}, b.tally())
				assert.Equal(t, "shop:new", b.payments()["ch_1"].String("Source_Event__c"))
				assert.Equal(t, "shop:e3", b.payments()["ch_2"].String("Source_Event__c"))
				for _, id := range []string{"new", "e2", "e3"} {
					assert.Zero(t, b.event(id).Attempts)
					assert.Equal(t, 1, strings.Count(b.event(id).History, "->"), "one decision")
				}
			})
		}
	}
}

// A lost reply of a commit that happened is told from the revisions.
func TestLostReply(t *testing.T) {
	t.Parallel()
	b := newBed(t, shop)
	b.stage(charge("e1", "ch_1", 1, "Pending"), charge("e2", "ch_1", 2, "Succeeded"))
	batch := b.due()
	b.plant(fault.Fault{Operation: fault.Composite, Kind: fault.DropAfter})
	report, err := b.applier.Apply(b.ctx, batch)
	require.NoError(t, err)
	for i, want := range []event.Outcome{event.Created, event.Updated} {
		assert.Equal(t, apply.Moved, report.Results[i].Disposition)
		assert.Equal(t, want, report.Results[i].Outcome)
	}
	assert.Equal(t, "shop:e2", b.payments()["ch_1"].String("Source_Event__c"))
}

func TestStopsOnLimitAndChargesNothing(t *testing.T) {
	t.Parallel()
	for kind, class := range map[fault.Kind]salesforce.Class{
		fault.Limit: salesforce.ClassLimit, fault.ConcurrentLimit: salesforce.ClassLimit,
	} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			b := newBed(t, shop)
			b.stage(charges(3)...)
			batch := b.due()
			b.plant(fault.Fault{Operation: fault.Composite, Kind: kind, Times: 50})
			report, err := b.applier.Apply(b.ctx, batch)
			require.Error(t, err)
			assert.Equal(t, class, salesforce.ClassOf(err))
			for _, r := range report.Results {
				assert.Equal(t, apply.Result{Disposition: apply.Left, Reason: apply.Stopped}, r)
			}
			b.org.ClearFaults()
			assert.Equal(t, map[string]int{"Received": 3}, b.tally())
		})
	}
}

func TestStorageFullStopsAll(t *testing.T) {
	t.Parallel()
	b := newBed(t, shop)
	b.stage(charges(3)...)
	batch := b.due()
	b.plant(fault.Fault{Operation: fault.CollectionsUpsert, Object: "Payment__c", Kind: fault.StorageFull, Times: 50})
	_, err := b.applier.Apply(b.ctx, batch)
	assert.Equal(t, salesforce.ClassLimit, salesforce.ClassOf(err))
	assert.Equal(t, map[string]int{"Received": 3}, b.tally())
}

// meddler does something between the read of targets and the commit.
type meddler struct {
	apply.Org
	times int
	act   func()
}

func (m *meddler) Composite(ctx context.Context, subs []salesforce.Subrequest, all bool) ([]salesforce.Subresponse, error) {
	if all && m.times > 0 {
		m.times--
		m.act()
	}
	return m.Org.Composite(ctx, subs, all)
}

func newMeddledBed(t *testing.T, mappings string, times int, act func(b *bed)) *bed {
	var b *bed
	b = newBed(t, mappings, func(c *bedConfig) {
		c.wrap = func(o apply.Org) apply.Org { return &meddler{Org: o, times: times, act: func() { act(b) }} }
	})
	return b
}

// The target moves between read and commit: the decision is made again.
func TestTargetMovedInBetween(t *testing.T) {
	t.Parallel()
	write := func(b *bed, order int, id string) {
		_, err := b.client.Upsert(b.ctx, "Stripe_Charge_Id__c", salesforce.Row{Object: "Payment__c", Fields: map[string]any{
			"Stripe_Charge_Id__c": "ch_1", "Source_Order__c": order, "Source_Event__c": id, "Source_Prior__c": nil, "Status__c": "Pending",
		}})
		require.NoError(b.t, err)
	}
	t.Run("ToANewerEvent", func(t *testing.T) {
		t.Parallel()
		b := newMeddledBed(t, shop, 1, func(b *bed) { write(b, 9, "shop:theirs") })
		b.stage(charge("ours", "ch_1", 1, "Pending"), charge("e2", "ch_2", 1, "Pending"))
		b.apply()
		assert.Equal(t, "Completed Stale", b.ended("ours"))
		assert.Equal(t, "Completed Created", b.ended("e2"))
		assert.Equal(t, "shop:theirs", b.payments()["ch_1"].String("Source_Event__c"))
	})
	t.Run("ToAnOlderEvent", func(t *testing.T) {
		t.Parallel()
		b := newMeddledBed(t, shop, 1, func(b *bed) { write(b, 1, "shop:theirs") })
		b.stage(charge("ours", "ch_1", 5, "Pending"))
		b.apply()
		assert.Equal(t, "Completed Updated", b.ended("ours"))
		assert.Equal(t, "shop:theirs", b.payments()["ch_1"].String("Source_Prior__c"))
	})
	t.Run("AwayAltogether", func(t *testing.T) {
		t.Parallel()
		b := newMeddledBed(t, shop, 0, nil)
		b.stage(charge("first", "ch_1", 1, "Pending"))
		b.apply()
		id := b.payments()["ch_1"].ID()
		b.applier = b.newApplier(bedConfig{wrap: func(o apply.Org) apply.Org {
			return &meddler{Org: o, times: 1, act: func() {
				_, err := b.client.Delete(b.ctx, "Payment__c", id)
				require.NoError(b.t, err)
			}}
		}})
		b.stage(charge("second", "ch_1", 2, "Succeeded"))
		b.apply()
		assert.Equal(t, "Completed Created", b.ended("second"))
		assert.Empty(t, b.payments()["ch_1"].String("Source_Prior__c"))
	})
}

// Another worker moves an event on: its row refuses us and nothing of it is
// written; the others of the batch are.
func TestEventMovedByAnother(t *testing.T) {
	t.Parallel()
	b := newMeddledBed(t, shop, 1, func(b *bed) {
		row := b.event("theirs")
		_, err := b.client.Update(b.ctx, salesforce.Row{Object: event.Object, ID: row.RowID, Fields: map[string]any{
			event.FieldStatus: string(event.Review), event.FieldQueue: nil,
			event.FieldExpectedRevision: row.Revision, event.FieldRevision: row.Revision + 7,
		}})
		require.NoError(b.t, err)
	})
	b.stage(charge("theirs", "ch_1", 1, "Pending"), charge("ours", "ch_2", 1, "Pending"))
	report := b.apply()
	assert.Equal(t, "Review", b.ended("theirs"))
	assert.Equal(t, "Completed Created", b.ended("ours"))
	assert.NotContains(t, b.payments(), "ch_1")
	assert.Equal(t, apply.Gone, report.Results[0].Disposition)
}

// A target whose guard refuses whatever we send costs attempts and ends in
// Review; its mates are applied.
func TestTargetThatKeepsMoving(t *testing.T) {
	t.Parallel()
	n := 0
	b := newMeddledBed(t, shop, 1000, func(b *bed) {
		n++
		prior := b.payments()["ch_1"].String("Source_Event__c")
		_, err := b.client.Upsert(b.ctx, "Stripe_Charge_Id__c", salesforce.Row{Object: "Payment__c", Fields: map[string]any{
			"Stripe_Charge_Id__c": "ch_1", "Source_Event__c": fmt.Sprintf("shop:theirs%d", n), "Source_Prior__c": orNil(prior),
		}})
		require.NoError(b.t, err)
	})
	b.stage(charge("ours", "ch_1", 5, "Pending"), charge("e2", "ch_2", 1, "Pending"))
	b.apply()
	assert.Equal(t, "Retryable MOVED", b.ended("ours"))
	assert.Equal(t, 1, b.event("ours").Attempts)
	assert.Equal(t, "Completed Created", b.ended("e2"))
}

func orNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// What the org lacks pauses the routes that name it; the rest goes on.
func TestMissingFieldPausesTheRoute(t *testing.T) {
	t.Parallel()
	for _, field := range []string{"Payment__c.Note__c", "Payment__c.Status__c", "Payment__c.Stripe_Charge_Id__c", "Payment__c.Source_Prior__c"} {
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, shop, func(c *bedConfig) { c.org.HideFields = []string{field} })
			b.stage(charge("e1", "ch_1", 1, "Pending"), charge("e2", "ch_2", 1, "Pending"),
				ev{id: "cus", kind: "customer.updated", object: "cus_1", order: 1, payload: `{"id":"cus_1"}`})
			report := b.apply()
			assert.Equal(t, "Completed Created", b.ended("cus"))
			assert.Equal(t, 2, b.tally()["Received"])
			require.Len(t, report.Pauses, 1)
			p := report.Pauses[0]
			assert.Equal(t, "charge", p.Route)
			assert.Contains(t, p.Reason, strings.Split(field, ".")[1])
			assert.True(t, p.Until.After(b.now))
			assert.Equal(t, apply.Result{Disposition: apply.Left, Reason: apply.Paused, NotBefore: p.Until}, report.Results[0])

			calls := b.calls(func() { _, _ = b.applier.Apply(b.ctx, b.due()) })
			assert.Equal(t, 1, calls, "while it is paused nothing is tried: the query is the test's own")
		})
	}
}

func TestMissingObjectPausesTheRoute(t *testing.T) {
	t.Parallel()
	b := newBed(t, strings.Replace(shop, "object: Customer__c", "object: Nowhere__c", 1))
	b.stage(charge("e1", "ch_1", 1, "Pending"), ev{id: "cus", kind: "customer.updated", object: "cus_1", order: 1, payload: `{"id":"cus_1"}`})
	report := b.apply()
	assert.Equal(t, "Completed Created", b.ended("e1"))
	assert.Equal(t, "Received", b.ended("cus"))
	require.Len(t, report.Pauses, 1)
	assert.Contains(t, report.Pauses[0].Reason, "Nowhere__c")
}

// The result doesn't hang on whether a failed answer names the culprit.
func TestCulpritUnnamed(t *testing.T) {
	t.Parallel()
	b := newBed(t, shop, func(c *bedConfig) { c.org.Unsure = []string{"culprit-unnamed"} })
	events := charges(100)
	events[42].payload = strings.Replace(events[42].payload, "Pending", "Nonsense", 1)
	b.stage(events...)
	b.stage(charge("later", "ch_041", 2, "Succeeded"))
	for range 3 {
		b.apply()
	}
	got := b.tally()
	assert.Equal(t, 99, got["Completed Created"])
	assert.Equal(t, 1, got["Completed Updated"])
	assert.Len(t, b.payments(), 99)
	assert.Contains(t, []event.Status{event.Review, event.Retryable}, b.event("e042").Status)
}

func TestErrorIsCutAndShort(t *testing.T) {
	t.Parallel()
	b := newBed(t, shop)
	b.stage(charge("long", "ch_1", 1, "Pending").with(map[string]any{"note": strings.Repeat("secret ", 6000)}))
	b.apply()
	assert.Equal(t, "Review STRING_TOO_LONG", b.ended("long"))
	row := b.event("long")
	assert.Less(t, len(row.Error), event.ErrorLimit)
	assert.NotContains(t, row.Error+row.History, "secret")
}

func TestCancelledContext(t *testing.T) {
	t.Parallel()
	b := newBed(t, shop)
	b.stage(charges(2)...)
	batch := b.due()
	ctx, cancel := context.WithCancel(b.ctx)
	cancel()
	_, err := b.applier.Apply(ctx, batch)
	assert.True(t, errors.Is(err, context.Canceled))
	assert.Equal(t, map[string]int{"Received": 2}, b.tally())
}

// A call that the org carries out only after the client gave up finds rows
// that have moved on, and is refused; or it is the one that counts.
func TestCarriedOutAfterGivingUp(t *testing.T) {
	t.Parallel()
	b := newBed(t, shop)
	b.stage(charge("e1", "ch_1", 1, "Pending"), charge("e2", "ch_1", 2, "Succeeded"), charge("e3", "ch_2", 1, "Pending"))
	batch := b.due()
	b.plant(fault.Fault{Operation: fault.Composite, Kind: fault.Slow, Delay: 400 * time.Millisecond, Times: 2})
	impatient := b.newClient(100 * time.Millisecond)
	b.applier = b.newApplier(bedConfig{wrap: func(apply.Org) apply.Org { return impatient }})
	_, err := b.applier.Apply(b.ctx, batch)
	if err != nil { // given up altogether: the rows are looked at again
		assert.Equal(t, salesforce.ClassUnknownOutcome, salesforce.ClassOf(err))
		b.apply()
	}
	b.stop() // waits for what is still being carried out
	assert.Equal(t, map[string]int{"Completed Created": 2, "Completed Updated": 1}, b.tally())
	for _, row := range b.org.Rows("Payment__c") {
		want := map[any]string{"ch_1": "shop:e2", "ch_2": "shop:e3"}[row["Stripe_Charge_Id__c"]]
		assert.Equal(t, want, row["Source_Event__c"])
	}
	for _, row := range b.org.Rows(event.Object) {
		assert.Equal(t, 1, strings.Count(fmt.Sprint(row[event.FieldHistory]), "->"), "%v", row[event.FieldHistory])
	}
}
