package outbound_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/outbound"
)

// names resolves every name to the next of the addresses, and counts.
type names struct {
	mu    sync.Mutex
	turns [][]string
	asked int
}

func (n *names) resolve(context.Context, string) ([]netip.Addr, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	turn := n.turns[min(n.asked, len(n.turns)-1)]
	n.asked++
	var out []netip.Addr
	for _, a := range turn {
		out = append(out, netip.MustParseAddr(a))
	}
	return out, nil
}

func client(n *names, allow ...string) *outbound.Client {
	return outbound.New(outbound.Config{Allow: allow, Resolve: n.resolve, Timeout: 2 * time.Second})
}

func get(t *testing.T, c *outbound.Client, url string) error {
	t.Helper()
	_, err := c.Do(t.Context(), outbound.Request{URL: url})
	return err
}

// Nothing but https to public addresses, whatever way the address is written.
func TestForbiddenAddresses(t *testing.T) {
	t.Parallel()
	public := &names{turns: [][]string{{"93.184.216.34"}}}
	for _, url := range []string{
		"http://example.com/", "ftp://example.com/", "file:///etc/passwd", "https://", "https:///x", "//example.com", "",
		"https://user:secret@example.com/", "https://127.0.0.1/", "https://127.1.2.3:8443/", "https://[::1]/", "https://0.0.0.0/",
		"https://10.0.0.1/", "https://172.16.0.1/", "https://192.168.1.1/", "https://169.254.169.254/latest/meta-data/",
		"https://[fe80::1]/", "https://[fd00::1]/", "https://[::ffff:127.0.0.1]/", "https://[::ffff:10.0.0.1]/", "https://100.64.0.1/",
		"https://224.0.0.1/", "https://[ff02::1]/", "https://255.255.255.255/", "https://[64:ff9b::7f00:1]/", "https://[2002:7f00:1::]/",
		"https://198.18.0.1/", "https://[::]/",
	} {
		t.Run(url, func(t *testing.T) {
			t.Parallel()
			require.ErrorIs(t, get(t, client(public), url), outbound.ErrForbidden)
		})
	}
}

// A name that leads to one private address is refused whole, however many
// public ones stand beside it.
func TestNamesOfPrivateAddresses(t *testing.T) {
	t.Parallel()
	for _, addresses := range [][]string{{"127.0.0.1"}, {"93.184.216.34", "10.0.0.1"}, {"::1"}, {"::ffff:192.168.0.1"}} {
		err := get(t, client(&names{turns: [][]string{addresses}}), "https://example.com/")
		require.ErrorIs(t, err, outbound.ErrForbidden)
	}
}

// The address that was checked is the one that is dialled: a name is looked up
// once for a connection, so a second answer of a hostile resolver is never
// asked for.
func TestRebinding(t *testing.T) {
	t.Parallel()
	hit := false
	s := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hit = true }))
	defer s.Close()
	n := &names{turns: [][]string{{"203.0.113.1"}, {"127.0.0.1"}}} // a documentation address: reserved
	require.ErrorIs(t, get(t, client(n), "https://rebind.example/"), outbound.ErrForbidden)
	assert.Equal(t, 1, n.asked)

	port := s.URL[strings.LastIndexByte(s.URL, ':'):]
	m := &names{turns: [][]string{{"192.0.2.7"}, {"127.0.0.1"}}}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err := client(m).Do(ctx, outbound.Request{URL: "https://rebind.example" + port})
	require.Error(t, err)
	assert.Equal(t, 1, m.asked)
	assert.False(t, hit)
}

func allowed(s *httptest.Server) string {
	return strings.TrimPrefix(strings.TrimPrefix(s.URL, "http://"), "https://")
}

func TestAllowedAddresses(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(r.Method + " " + r.Header.Get("X-One")))
	}))
	defer s.Close()
	c := outbound.New(outbound.Config{Allow: []string{allowed(s)}})
	defer c.CloseIdle()
	reply, err := c.Do(t.Context(), outbound.Request{Method: "POST", URL: s.URL, Header: http.Header{"X-One": {"1"}}, Body: []byte("{}")})
	require.NoError(t, err)
	assert.Equal(t, "POST 1", string(reply.Body))
	require.ErrorIs(t, get(t, c, "http://127.0.0.1:1/"), outbound.ErrForbidden, "another port of the host")
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	hits := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hits++
		http.Redirect(w, r, "/again", http.StatusFound)
	}))
	defer s.Close()
	c := outbound.New(outbound.Config{Allow: []string{allowed(s)}})
	defer c.CloseIdle()
	reply, err := c.Do(t.Context(), outbound.Request{URL: s.URL})
	require.NoError(t, err)
	assert.Equal(t, http.StatusFound, reply.Status)
	assert.Equal(t, 1, hits)
}

func TestCaps(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			<-release
			return
		}
		_, _ = w.Write(make([]byte, 2000))
	}))
	defer s.Close()
	defer close(release)
	c := outbound.New(outbound.Config{Allow: []string{allowed(s)}, MaxBytes: 1999, Timeout: 50 * time.Millisecond})
	defer c.CloseIdle()
	require.ErrorIs(t, get(t, c, s.URL), outbound.ErrTooLarge)
	err := get(t, c, s.URL+"/slow?token=secret")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.NotContains(t, err.Error(), "secret", "an address may hold a token")
}

// Certificates are checked even where the address is allowed.
func TestCertificates(t *testing.T) {
	t.Parallel()
	s := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer s.Close()
	strict := outbound.New(outbound.Config{Allow: []string{allowed(s)}})
	defer strict.CloseIdle()
	var unknown x509.UnknownAuthorityError
	require.True(t, errors.As(get(t, strict, s.URL), &unknown))
	trusting := outbound.New(outbound.Config{
		Allow: []string{allowed(s)}, TLS: &tls.Config{RootCAs: s.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs},
	})
	defer trusting.CloseIdle()
	require.NoError(t, get(t, trusting, s.URL))
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"": 0, "90": 90 * time.Second, " 5 ": 5 * time.Second, "-3": 0, "soon": 0, "99999999999999": 0,
		"Thu, 01 Jan 2026 00:01:00 GMT": time.Minute, "Wed, 31 Dec 2025 00:00:00 GMT": 0,
	} {
		assert.Equal(t, want, outbound.RetryAfter(http.Header{"Retry-After": {text}}, now), text)
	}
}
