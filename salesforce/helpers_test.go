package salesforce_test

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"sfbridge/salesforce"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if err := goleak.Find(); code == 0 && err != nil {
		_, _ = os.Stderr.WriteString("goroutines left: " + err.Error() + "\n")
		code = 1
	}
	os.Exit(code)
}

// seen is a request as the org received it.
type seen struct {
	Method, URI, Token string
	Header             http.Header
	Body               string
}

func (s seen) json(t *testing.T) map[string]any {
	t.Helper()
	var m map[string]any
	require.NoError(t, json.Unmarshal([]byte(s.Body), &m), "body %q", s.Body)
	return m
}

// org is a server written by hand that answers what the test says.
type org struct {
	*httptest.Server
	mu   sync.Mutex
	seen []seen
}

func newOrg(t *testing.T, answer func(w http.ResponseWriter, r *http.Request, n int)) *org {
	t.Helper()
	o := &org{}
	o.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer(w, r, o.record(r))
	}))
	t.Cleanup(o.Close)
	return o
}

func (o *org) record(r *http.Request) int {
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		if unzipped, err := gzip.NewReader(r.Body); err == nil {
			body = unzipped
		}
	}
	text, _ := io.ReadAll(body)
	token := r.Header.Get("Authorization")
	if len(token) > len("Bearer ") {
		token = token[len("Bearer "):]
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.seen = append(o.seen, seen{Method: r.Method, URI: r.RequestURI, Token: token, Header: r.Header.Clone(), Body: string(text)})
	return len(o.seen)
}

func (o *org) requests() []seen {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]seen(nil), o.seen...)
}

// says answers every request with one status and body.
func says(status int, body string) func(http.ResponseWriter, *http.Request, int) {
	return func(w http.ResponseWriter, _ *http.Request, _ int) { reply(w, status, body) }
}

// saysInTurn answers the nth request with the nth body, status 200.
func saysInTurn(bodies ...string) func(http.ResponseWriter, *http.Request, int) {
	return func(w http.ResponseWriter, _ *http.Request, n int) { reply(w, http.StatusOK, bodies[n-1]) }
}

func reply(w http.ResponseWriter, status int, body string) {
	kind := "application/json;charset=UTF-8"
	if len(body) > 0 && body[0] == '<' {
		kind = "text/html; charset=UTF-8"
	}
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

// sessions is a fixed list of sessions; Renew goes on to the next.
type sessions struct {
	mu       sync.Mutex
	list     []salesforce.Session
	at       int
	renewals int
}

func (s *sessions) Session(context.Context) (salesforce.Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.list[s.at], nil
}

func (s *sessions) Renew(_ context.Context, stale salesforce.Session) (salesforce.Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.list[s.at].Token == stale.Token {
		s.renewals++
		if s.at < len(s.list)-1 {
			s.at++
		}
	}
	return s.list[s.at], nil
}

func (s *sessions) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.renewals
}

const (
	token1 = "00Dfirst!token.canary"
	token2 = "00Dsecond!token.canary"
)

func sessionsAt(urls ...string) *sessions {
	tokens := []salesforce.Secret{token1, token2, "00Dthird!token.canary"}
	s := &sessions{}
	for i, u := range urls {
		s.list = append(s.list, salesforce.Session{Token: tokens[i], Instance: u})
	}
	return s
}

func newClient(t *testing.T, o *org, change ...func(*salesforce.Config)) *salesforce.Client {
	t.Helper()
	return newClientWith(t, sessionsAt(o.URL), change...)
}

func newClientWith(t *testing.T, s salesforce.Sessions, change ...func(*salesforce.Config)) *salesforce.Client {
	t.Helper()
	cfg := salesforce.Config{Sessions: s, APIVersion: "65.0", Transport: salesforce.NewTransport(), Timeout: 20 * time.Second}
	for _, c := range change {
		c(&cfg)
	}
	client, err := salesforce.New(cfg)
	require.NoError(t, err)
	t.Cleanup(client.CloseIdle)
	return client
}

// asError fails the test unless err is a *salesforce.Error.
func asError(t *testing.T, err error) *salesforce.Error {
	t.Helper()
	require.Error(t, err)
	e, ok := salesforce.AsError(err)
	require.True(t, ok, "want *salesforce.Error, have %T: %v", err, err)
	return e
}

func payment(key string, amount json.Number) salesforce.Row {
	return salesforce.Row{Object: "Payment__c", Fields: map[string]any{"Stripe_Charge_Id__c": key, "Amount__c": amount}}
}

const chargeKey = "Stripe_Charge_Id__c"
