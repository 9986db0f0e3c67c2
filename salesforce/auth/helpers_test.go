package auth_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"sfbridge/salesforce"
	"sfbridge/salesforce/auth"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// host is a token host in memory: a transport that answers what the test says.
type host struct {
	answer func(r *http.Request, body string, n int) (status int, reply string)

	mu       sync.Mutex
	requests []*http.Request
	bodies   []string
}

func (h *host) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	h.requests = append(h.requests, r)
	h.bodies = append(h.bodies, string(body))
	n := len(h.requests)
	h.mu.Unlock()
	status, text := h.answer(r, string(body), n)
	if status == 0 {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	kind := "application/json;charset=UTF-8"
	if strings.HasPrefix(text, "<") {
		kind = "text/html"
	}
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {kind}, "Location": {"https://elsewhere.example/?secret"}},
		Body: io.NopCloser(strings.NewReader(text)), Request: r}, nil
}

func (h *host) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.requests)
}

// always answers every request in the same way; hang never answers.
func always(status int, reply string) *host {
	return &host{answer: func(*http.Request, string, int) (int, string) { return status, reply }}
}

func hang() *host { return always(0, "") }

const tokenReply = `{"access_token":"T1","instance_url":"https://acme.my.salesforce.com","token_type":"Bearer",` +
	`"issued_at":"1767225600000","signature":"s","id":"https://login.salesforce.com/id/00D/005","scope":"api"}`

// inTurn answers the nth request with the nth token.
func inTurn(tokens ...string) *host {
	return &host{answer: func(_ *http.Request, _ string, n int) (int, string) {
		return 200, strings.Replace(tokenReply, "T1", tokens[min(n, len(tokens))-1], 1)
	}}
}

var testKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

func keyPEM(t *testing.T) salesforce.Secret {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(testKey())
	require.NoError(t, err)
	return salesforce.Secret(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

// clock is a time that the test moves.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func credentials(h *host, change ...func(*auth.Config)) auth.Config {
	cfg := auth.Config{
		Flow: auth.ClientCredentials, LoginURL: "https://acme.my.salesforce.com",
		ClientID: "client-id", ClientSecret: "canary-client-secret&<x>", Transport: h,
		Jitter: func() float64 { return 0 },
	}
	for _, c := range change {
		c(&cfg)
	}
	return cfg
}

func jwtConfig(t *testing.T, h *host, change ...func(*auth.Config)) auth.Config {
	t.Helper()
	cfg := auth.Config{
		Flow: auth.JWT, LoginURL: "https://login.salesforce.com", ClientID: "client-id",
		Username: "hook@acme.example", PrivateKey: keyPEM(t), Transport: h,
		Jitter: func() float64 { return 0 },
	}
	for _, c := range change {
		c(&cfg)
	}
	return cfg
}

func newSource(t *testing.T, cfg auth.Config) *auth.Source {
	t.Helper()
	s, err := auth.New(cfg)
	require.NoError(t, err)
	return s
}

func session(t *testing.T, s *auth.Source) salesforce.Session {
	t.Helper()
	got, err := s.Session(t.Context())
	require.NoError(t, err)
	return got
}

func failure(t *testing.T, s *auth.Source) *salesforce.Error {
	t.Helper()
	_, err := s.Session(context.Background())
	require.Error(t, err)
	e, ok := salesforce.AsError(err)
	require.True(t, ok, "want *salesforce.Error, have %T: %v", err, err)
	return e
}
