package outbound_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"sfbridge/bridge/outbound"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// peer is a server on this machine under a public name.
func peer(t *testing.T, handler http.HandlerFunc) (*httptest.Server, string) {
	t.Helper()
	s := httptest.NewTLSServer(handler)
	t.Cleanup(s.Close)
	u, err := url.Parse(s.URL)
	require.NoError(t, err)
	return s, net.JoinHostPort("example.com", u.Port())
}

func client(t *testing.T, s *httptest.Server, cfg outbound.Config, addrs ...string) *outbound.Client {
	t.Helper()
	if s != nil {
		roots := x509.NewCertPool()
		roots.AddCert(s.Certificate())
		cfg.TLS = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	}
	cfg.Resolve = func(context.Context, string) ([]netip.Addr, error) {
		var list []netip.Addr
		for _, a := range addrs {
			list = append(list, netip.MustParseAddr(a))
		}
		return list, nil
	}
	c := outbound.New(cfg)
	t.Cleanup(c.CloseIdle)
	return c
}

func TestWhatMayBeCalled(t *testing.T) {
	t.Parallel()
	called := false
	s, host := peer(t, func(w http.ResponseWriter, r *http.Request) {
		called = true
		assert.Equal(t, "yes", r.Header.Get("X-Mine"))
		w.WriteHeader(http.StatusTeapot)
	})
	c := client(t, s, outbound.Config{Allow: []string{host}}, "127.0.0.1")
	r, err := c.Do(t.Context(), outbound.Request{Method: "POST", URL: "https://" + host + "/x", Header: http.Header{"X-Mine": {"yes"}}, Body: []byte("b")})
	require.NoError(t, err)
	assert.Equal(t, http.StatusTeapot, r.Status)
	assert.True(t, called)
}

// TestWhatMustNotBeCalled: the peer listens and would answer; it is never
// reached.
func TestWhatMustNotBeCalled(t *testing.T) {
	t.Parallel()
	s, host := peer(t, func(http.ResponseWriter, *http.Request) { t.Error("it was called") })
	for name, c := range map[string]struct {
		url   string
		addrs []string
	}{
		"loopback":                {"https://" + host, []string{"127.0.0.1"}},
		"loopback by number":      {s.URL, nil},
		"private":                 {"https://" + host, []string{"10.0.0.1"}},
		"private IPv6":            {"https://" + host, []string{"fd00::1"}},
		"link-local, metadata":    {"https://" + host, []string{"169.254.169.254"}},
		"mapped":                  {"https://" + host, []string{"::ffff:127.0.0.1"}},
		"carrier":                 {"https://" + host, []string{"100.64.0.1"}},
		"nothing":                 {"https://" + host, []string{"0.0.0.0"}},
		"translated":              {"https://" + host, []string{"64:ff9b::7f00:1"}},
		"one of two is private":   {"https://" + host, []string{"93.184.216.34", "127.0.0.1"}},
		"plain http":              {"http://" + host, []string{"93.184.216.34"}},
		"another scheme":          {"ftp://" + host, nil},
		"no host":                 {"https:///x", nil},
		"credentials in the name": {"https://user@" + host, nil},
		"no address":              {"https://" + host, nil},
		"no URL":                  {"://", nil},
	} {
		_, err := client(t, s, outbound.Config{Timeout: 2 * time.Second}, c.addrs...).Do(t.Context(), outbound.Request{URL: c.url})
		assert.Error(t, err, name)
	}
}

func TestAnswersAreCappedAndRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	s, host := peer(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/moved" {
			http.Redirect(w, r, "/large", http.StatusFound)
			return
		}
		_, _ = w.Write([]byte(strings.Repeat("x", 101)))
	})
	c := client(t, s, outbound.Config{Allow: []string{host}, MaxBytes: 100}, "127.0.0.1")
	r, err := c.Do(t.Context(), outbound.Request{URL: "https://" + host + "/moved"})
	require.NoError(t, err)
	assert.Equal(t, http.StatusFound, r.Status)
	_, err = c.Do(t.Context(), outbound.Request{URL: "https://" + host + "/large"})
	assert.ErrorIs(t, err, outbound.ErrTooLarge)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = c.Do(ctx, outbound.Request{URL: "https://" + host + "/secret-token"})
	assert.ErrorIs(t, err, context.Canceled)
	assert.NotContains(t, err.Error(), "secret-token")
}
