package e2e_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/test/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

const (
	events  = 200
	copies  = 50
	senders = 400 // deliveries under way at once: all copies of eight events
	secret  = "whsec_two_processes"
)

const stripeMapping = `source: stripe
provider: stripe
secrets: ["${STRIPE_SECRET}"]
routes:
  - name: charge
    when: {type: charge.*}
    records:
      - object: Payment__c
        key: {field: Stripe_Charge_Id__c, from: $.data.object.id}
        order: true
        state: {field: Status__c, allow: {Pending: [Succeeded]}}
        fields:
          Amount__c: {from: $.data.object.amount, as: minor_units, currency: $.data.object.currency}
          Currency__c: {from: $.data.object.currency, upper: true}
          Status__c: {from: $.data.object.status, map: {pending: Pending, succeeded: Succeeded}}
          Paid_At__c: {from: $.data.object.created, as: datetime, format: unix_s}
          Note__c: $.data.object.description
          Origin__c: {value: Stripe}
`

// charge is what is sent of an event and what must be in the org in the end.
type charge struct {
	event, id string
	created   int64
	amount    int // in hundredths
	status    string
}

func (c charge) body() []byte {
	return fmt.Appendf(nil, `{"id":%q,"type":"charge.updated","created":%d,"data":{"object":{"id":%q,"amount":%d,"currency":"eur","status":%q,"created":%d,"description":"№ %s"}}}`,
		c.event, c.created, c.id, c.amount, c.status, c.created-60, c.id)
}

// sign makes the signature header of a delivery.
func sign(body []byte, at time.Time) http.Header {
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "%d.%s", at.Unix(), body)
	return http.Header{
		"Content-Type":     {"application/json"},
		"Stripe-Signature": {fmt.Sprintf("t=%d,v1=%s", at.Unix(), hex.EncodeToString(mac.Sum(nil)))},
	}
}

// charges are the events, so many of each charge, shuffled. A charge is pending
// in the first half of its events and succeeded in the rest.
func charges(perCharge int) []charge {
	list := make([]charge, events)
	for i := range list {
		c := charge{
			event: fmt.Sprintf("evt_%03d", i), id: fmt.Sprintf("ch_%03d", i/perCharge),
			created: 1767225600 + int64(i), amount: 100*i + 7, status: "pending",
		}
		if i%perCharge*2 >= perCharge {
			c.status = "succeeded"
		}
		list[i] = c
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(list), func(i, k int) { list[i], list[k] = list[k], list[i] })
	return list
}

// latest is the last word on each charge.
func latest(sent []charge) map[string]charge {
	last := map[string]charge{}
	for _, c := range sent {
		if c.created > last[c.id].created {
			last[c.id] = c
		}
	}
	return last
}

// Two processes that share nothing but the org take 50 copies of each of 200
// events at once, both receiving and both processing: one row, one record and
// one "accepted" for each event, and no sender is told to try again.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	race(t, charges(1))
}

// The same with ten events of each charge, in any order: the last word on each
// charge stands, whichever process wrote it.
func TestTwoProcessesOnTheSameRecords(t *testing.T) {
	t.Parallel()
	race(t, charges(10))
}

func race(t *testing.T, sent []charge) {
	t.Helper()
	org := harness.StartOrg(t, "--samples")
	bridges := make([]*harness.Bridge, 2)
	for i := range bridges {
		bridges[i] = harness.StartBridge(t, harness.Config{
			Name: fmt.Sprintf("bridge %d", i+1), Org: org,
			Mappings: map[string]string{"stripe.yaml": stripeMapping}, Env: map[string]string{"STRIPE_SECRET": secret},
		})
	}
	answers := deliver(t, bridges, sent)
	for _, c := range sent {
		assert.Equal(t, map[string]int{"accepted": 1, "duplicate": copies - 1}, answers[c.event], c.event)
	}
	org.Settle(t)
	for _, b := range bridges {
		b.Stop(t) // the counts of duplicates are written by now
	}
	checkRows(t, org, sent)
	checkRecords(t, org, latest(sent))
}

