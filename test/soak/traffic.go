package soak

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"sfbridge/test/harness"
)

const secret = "whsec_soak"

// mapping is the source of the traffic: every event is a charge of its own.
const mapping = `source: stripe
provider: stripe
secrets: ["${STRIPE_SECRET}"]
routes:
  - name: charge
    when: {type: charge.*}
    records:
      - object: Payment__c
        key: {field: Stripe_Charge_Id__c, from: $.data.object.id}
        order: true
        fields:
          Amount__c: {from: $.data.object.amount, as: minor_units, currency: $.data.object.currency}
          Note__c: {from: $.data.object.description, max: 255}
`

// traffic sends deliveries at a steady rate, whether or not those before have
// been answered.
type traffic struct {
	bridge *harness.Bridge
	rate   float64

	mu       sync.Mutex
	accepted int
	refused  int
	lost     int // no answer
	waits    []time.Duration
}

// atOnce bounds the deliveries under way, so that a service that hangs doesn't
// take the machine with it.
const atOnce = 1500

// run sends until ctx ends, and waits for the answers to what was sent.
func (t *traffic) run(ctx context.Context) {
	var wg sync.WaitGroup
	defer wg.Wait()
	slots := make(chan struct{}, atOnce)
	begun := time.Now()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for n := 0; ; {
		for due := int(t.rate * time.Since(begun).Seconds()); n < due; n++ {
			select {
			case slots <- struct{}{}:
			case <-ctx.Done():
				return
			}
			number := n
			wg.Go(func() {
				defer func() { <-slots }()
				t.deliver(context.WithoutCancel(ctx), number)
			})
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// patience with one answer.
const patience = 30 * time.Second

// deliver sends one event until it is accepted, as a provider does; every
// answer counts.
func (t *traffic) deliver(ctx context.Context, n int) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	created := time.Now().Unix()
	body := fmt.Appendf(nil, `{"id":"evt_soak_%[1]d","type":"charge.updated","created":%[2]d,"data":{"object":{"id":"ch_soak_%[1]d","amount":%[1]d,"currency":"eur","description":"%[3]s"}}}`,
		n, created, strings.Repeat("x", 900))
	for ctx.Err() == nil {
		begun := time.Now()
		answer, err := t.bridge.Post(ctx, "stripe", sign(body, begun), body)
		t.note(answer, err, time.Since(begun))
		if err == nil && answer.OK() {
			return
		}
	}
}

func (t *traffic) note(answer harness.Answer, err error, took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case err != nil:
		t.lost++
	case answer.OK():
		t.accepted++
		t.waits = append(t.waits, took)
	default:
		t.refused++
	}
}

// since fills a sample with what happened since the last call.
func (t *traffic) since(s *Sample) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s.Accepted, s.Refused, s.Unanswered = t.accepted, t.refused, t.lost
	if len(t.waits) > 0 {
		slices.Sort(t.waits)
		at := func(percent int) float64 {
			return float64(t.waits[(len(t.waits)-1)*percent/100]) / float64(time.Millisecond)
		}
		s.P50, s.P99 = at(50), at(99)
	}
	t.accepted, t.refused, t.lost, t.waits = 0, 0, 0, nil
}

func sign(body []byte, at time.Time) http.Header {
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "%d.%s", at.Unix(), body)
	return http.Header{
		"Content-Type":     {"application/json"},
		"Stripe-Signature": {fmt.Sprintf("t=%d,v1=%s", at.Unix(), hex.EncodeToString(mac.Sum(nil)))},
	}
}
