package salesforce

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"sfbridge/internal/failpoint"
)

const (
	headerAutoAssign = "Sforce-Auto-Assign"
	headerDuplicates = "Sforce-Duplicate-Rule-Header"
	headerLimitInfo  = "Sforce-Limit-Info"
)

const (
	maxIdlePerHost   = 256
	connectTimeout   = 10 * time.Second
	idleTimeout      = 60 * time.Second
	connectionBuffer = 64 << 10
	maxReplyHeader   = 256 << 10
)

// NewTransport makes a transport for hundreds of calls at once to one host:
// connections are kept, each call has one of its own (HTTP/1.1), so that a
// broken connection leaves the outcome of one call unknown and not of all.
func NewTransport() *http.Transport {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         dial,
		TLSClientConfig:     &tls.Config{MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout: connectTimeout,
		MaxIdleConns:        2 * maxIdlePerHost,
		MaxIdleConnsPerHost: maxIdlePerHost,
		IdleConnTimeout:     idleTimeout,
		WriteBufferSize:     connectionBuffer,
		ReadBufferSize:      connectionBuffer,

		MaxResponseHeaderBytes: maxReplyHeader,
		Protocols:              protocols,
	}
}

func dial(ctx context.Context, network, address string) (net.Conn, error) {
	if err := failpoint.Err(failpoint.Dial); err != nil {
		return nil, err
	}
	return (&net.Dialer{Timeout: connectTimeout, KeepAlive: 30 * time.Second}).DialContext(ctx, network, address)
}

// exchange is the transport below the carrier, for one request. It sends the
// request with the caller's context and our headers, keeps the real answer and
// shows the carrier an empty success, so that the carrier neither parses nor
// logs anything and never follows a redirect.
type exchange struct {
	client   *Client
	ctx      context.Context
	req      request
	loopback bool

	response *http.Response
	err      error
	sent     atomic.Bool // a connection was taken: something may have arrived
}

// RoundTrip implements http.RoundTripper.
func (x *exchange) RoundTrip(carried *http.Request) (*http.Response, error) {
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { x.sent.Store(true) }}
	out := carried.WithContext(httptrace.WithClientTrace(x.ctx, trace))
	out.Header = carried.Header.Clone()
	out.Header.Set("Accept", "application/json")
	out.Header.Set("Content-Type", "application/json; charset=UTF-8")
	out.Header.Set("User-Agent", carrierName)
	if x.req.write {
		out.Header.Set(headerAutoAssign, "FALSE")
		if x.client.cfg.AllowDuplicates {
			out.Header.Set(headerDuplicates, "allowSave=true; includeRecordDetails=false; runAsCurrentUser=true")
		}
	}
	if x.loopback {
		out.Header.Set("Accept-Encoding", "identity")
	} else {
		x.client.compress(out, x.req.body)
	}
	failpoint.Hit(failpoint.Call(x.req.op))
	x.response, x.err = x.client.cfg.Transport.RoundTrip(out)
	return emptySuccess(carried), nil
}

func emptySuccess(req *http.Request) *http.Response {
	return &http.Response{
		StatusCode: http.StatusOK, Status: "200 OK",
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}")), Request: req,
	}
}

// compress sends a large body compressed.
func (c *Client) compress(out *http.Request, body []byte) {
	if c.cfg.CompressFrom < 0 || len(body) < c.cfg.CompressFrom {
		return
	}
	var buf bytes.Buffer
	w, _ := c.zip.Get().(*gzip.Writer)
	if w == nil {
		w, _ = gzip.NewWriterLevel(nil, gzip.BestSpeed)
	}
	w.Reset(&buf)
	_, _ = w.Write(body) // a bytes.Buffer takes everything
	_ = w.Close()
	c.zip.Put(w)
	packed := buf.Bytes()
	out.Body = io.NopCloser(bytes.NewReader(packed))
	out.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(packed)), nil }
	out.ContentLength = int64(len(packed))
	out.Header.Set("Content-Encoding", "gzip")
}

func isLoopbackURL(instance string) bool {
	u, err := url.Parse(instance)
	return err == nil && Loopback(u.Hostname())
}

var errTooLong = errors.New("the answer is too long")

// limitedReader gives errTooLong instead of a byte beyond the limit.
type limitedReader struct {
	r    io.Reader
	left int64
}

func (l *limitedReader) Read(p []byte) (int, error) {
	if l.left < 0 {
		return 0, errTooLong
	}
	if int64(len(p)) > l.left+1 {
		p = p[:l.left+1]
	}
	n, err := l.r.Read(p)
	l.left -= int64(n)
	if l.left < 0 {
		return n - 1, errTooLong
	}
	return n, err
}
