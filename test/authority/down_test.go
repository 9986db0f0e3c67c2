package authority_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/test/harness"
)

// provider answers looks as it is told, and with a charge where it is told
// nothing.
type provider struct {
	*httptest.Server
	mu     sync.Mutex
	answer http.HandlerFunc
}

func newProvider(t *testing.T, answer http.HandlerFunc) *provider {
	t.Helper()
	p := &provider{answer: answer}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		answer := p.answer
		p.mu.Unlock()
		if answer != nil {
			answer(w, r)
			return
		}
		_, _ = fmt.Fprint(w, `{"id":"ch_one","amount":5000,"currency":"usd","billing_details":{"name":"Ada"}}`) // the test sees what came
	}))
	t.Cleanup(p.Close)
	return p
}

func (p *provider) answers(f http.HandlerFunc) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answer = f
}

// holdsNext waits until a look comes, which has no answer before release, nor
// after it.
func (p *provider) holdsNext(t *testing.T) (release func()) {
	t.Helper()
	asked, hold := make(chan struct{}), make(chan struct{})
	release = sync.OnceFunc(func() { close(hold) })
	t.Cleanup(release)
	var once sync.Once
	p.answers(func(http.ResponseWriter, *http.Request) {
		once.Do(func() { close(asked) })
		<-hold
		panic(http.ErrAbortHandler)
	})
	select {
	case <-asked:
	case <-harness.Patient(t).Done():
		require.Fail(t, "the provider is not asked again")
	}
	return release
}

// While the provider is down its events wait where everybody sees it, and pay
// with no attempt. The process dies in the middle of a look; once the provider is
// back the event is applied, once, as the provider says.
func TestProviderLookupDown(t *testing.T) {
	t.Parallel()
	for name, down := range map[string]http.HandlerFunc{
		"no answer":         func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"unavailable":       func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) },
		"too many requests": tooMany,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProvider(t, down)
			address := strings.TrimPrefix(p.URL, "http://")
			org, bridge := start(t, address, "sk_test_123", fmt.Sprintf("{allow: [%q]}", address))
			deliver(t, bridge, "evt_1", "ch_one")
			const waits = "SELECT COUNT() FROM Inbound_Event__c WHERE Status__c = 'Retryable' AND Error_Code__c = 'AUTHORITY' AND Attempts__c = 0"
			org.Eventually(t, "the event does not wait", func(context.Context) (bool, error) { return org.Count(t, waits) == 1, nil })
			assert.Zero(t, org.Count(t, "SELECT COUNT() FROM Payment__c"))

			release := p.holdsNext(t)
			bridge.Kill(t)
			release()
			p.answers(nil)
			bridge.Start(t)
			org.Settle(t)
			rows := org.Query(t, "SELECT Status__c, Outcome__c, Attempts__c, History__c FROM Inbound_Event__c")
			require.Len(t, rows, 1)
			assert.Equal(t, "Completed Created", fmt.Sprint(rows[0]["Status__c"], " ", rows[0]["Outcome__c"]), "%v", rows[0])
			assert.Zero(t, number(t, rows[0]["Attempts__c"]))
			payments := org.Query(t, "SELECT Amount__c, Note__c FROM Payment__c")
			require.Len(t, payments, 1)
			assert.InDelta(t, 50, number(t, payments[0]["Amount__c"]), 0)
			assert.Equal(t, "Ada", payments[0]["Note__c"])
			bridge.Stop(t)
		})
	}
}

func tooMany(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Retry-After", "1")
	w.WriteHeader(http.StatusTooManyRequests)
}
