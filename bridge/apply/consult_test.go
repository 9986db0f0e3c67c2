package apply_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"sfbridge/bridge/apply/authority"
	"sfbridge/bridge/event"
	"sfbridge/bridge/outbound"
	"sfbridge/mapping"
	"sfbridge/mapping/path"
)

// provider answers looks by address and counts them.
type provider struct {
	*authority.Loader
	mu     sync.Mutex
	asked  map[string]int
	auth   string
	answer func(address string) (outbound.Response, error)
}

func newProvider(answer func(string) (outbound.Response, error)) *provider {
	p := &provider{asked: map[string]int{}, answer: answer}
	p.Loader = authority.New(authority.Config{HTTP: p, Credential: func(source, auth string) (string, bool) {
		return strings.Replace(auth, "${KEY}", "key of "+source, 1), true
	}})
	return p
}

func (p *provider) Do(_ context.Context, r outbound.Request) (outbound.Response, error) {
	p.mu.Lock()
	p.asked[r.URL]++
	p.auth = r.Header.Get("Authorization")
	p.mu.Unlock()
	return p.answer(r.URL)
}

// OrderOf reads the version of the object.
func (p *provider) OrderOf(_ string, in mapping.Input) *int64 {
	at, err := path.Parse("$.object.version")
	if err != nil {
		return nil
	}
	v, _ := at.Get(in.Scope)
	n, is := v.(json.Number)
	if !is {
		return nil
	}
	order, err := n.Int64()
	if err != nil {
		return nil
	}
	return &order
}

const thin = `
source: shop
provider: stripe
secrets: ["${S}"]
routes:
  - name: charge
    when: {type: charge.updated}
    authority: {get: "https://api.example.com/charges/{$.id}", auth: "Bearer ${KEY}", into: $.object}
    records:
      - object: Payment__c
        key: {field: Stripe_Charge_Id__c, from: $.object.id}
        order: true
        state: {field: Status__c, allow: {Pending: [Succeeded]}}
        fields: {Status__c: $.object.status, Note__c: $.object.note}
`

func charged(status, note string, version int) func(string) (outbound.Response, error) {
	return func(address string) (outbound.Response, error) {
		id := address[strings.LastIndexByte(address, '/')+1:]
		return outbound.Response{Status: 200, Body: fmt.Appendf(nil, `{"id":%q,"status":%q,"note":%q,"version":%d}`, id, status, note, version)}, nil
	}
}

func answers(status int, header ...string) func(string) (outbound.Response, error) {
	return func(string) (outbound.Response, error) {
		h := http.Header{}
		for i := 0; i+1 < len(header); i += 2 {
			h.Set(header[i], header[i+1])
		}
		return outbound.Response{Status: status, Header: h, Body: []byte("secret text")}, nil
	}
}

func consulting(p *provider) func(*bedConfig) {
	return func(c *bedConfig) { c.apply.Authority = p }
}

func TestObjectIsLoadedBeforeMapping(t *testing.T) {
	t.Parallel()
	p := newProvider(charged("Succeeded", "from the provider", 9))
	b := newBed(t, thin, consulting(p))
	e := charge("e1", "ch 1/..", 5, "Pending")
	b.stage(e, charge("e2", "ch_2", 1, "Pending"), charge("e3", "ch_2", 2, "Pending"))
	b.apply()
	assert.Equal(t, map[string]int{"https://api.example.com/charges/ch%201%2F..": 1, "https://api.example.com/charges/ch_2": 1}, p.asked,
		"escaped, and each object once a batch")
	assert.Equal(t, "Bearer key of shop", p.auth)
	assert.Equal(t, "from the provider", b.payments()["ch_2"].String("Note__c"))
	assert.Equal(t, "Succeeded", b.payments()["ch_2"].String("Status__c"))
	assert.Equal(t, map[string]int{"Completed Created": 2, "Completed Updated": 1}, b.tally())
}

func TestOnlyHintsAreLookedUp(t *testing.T) {
	t.Parallel()
	p := newProvider(charged("Succeeded", "from the provider", 9))
	b := newBed(t, strings.Replace(strings.ReplaceAll(thin, "$.object.", "$."), "into: $.object", "into: $, when: unsigned", 1), consulting(p))
	hint := charge("e2", "ch_2", 1, "Pending")
	hint.change = map[string]any{event.FieldTrust: string(event.AuthenticatedCaller)}
	b.stage(charge("e1", "ch_1", 1, "Pending"), hint)
	b.apply()
	assert.Equal(t, "e1", b.payments()["ch_1"].String("Note__c"), "signed: taken as it is")
	assert.Equal(t, "from the provider", b.payments()["ch_2"].String("Note__c"))
	assert.Len(t, p.asked, 1)
}

