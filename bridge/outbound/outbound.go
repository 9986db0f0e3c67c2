// Package outbound makes the requests that deliveries or mappings lead to:
// certificates and keys, confirmations, and whatever else goes to an address
// that a stranger may have had a hand in.
//
//	client := outbound.New(outbound.Config{Allow: cfg.Outbound.Allow})
//	reply, err := client.Do(ctx, outbound.Request{URL: address})
//
// It speaks https only. A name is resolved once, every address of it must be a
// public one, and the address that was checked is the one that is dialled. It
// follows no redirects, uses no proxy, and reads an answer only up to a cap.
// Config.Allow names host:port pairs that may be private or plain http.
package outbound

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Config says what may be reached.
type Config struct {
	Allow    []string      // host:port that may be private, or plain http
	Timeout  time.Duration // for a whole request; 10 s
	MaxBytes int64         // of an answer; 256 KiB
	TLS      *tls.Config   // nil: the system's roots
	// Resolve looks a name up; nil: the system's resolver.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
}

// Request is what is asked.
type Request struct {
	Method string // GET
	URL    string
	Header http.Header
	Body   []byte
}

// Response is a whole answer.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

// ErrForbidden says that an address must not be called.
var ErrForbidden = errors.New("this address must not be called")

// ErrTooLarge says that an answer is larger than the cap.
var ErrTooLarge = errors.New("the answer is too large")

// Client makes requests. It is safe for concurrent use.
type Client struct {
	cfg  Config
	http *http.Client
}

// New makes a client.
func New(cfg Config) *Client {
	if cfg.Timeout <= 0 {
		cfg.Timeout = 10 * time.Second
	}
	if cfg.MaxBytes <= 0 {
		cfg.MaxBytes = 256 << 10
	}
	if cfg.Resolve == nil {
		cfg.Resolve = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	c := &Client{cfg: cfg}
	c.http = &http.Client{
		Transport: &http.Transport{
			DialContext: c.dial, TLSClientConfig: cfg.TLS, TLSHandshakeTimeout: cfg.Timeout,
			ForceAttemptHTTP2: true, MaxIdleConns: 10, IdleConnTimeout: 30 * time.Second, MaxResponseHeaderBytes: 64 << 10,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c
}

// CloseIdle closes connections that nobody uses.
func (c *Client) CloseIdle() { c.http.CloseIdleConnections() }

// Do makes one request.
func (c *Client) Do(ctx context.Context, r Request) (Response, error) {
	if err := c.check(r.URL); err != nil {
		return Response{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	method := r.Method
	if method == "" {
		method = http.MethodGet
	}
	req, err := http.NewRequestWithContext(ctx, method, r.URL, bytes.NewReader(r.Body))
	if err != nil {
		return Response{}, ErrForbidden
	}
	for name, values := range r.Header {
		req.Header[name] = values
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return Response{}, withoutURL(err)
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	body, err := io.ReadAll(io.LimitReader(resp.Body, c.cfg.MaxBytes+1))
	if err != nil {
		return Response{}, withoutURL(err)
	}
	if int64(len(body)) > c.cfg.MaxBytes {
		return Response{}, ErrTooLarge
	}
	return Response{Status: resp.StatusCode, Header: resp.Header, Body: body}, nil
}

// withoutURL drops the address, which may hold a token.
func withoutURL(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}

// check judges an address before anything is looked up.
func (c *Client) check(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil {
		return ErrForbidden
	}
	if u.Scheme == "https" || (u.Scheme == "http" && c.allowed(hostPort(u))) {
		return nil
	}
	return ErrForbidden
}

func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port)
}

func (c *Client) allowed(hostPort string) bool {
	return slices.ContainsFunc(c.cfg.Allow, func(a string) bool { return strings.EqualFold(a, hostPort) })
}

// dial connects to an address of the host that was checked. A name with one
// private address is refused whole: it is not what it pretends to be.
func (c *Client) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	addrs, err := c.resolve(ctx, host)
	if err != nil {
		return nil, err
	}
	if !c.allowed(address) {
		for _, a := range addrs {
			if !public(a) {
				return nil, fmt.Errorf("%w: %s is not public", ErrForbidden, host)
			}
		}
	}
	var d net.Dialer
	var problems []error
	for _, a := range addrs {
		conn, err := d.DialContext(ctx, network, net.JoinHostPort(a.String(), port))
		if err == nil {
			return conn, nil
		}
		problems = append(problems, err)
	}
	return nil, errors.Join(problems...)
}

func (c *Client) resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a}, nil
	}
	addrs, err := c.cfg.Resolve(ctx, host)
	if err == nil && len(addrs) == 0 {
		err = errors.New("the name has no address")
	}
	return addrs, err
}

// reserved are ranges that netip doesn't tell from public ones.
var reserved = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("198.51.100.0/24"),
	netip.MustParsePrefix("203.0.113.0/24"), netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("64:ff9b:1::/48"), netip.MustParsePrefix("100::/64"),
	netip.MustParsePrefix("2001::/32"), netip.MustParsePrefix("2001:db8::/32"), netip.MustParsePrefix("2002::/16"),
}

func public(a netip.Addr) bool {
	a = a.Unmap()
	if !a.IsGlobalUnicast() || a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast() {
		return false
	}
	return !slices.ContainsFunc(reserved, func(p netip.Prefix) bool { return p.Contains(a.WithZone("")) })
}