// deliver sends every copy, the copies of one event together and to both
// bridges, and counts the answers of each event by their status word.
func deliver(t *testing.T, bridges []*harness.Bridge, sent []charge) map[string]map[string]int {
	t.Helper()
	type job struct {
		charge
		bridge *harness.Bridge
	}
	jobs := make(chan job)
	answers := map[string]map[string]int{}
	var mu sync.Mutex
	var refused atomic.Int64
	var wg sync.WaitGroup
	for range senders {
		wg.Go(func() {
			for j := range jobs {
				word, err := post(t.Context(), j.bridge, j.body())
				if err != nil {
					refused.Add(1)
					t.Logf("%s: %v", j.event, err)
				}
				mu.Lock()
				if answers[j.event] == nil {
					answers[j.event] = map[string]int{}
				}
				answers[j.event][word]++
				mu.Unlock()
			}
		})
	}
	for _, c := range sent {
		for n := range copies {
			jobs <- job{c, bridges[n%len(bridges)]}
		}
	}
	close(jobs)
	wg.Wait()
	require.Zero(t, refused.Load(), "deliveries without a 2xx")
	return answers
}

// post delivers once and returns the status word of a 2xx.
func post(ctx context.Context, b *harness.Bridge, body []byte) (string, error) {
	answer, err := b.Post(ctx, "stripe", sign(body, time.Now()), body)
	if err != nil {
		return "", err
	}
	if !answer.OK() {
		return "", fmt.Errorf("answered %d: %s", answer.Status, answer.Body)
	}
	var said struct {
		Status string `json:"status"`
	}
	return said.Status, json.Unmarshal(answer.Body, &said)
}

// checkRows: one row for each event, done without a failed attempt. Each charge
// was created by one of its events; the last of them is not stale.
func checkRows(t *testing.T, org *harness.Org, sent []charge) {
	t.Helper()
	rows := byField(t, "Event_Id__c", org.Query(t, "SELECT Event_Id__c, Status__c, Outcome__c, Object_Id__c, Attempts__c, "+
		"Duplicate_Count__c, Queue__c, Target_Object__c, Error_Code__c FROM Inbound_Event__c"))
	require.Len(t, rows, events)
	last, created := latest(sent), map[string]int{}
	for _, c := range sent {
		row := rows["stripe:"+c.event]
		outcome := row["Outcome__c"]
		delete(row, "Outcome__c")
		assert.Equal(t, harness.Row{
			"Event_Id__c": "stripe:" + c.event, "Status__c": "Completed", "Object_Id__c": c.id, "Attempts__c": 0.0,
			"Duplicate_Count__c": float64(copies - 1), "Queue__c": nil, "Target_Object__c": "Payment__c", "Error_Code__c": nil,
		}, row, c.event)
		assert.Contains(t, []any{"Created", "Updated", "Stale"}, outcome, c.event)
		if outcome == "Created" {
			created[c.id]++
		}
		if c == last[c.id] {
			assert.NotEqual(t, "Stale", outcome, c.event)
		}
	}
	for id := range last {
		assert.Equal(t, 1, created[id], id)
	}
}

func checkRecords(t *testing.T, org *harness.Org, last map[string]charge) {
	t.Helper()
	records := byField(t, "Stripe_Charge_Id__c", org.Query(t, "SELECT Stripe_Charge_Id__c, Amount__c, Currency__c, Status__c, "+
		"Paid_At__c, Note__c, Origin__c, Source_Order__c, Source_Event__c FROM Payment__c"))
	require.Len(t, records, len(last))
	status := map[string]string{"pending": "Pending", "succeeded": "Succeeded"}
	for id, c := range last {
		assert.Equal(t, harness.Row{
			"Stripe_Charge_Id__c": id, "Amount__c": float64(c.amount) / 100, "Currency__c": "EUR", "Status__c": status[c.status],
			"Paid_At__c": time.Unix(c.created-60, 0).UTC().Format("2006-01-02T15:04:05.000+0000"),
			"Note__c":    "№ " + id, "Origin__c": "Stripe", "Source_Order__c": float64(c.created * 1000), "Source_Event__c": "stripe:" + c.event,
		}, records[id], id)
	}
}

// byField indexes rows by a text field that must tell them apart. Numbers are
// read as such, however they were written.
func byField(t *testing.T, field string, rows []harness.Row) map[string]harness.Row {
	t.Helper()
	index := map[string]harness.Row{}
	for _, row := range rows {
		delete(row, "attributes")
		for name, value := range row {
			if number, ok := value.(json.Number); ok {
				parsed, err := number.Float64()
				require.NoError(t, err)
				row[name] = parsed
			}
		}
		key, _ := row[field].(string)
		require.NotContains(t, index, key)
		index[key] = row
	}
	return index
}