// Every way in which a provider can fail, and where its event goes.
func TestLooksThatFail(t *testing.T) {
	t.Parallel()
	broken := func(string) (outbound.Response, error) { return outbound.Response{}, errors.New("connection refused") }
	for name, c := range map[string]struct {
		answer   func(string) (outbound.Response, error)
		want     string
		attempts int
		pause    time.Duration // at least
	}{
		"down":            {broken, "Retryable AUTHORITY", 0, time.Second},
		"error":           {answers(500), "Retryable AUTHORITY", 0, time.Second},
		"too many":        {answers(429, "Retry-After", "120"), "Retryable AUTHORITY", 0, 2 * time.Minute},
		"not there":       {answers(404), "Retryable AUTHORITY", 1, time.Second},
		"bad request":     {answers(400), "Retryable AUTHORITY", 1, time.Second},
		"no JSON":         {answers(200), "Retryable AUTHORITY", 1, time.Second},
		"older":           {charged("Pending", "old", 3), "Retryable AUTHORITY", 0, time.Second},
		"credentials":     {answers(401), "Received", 0, 0},
		"address refused": {func(string) (outbound.Response, error) { return outbound.Response{}, outbound.ErrForbidden }, "Received", 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProvider(c.answer)
			b := newBed(t, thin, consulting(p))
			b.stage(charge("e1", "ch_1", 5, "Pending"), charge("e2", "ch_1", 6, "Pending"))
			report := b.apply()
			assert.Equal(t, c.want, b.ended("e1"))
			e := b.event("e1")
			assert.Equal(t, c.attempts, e.Attempts)
			assert.NotContains(t, e.Error+e.History, "secret text")
			assert.Empty(t, b.payments())
			if c.want == "Received" {
				assert.Len(t, report.Pauses, 1)
				assert.Equal(t, "charge", report.Pauses[0].Route)
				assert.Contains(t, report.Pauses[0].Reason, "authority: ")
				return
			}
			assert.GreaterOrEqual(t, e.NextAttempt.Sub(b.now), c.pause)
			p.answer = charged("Succeeded", "now", 9)
			b.now = b.now.Add(time.Hour)
			b.apply()
			b.apply()
			assert.Equal(t, "Completed Created", b.ended("e1"))
			assert.Equal(t, "Completed Updated", b.ended("e2"))
		})
	}
}

// An object that stays away uses the event's attempts up; one that stays older
// than the event does so after the time in which parents may come.
func TestLooksThatFailForGood(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(string) (outbound.Response, error){
		"not there": answers(404), "older": charged("Pending", "old", 3),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, thin, consulting(newProvider(answer)))
			b.stage(charge("e1", "ch_1", 5, "Pending"))
			for range 40 {
				b.apply()
				b.now = b.now.Add(time.Hour)
			}
			assert.Equal(t, "Review AUTHORITY", b.ended("e1"))
		})
	}
}

// A provider that is down is asked a few times a batch, not once an event.
func TestDownProviderIsLeftAlone(t *testing.T) {
	t.Parallel()
	p := newProvider(answers(503))
	b := newBed(t, thin, consulting(p))
	var events []ev
	for i := range 100 {
		events = append(events, charge(fmt.Sprintf("e%03d", i), fmt.Sprintf("ch_%03d", i), 1, "Pending"))
	}
	b.stage(events...)
	b.apply()
	assert.Equal(t, map[string]int{"Retryable AUTHORITY": 100}, b.tally())
	assert.Less(t, len(p.asked), 20)
}

func TestAddressThatCantBeMade(t *testing.T) {
	t.Parallel()
	p := newProvider(answers(200))
	b := newBed(t, strings.Replace(thin, "{$.id}", "{$.none}", 1), consulting(p))
	b.stage(charge("e1", "ch_1", 1, "Pending"))
	b.apply()
	assert.Equal(t, "Review FIELD", b.ended("e1"))
	assert.Empty(t, p.asked)
}
