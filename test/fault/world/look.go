package world

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sfbridge/test/fault/ledger"
	"sfbridge/test/harness"
)

// patience is how long the world may take to come to rest. It is no measure: a
// run that reaches it has failed. A killed process's leases last a minute.
const patience = 4 * time.Minute

// Settle waits until nothing is open any more: no event in a spool, none that
// has something to do by itself, no effect outstanding.
func (w *World) Settle(t testing.TB) {
	t.Helper()
	w.Until(t, "events are still open", func() bool {
		return w.spooled(t) == 0 &&
			w.count(t, "SELECT COUNT() FROM Inbound_Event__c WHERE Status__c IN ('Received', 'Retryable', 'Applied')") == 0 &&
			w.count(t, "SELECT COUNT() FROM Outbound_Effect__c WHERE Status__c IN ('Ready', 'Retryable')") == 0
	})
}

// Until asks again and again until something holds.
func (w *World) Until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			require.Fail(t, what, "%v", w.Org.Query(t, "SELECT Event_Id__c, Status__c, Queue__c, Attempts__c, Next_Attempt_At__c, "+
				"Error_Code__c, Error__c FROM Inbound_Event__c WHERE Status__c IN ('Received', 'Retryable', 'Applied') LIMIT 5"))
		}
	}
}

// Look reads everything that the ledger asks about.
func (w *World) Look(t testing.TB) ledger.Sight {
	t.Helper()
	s := ledger.Sight{Posts: w.Receiver.Posts()}
	for _, r := range w.Org.Query(t, "SELECT Event_Id__c, Status__c, Outcome__c, Error_Code__c, Queue__c, Attempts__c, History__c FROM Inbound_Event__c") {
		s.Events = append(s.Events, ledger.EventRow{
			ID: text(r["Event_Id__c"]), Status: text(r["Status__c"]), Outcome: text(r["Outcome__c"]), Code: text(r["Error_Code__c"]),
			Queue: text(r["Queue__c"]), History: text(r["History__c"]), Attempts: int(number(t, r["Attempts__c"])),
		})
	}
	for _, r := range w.Org.Query(t, "SELECT Effect_Key__c, Event__r.Event_Id__c, Status__c, Queue__c, History__c FROM Outbound_Effect__c") {
		event, _ := r["Event__r"].(map[string]any)
		s.Effects = append(s.Effects, ledger.EffectRow{
			Key: text(r["Effect_Key__c"]), Event: text(event["Event_Id__c"]), Status: text(r["Status__c"]),
			Queue: text(r["Queue__c"]), History: text(r["History__c"]),
		})
	}
	for object, key := range map[string]string{
		"Payment__c": "Stripe_Charge_Id__c", "Customer__c": "Stripe_Customer_Id__c", "Payment_Line__c": "Line_Key__c",
	} {
		for _, r := range w.Org.Query(t, "SELECT "+key+", "+fields[object]+", Source_Event__c, Source_Order__c FROM "+object) {
			s.Records = append(s.Records, ledger.Record{Object: object, Key: text(r[key]), Fields: plain(t, r)})
		}
	}
	return s
}

// fields are those that the mappings write.
var fields = map[string]string{
	"Payment__c":      "Amount__c, Currency__c, Status__c, Note__c",
	"Customer__c":     "Email__c",
	"Payment_Line__c": "Qty__c, Amount__c",
}

// plain reads numbers as such, however they were written.
func plain(t testing.TB, r harness.Row) map[string]any {
	t.Helper()
	out := map[string]any{}
	for name, value := range r {
		if _, ok := value.(json.Number); ok {
			value = number(t, value)
		}
		out[name] = value
	}
	return out
}

func number(t testing.TB, v any) float64 {
	t.Helper()
	n, ok := v.(json.Number)
	if !ok {
		return 0
	}
	f, err := n.Float64()
	require.NoError(t, err)
	return f
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

// Cost is what the run has taken so far; it is asked for before Look, whose
// calls are no part of it.
func (w *World) Cost(t testing.TB) ledger.Cost {
	t.Helper()
	stats := w.Org.Stats(t)
	c := ledger.Cost{
		Instances: len(w.instances), Took: time.Since(w.began),
		Calls: stats.APICalls.Total - w.asked, Logins: stats.Logins["token"],
	}
	for _, i := range w.instances {
		i.note()
		c.Starts += i.starts
		c.Lines += i.lines + i.bridge.Log().Mark()
		c.RSS = max(c.RSS, i.rss)
	}
	return c
}

// Waiting is how many events wait for a person.
func (w *World) Waiting(t testing.TB) int {
	t.Helper()
	return w.count(t, "SELECT COUNT() FROM Inbound_Event__c WHERE Status__c = 'Review'")
}

// Drained waits until no event waits in a spool.
func (w *World) Drained(t testing.TB) {
	t.Helper()
	w.Until(t, "events still wait in the spool", func() bool { return w.spooled(t) == 0 })
}
