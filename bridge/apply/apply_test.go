package apply_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/apply"
	"sfbridge/bridge/event"
)

func TestCreatedThenUpdated(t *testing.T) {
	t.Parallel()
	b := newBed(t, shop)
	b.stage(charge("e1", "ch_1", 1, "Pending"))
	report := b.apply()
	assert.Equal(t, []apply.Result{{Disposition: apply.Moved, Status: event.Completed, Outcome: event.Created}}, report.Results)

	row := b.event("e1")
	payment := b.payments()["ch_1"]
	assert.Equal(t, "Completed Created", b.ended("e1"))
	assert.Equal(t, "Payment__c:ch_1", row.BusinessKey)
	assert.Equal(t, "Payment__c", row.TargetObject)
	assert.Equal(t, payment.ID(), row.TargetID)
	assert.Equal(t, b.files["shop"].Version(), row.MappingVersion)
	assert.Equal(t, b.now, row.ProcessedAt)
	assert.Empty(t, row.Queue)
	assert.NotEmpty(t, row.HomeQueue)
	assert.Greater(t, row.Revision, int64(1))
	assert.Contains(t, row.History, "Received -> Completed by bridge: Created Payment__c:ch_1")
	assert.Equal(t, "shop:e1", payment.String("Source_Event__c"))

	b.stage(charge("e2", "ch_1", 2, "Succeeded"))
	b.apply()
	payment = b.payments()["ch_1"]
	assert.Equal(t, "Completed Updated", b.ended("e2"))
	assert.Equal(t, payment.ID(), b.event("e2").TargetID)
	assert.Equal(t, "Succeeded", payment.String("Status__c"))
	assert.Equal(t, "shop:e2", payment.String("Source_Event__c"))
	assert.Equal(t, "shop:e1", payment.String("Source_Prior__c"))
	order, _ := payment.Int("Source_Order__c")
	assert.Equal(t, int64(2), order)
}

// An older event never overwrites a newer one: in two batches, and in one.
func TestOlderAfterNewer(t *testing.T) {
	t.Parallel()
	b := newBed(t, shop)
	b.stage(charge("new", "ch_1", 2, "Succeeded"))
	b.apply()
	b.stage(charge("old", "ch_1", 1, "Pending"))
	b.apply()
	assert.Equal(t, "Completed Stale", b.ended("old"))
	assert.Contains(t, b.event("old").History, "older than shop:new")
	assert.Equal(t, "Succeeded", b.payments()["ch_1"].String("Status__c"))

	b.stage(charge("new2", "ch_2", 2, "Succeeded"), charge("old2", "ch_2", 1, "Pending"))
	b.apply()
	assert.Equal(t, "Completed Created", b.ended("old2"), "decided first: it is earlier in its entity")
	assert.Equal(t, "Completed Updated", b.ended("new2"))
	assert.Equal(t, "Succeeded", b.payments()["ch_2"].String("Status__c"))
}

func TestTransitions(t *testing.T) {
	t.Parallel()
	b := newBed(t, shop)
	b.stage(charge("e1", "ch_1", 1, "Pending"), charge("e2", "ch_2", 1, "Refunded"))
	b.apply()
	b.stage(charge("e3", "ch_1", 2, "Refunded"), charge("e4", "ch_2", 2, "Pending"))
	b.apply()
	assert.Equal(t, "Completed Updated", b.ended("e3"))
	assert.Contains(t, b.event("e3").History, "Pending -> Refunded, skipping Succeeded")
	assert.Equal(t, "Review TRANSITION", b.ended("e4"))
	assert.Equal(t, "Refunded", b.payments()["ch_2"].String("Status__c"))
	assert.Equal(t, "shop:e2", b.payments()["ch_2"].String("Source_Event__c"))
}

func TestDecidedWithoutTargets(t *testing.T) {
	t.Parallel()
	b := newBed(t, shop)
	b.stage(
		ev{id: "unmatched", kind: "other", payload: `{}`},
		ev{id: "ping", kind: "ping", payload: `{}`},
		ev{id: "text", kind: "charge.updated", payload: `no json`},
		ev{id: "field", kind: "charge.updated", payload: `{"id":"ch_1","amount":"N0100"}`},
		ev{id: "nokey", kind: "charge.updated", payload: `{"status":"Pending"}`},
		ev{id: "nul", kind: "charge.updated", payload: `{"id":"a\u0000b"}`},
		ev{id: "stranger", kind: "charge.updated", payload: `{}`, change: map[string]any{event.FieldSource: "unknown"}},
	)
	b.apply()
	for id, want := range map[string]string{
		"unmatched": "Review UNMATCHED", "ping": "Completed Ignored", "text": "Review PAYLOAD",
		"field": "Review FIELD", "nokey": "Review FIELD", "nul": "Review FIELD", "stranger": "Review NO_MAPPING",
	} {
		assert.Equal(t, want, b.ended(id), id)
		assert.Empty(t, b.event(id).Queue, id)
	}
	assert.Contains(t, b.event("field").Error, "Amount__c from $.amount")
	assert.Contains(t, b.event("field").Error, "N0100")
	assert.Empty(t, b.payments())
}

func TestUnmatchedIgnored(t *testing.T) {
	t.Parallel()
	b := newBed(t, strings.Replace(shop, "routes:", "unmatched: ignore\nroutes:", 1))
	b.stage(ev{id: "e", kind: "other", payload: `{}`})
	b.apply()
	assert.Equal(t, "Completed Ignored", b.ended("e"))
}

