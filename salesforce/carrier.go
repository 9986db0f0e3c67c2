package salesforce

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"strings"

	"github.com/simpleforce/simpleforce"
)

const carrierName = "sfbridge"

// attempt sends a request once. The carrier composes it; the exchange below it
// sends it and keeps the real answer.
func (c *Client) attempt(ctx context.Context, s Session, req request, accept func(reply) error) error {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	if ctx.Err() != nil {
		return transportError(ctx, req, context.Cause(ctx), false)
	}
	req.hide = s.Token
	x := &exchange{client: c, ctx: ctx, req: req, loopback: isLoopbackURL(s.Instance)}
	carrier := simpleforce.NewClient(s.Instance, carrierName, c.cfg.APIVersion)
	carrier.SetSidLoc(s.Token.Reveal(), s.Instance)
	carrier.SetHttpClient(&http.Client{Transport: x})
	send(carrier, c.base, req)
	switch {
	case x.err != nil:
		return transportError(ctx, req, x.err, x.sent.Load())
	case x.response == nil:
		return refusal(req.op, "", "the address of the request is malformed")
	}
	defer x.response.Body.Close()
	noteUsage(&c.usage, x.response.Header, c.cfg.Now())
	return c.receive(ctx, req, x.response, accept)
}

// send lets the carrier compose and send the request. What it returns is
// without meaning: the exchange shows it an empty success.
func send(carrier *simpleforce.Client, base string, req request) {
	switch {
	case req.soql != "":
		_, _ = carrier.Query(req.soql)
	case req.next != "":
		_, _ = carrier.Query(req.next)
	default:
		var body io.Reader
		if req.body != nil {
			body = bytes.NewReader(req.body)
		}
		_, _ = carrier.ApexREST(req.method, strings.TrimPrefix(base, "/")+req.path, body)
	}
}

// receive judges the real answer and hands a good one on.
func (c *Client) receive(ctx context.Context, req request, resp *http.Response, accept func(reply) error) error {
	good := resp.StatusCode >= 200 && resp.StatusCode < 300
	limited := &limitedReader{r: resp.Body, left: c.cfg.MaxReply}
	if good && req.stream != nil {
		return c.receiveStream(ctx, req, resp, limited)
	}
	body, err := io.ReadAll(limited)
	r := reply{op: req.op, write: req.write, status: resp.StatusCode, header: resp.Header, body: body}
	switch {
	case !good:
		return r.refused(req)
	case errors.Is(err, errTooLong):
		return r.tooLong(c.cfg.MaxReply)
	case err != nil:
		return transportError(ctx, req, err, true)
	}
	return accept(r)
}

func (c *Client) receiveStream(ctx context.Context, req request, resp *http.Response, body io.Reader) error {
	err := req.stream(answerStream{Reader: body, contentType: resp.Header.Get("Content-Type")})
	r := reply{op: req.op, write: req.write, status: resp.StatusCode, header: resp.Header}
	var stop *stopped
	switch {
	case err == nil:
		return nil
	case errors.As(err, &stop):
		return stop.err
	case errors.Is(err, errTooLong):
		return r.tooLong(c.cfg.MaxReply)
	case ctx.Err() != nil:
		return transportError(ctx, req, context.Cause(ctx), true)
	}
	return r.lost(err.Error())
}

// transportError is a call that got no answer, or only a part of one.
func transportError(ctx context.Context, req request, err error, sent bool) *Error {
	e := &Error{Op: req.op, Fault: Fault{Class: ClassRetryable}}
	if sent {
		e.Class = lost(req.write)
	}
	if ctx.Err() != nil {
		e.Err = ctx.Err()
		e.Message = "no answer in time"
		if errors.Is(e.Err, context.Canceled) {
			e.Message = "given up"
		}
		return e
	}
	e.Message = excerpt(hideIn(causeText(err), req.hide))
	return e
}

// causeText leaves out the address that url.Error would show.
func causeText(err error) string {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return "the connection ended before the answer was complete"
	}
	return err.Error()
}

// QuietCarrier keeps the carrier's lines out of the standard logger: it logs
// user names there, and bodies of failed calls if ever it saw one. All other
// lines pass as they did. Doing it twice does no harm; New and package auth do
// it.
func QuietCarrier() {
	if _, done := log.Writer().(carrierFilter); !done {
		log.SetOutput(carrierFilter{log.Writer()})
	}
}

type carrierFilter struct{ next io.Writer }

func (f carrierFilter) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("[simpleforce]")) {
		return len(p), nil
	}
	n, err := f.next.Write(p)
	if err != nil {
		return n, fmt.Errorf("writing the log: %w", err)
	}
	return n, nil
}
