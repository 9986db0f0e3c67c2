package soak

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
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

// senders is how many deliveries may be under way. Each sender keeps a connection
// of its own, and they take turns, so that the number of connections is the same
// all the time.
const senders = 512

// run sends until ctx ends, and waits for the answers to what was sent.
func (t *traffic) run(ctx context.Context) {
	events := make(chan int)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer close(events)
	for range senders {
		wg.Go(func() { t.send(context.WithoutCancel(ctx), events) })
	}
	begun := time.Now()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for n := 0; ; {
		for due := int(t.rate * time.Since(begun).Seconds()); n < due; n++ {
			select {
			case events <- n:
			case <-ctx.Done():
				return
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// send is one sender.
func (t *traffic) send(ctx context.Context, events <-chan int) {
	transport := &http.Transport{MaxConnsPerHost: 1}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	for n := range events {
		t.deliver(ctx, client, n)
	}
}

// patience with one event.
const patience = 30 * time.Second

// deliver sends one event until it is accepted, as a provider does; every
// answer counts.
func (t *traffic) deliver(ctx context.Context, client *http.Client, n int) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	body := fmt.Appendf(nil, `{"id":"evt_soak_%[1]d","type":"charge.updated","created":%[2]d,"data":{"object":{"id":"ch_soak_%[1]d","amount":%[1]d,"currency":"eur","description":"%[3]s"}}}`,
		n, time.Now().Unix(), strings.Repeat("x", 900))
	for ctx.Err() == nil {
		begun := time.Now()
		status, err := t.post(ctx, client, body)
		t.note(status, err, time.Since(begun))
		if err == nil && status/100 == 2 {
			return
		}
	}
}

func (t *traffic) post(ctx context.Context, client *http.Client, body []byte) (status int, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.bridge.URL()+"/webhooks/stripe", bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header = sign(body, time.Now())
	answer, err := client.Do(req)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	_, err = io.Copy(io.Discard, answer.Body)
	return answer.StatusCode, err
}

func (t *traffic) note(status int, err error, took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case err != nil:
		t.lost++
	case status/100 == 2:
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