// A full batch of events for one object takes two calls: one read, one commit.
func TestBudgetOfAFullBatch(t *testing.T) {
	t.Parallel()
	b := newBed(t, shop)
	var events []ev
	for i := range apply.MaxBatch {
		events = append(events, charge(fmt.Sprintf("e%d", i), fmt.Sprintf("ch_%d", i), 1, "Pending"))
	}
	b.stage(charge("first", "ch_first", 1, "Pending"))
	b.apply() // describes the object once
	b.stage(events...)
	batch := b.due()
	require.Len(t, batch, apply.MaxBatch)
	calls := b.calls(func() {
		report, err := b.applier.Apply(b.ctx, batch)
		require.NoError(t, err)
		for _, r := range report.Results {
			assert.Equal(t, event.Created, r.Outcome)
		}
	})
	assert.Equal(t, 2, calls)
	assert.Len(t, b.payments(), apply.MaxBatch+1)
}

// Several events of one record in a batch go into waves, in their order.
func TestSeveralEventsOfOneRecord(t *testing.T) {
	t.Parallel()
	for _, n := range []int{2, 4, 5, 12, 40} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			b := newBed(t, shop)
			var events []ev
			for i := n; i > 0; i-- {
				events = append(events, charge(fmt.Sprintf("e%02d", i), "ch_1", int64(i), "Pending"))
			}
			b.stage(events...)
			for range 4 {
				b.apply()
			}
			assert.Equal(t, fmt.Sprintf("shop:e%02d", n), b.payments()["ch_1"].String("Source_Event__c"))
			for i := 2; i <= n; i++ {
				assert.Equal(t, "Completed Updated", b.ended(fmt.Sprintf("e%02d", i)))
			}
		})
	}
}

func TestCoalesce(t *testing.T) {
	t.Parallel()
	b := newBed(t, strings.Replace(shop, "        order: true\n        state:", "        order: true\n        coalesce: true\n        state:", 1))
	b.stage(
		charge("e1", "ch_1", 1, "Pending").with(map[string]any{"amount": 5}),
		charge("e2", "ch_1", 2, "Succeeded"),
		charge("bad", "ch_1", 3, "Pending"),
		charge("e4", "ch_1", 4, "Refunded"),
		charge("other", "ch_2", 1, "Pending"),
	)
	b.apply()
	assert.Equal(t, "Completed Superseded", b.ended("e1"))
	assert.Equal(t, "Completed Superseded", b.ended("e2"))
	assert.Equal(t, "Review TRANSITION", b.ended("bad"), "decisions are not folded")
	assert.Equal(t, "Completed Updated", b.ended("e4"))
	assert.Equal(t, "Completed Created", b.ended("other"))
	p := b.payments()["ch_1"]
	assert.Equal(t, "Refunded", p.String("Status__c"))
	amount, _ := p.Int("Amount__c")
	assert.Equal(t, int64(5), amount, "what only the folded event set is kept")
	assert.Equal(t, "shop:e4", p.String("Source_Event__c"))
	assert.Empty(t, p.String("Source_Prior__c"))
}

func TestParentsFirst(t *testing.T) {
	t.Parallel()
	b := newBed(t, shop)
	b.stage(
		charge("pay", "ch_1", 1, "Pending").with(map[string]any{"customer": "cus_1"}),
		charge("orphan", "ch_2", 1, "Pending").with(map[string]any{"customer": "cus_9"}),
		charge("free", "ch_3", 1, "Pending"),
		ev{id: "cus", kind: "customer.updated", object: "cus_1", order: 1, payload: `{"id":"cus_1","email":"a@example.com"}`},
	)
	b.apply()
	assert.Equal(t, "Completed Created", b.ended("cus"))
	assert.Equal(t, "Completed Created", b.ended("pay"), "its parent came in the same batch")
	assert.Equal(t, "Completed Created", b.ended("free"))
	assert.NotEmpty(t, b.payments()["ch_1"].String("Customer__c"))

	orphan := b.event("orphan")
	assert.Equal(t, "Retryable NO_PARENT", b.ended("orphan"))
	assert.Zero(t, orphan.Attempts)
	assert.True(t, orphan.NextAttempt.After(b.now))
	assert.Equal(t, orphan.HomeQueue, orphan.Queue)
	assert.Contains(t, orphan.Error, "cus_9")

	b.now = b.now.Add(25 * time.Hour)
	b.apply()
	assert.Equal(t, "Review NO_PARENT", b.ended("orphan"))
	assert.Contains(t, b.event("orphan").Error, "missing parent Customer__c.Stripe_Customer_Id__c=cus_9")
}

// What waits for a parent holds nothing back once it stands in its row.
func TestParentArrivesLater(t *testing.T) {
	t.Parallel()
	b := newBed(t, shop)
	b.stage(charge("pay", "ch_1", 1, "Pending").with(map[string]any{"customer": "cus_1"}))
	b.apply()
	assert.Equal(t, "Retryable NO_PARENT", b.ended("pay"))
	b.stage(ev{id: "cus", kind: "customer.updated", object: "cus_1", order: 1, payload: `{"id":"cus_1"}`})
	b.now = b.now.Add(time.Hour)
	b.apply()
	assert.Equal(t, "Completed Created", b.ended("pay"))
	assert.Empty(t, b.event("pay").Error)
	assert.True(t, b.event("pay").NextAttempt.IsZero())
}
