package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"sfbridge/bridge/verify"
)

// senders is how many deliveries are under way at once in a burst.
const senders = 1000

// charge is a Stripe event about a charge.
type charge struct {
	Source  string // stripe unless set
	Event   string // evt_…
	Charge  string // ch_…
	Type    string // charge.succeeded unless set
	Status  string // succeeded unless set
	Amount  int64  // in cents
	Created int64  // order of the event, Unix seconds
}

// The ids of a check's events and charges begin so, which tells the checks
// apart in one org.
func eventID(check string, n int) string  { return fmt.Sprintf("evt_%s_%d", check, n) }
func chargeID(check string, n int) string { return fmt.Sprintf("ch_%s_%d", check, n) }

// ownedBy tells whether an event id (of a repair, too) or an entity is one of
// the check's.
func ownedBy(id, check string) bool {
	_, own, _ := strings.Cut(id, ":")
	own = strings.TrimPrefix(own, "reconcile:")
	return strings.HasPrefix(own, "evt_"+check+"_") || strings.HasPrefix(own, "ch_"+check+"_")
}

func (c charge) withDefaults() charge {
	for field, value := range map[*string]string{&c.Source: source, &c.Type: "charge.succeeded", &c.Status: "succeeded"} {
		if *field == "" {
			*field = value
		}
	}
	return c
}

// id is Event_Id__c.
func (c charge) id() string { return c.withDefaults().Source + ":" + c.Event }

// object is the charge as the provider's API shows it.
func (c charge) object() map[string]any {
	c = c.withDefaults()
	return map[string]any{
		"id": c.Charge, "object": "charge", "amount": c.Amount, "currency": "usd", "status": c.Status,
		"refunded": c.Type == "charge.refunded", "created": c.Created, "description": "Demo charge", "customer": nil,
	}
}

func (c charge) body() []byte {
	c = c.withDefaults()
	body, err := json.Marshal(map[string]any{
		"id": c.Event, "object": "event", "type": c.Type, "created": c.Created, "livemode": false, "pending_webhooks": 1,
		"data": map[string]any{"object": c.object()},
	})
	if err != nil {
		panic(err) // strings and numbers always marshal
	}
	return body
}

// answer is what the receiver said.
type answer struct {
	Code    int
	Status  string `json:"status"`
	EventID string `json:"event_id"`
	Error   string `json:"error"`
}

func (a answer) ok() bool { return a.Code >= 200 && a.Code < 300 }

// deliver signs and sends one delivery.
func (w *world) deliver(ctx context.Context, c charge) (answer, error) {
	return w.deliverSigned(ctx, c, secret)
}

func (w *world) deliverSigned(ctx context.Context, c charge, with string) (answer, error) {
	body := c.body()
	url := w.bridge.URL() + "/webhooks/" + c.withDefaults().Source
	header, err := verify.Sign(w.rule, with, verify.Request{Method: http.MethodPost, URL: url, Header: http.Header{}, Body: body, Now: time.Now()})
	if err != nil {
		return answer{}, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	r.Header = header
	r.Header.Set("Content-Type", "application/json")
	reply, err := w.client.Do(r)
	if err != nil {
		return answer{}, err
	}
	defer reply.Body.Close()
	a := answer{Code: reply.StatusCode}
	raw, err := io.ReadAll(reply.Body)
	if err != nil {
		return a, err
	}
	return a, json.Unmarshal(raw, &a)
}

// deliverAll sends the charges from so many senders at once. Answers stand at
// the place of their charge.
func (w *world) deliverAll(ctx context.Context, charges []charge, at int) ([]answer, error) {
	answers := make([]answer, len(charges))
	next := make(chan int)
	var wg sync.WaitGroup
	var mu sync.Mutex
	var failed error
	for range min(at, len(charges)) {
		wg.Go(func() {
			for i := range next {
				a, err := w.deliver(ctx, charges[i])
				answers[i] = a
				if err != nil {
					mu.Lock()
					failed = err
					mu.Unlock()
				}
			}
		})
	}
	for i := range charges {
		next <- i
	}
	close(next)
	wg.Wait()
	return answers, failed
}
