package salesforce

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

const (
	// maxTarget is the longest address sent; Salesforce refuses one of more than
	// 16,384 bytes, headers included. Longer queries go in the body of a composite.
	maxTarget = 12_000
	// MaxSOQL is the longest query Salesforce takes, in characters.
	MaxSOQL = 100_000
	// maxRestarts bounds how often a query begins again when its cursor is gone.
	maxRestarts = 2
)

// Query gives all records of a query, over as many pages as it has.
func (c *Client) Query(ctx context.Context, soql string) ([]Record, error) {
	var records []Record
	err := c.QueryEach(ctx, soql, func(r Record) error {
		records = append(records, r)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return records, nil
}

// QueryEach hands the records of a query to fn one by one, while they come in:
// no page is held as a whole. An error of fn ends it and is returned as it is.
// When the cursor is lost on the way the query begins again, and records that
// fn has had, told by Id, are left out.
func (c *Client) QueryEach(ctx context.Context, soql string, fn func(Record) error) error {
	if len(soql) > MaxSOQL {
		return refusal(OpQuery, "MALFORMED_QUERY", "a query of %d characters: at most %d, split its lists", len(soql), MaxSOQL)
	}
	had := history{}
	for restart := 0; ; restart++ {
		err := c.queryOnce(ctx, soql, func(r Record) error { return had.each(r, fn) })
		if e, ok := AsError(err); !ok || e.Code != "INVALID_QUERY_LOCATOR" || restart == maxRestarts {
			return err
		}
		had.rewind()
	}
}

// QueryFrom gives the records from a page on: Subresponse.Next.
func (c *Client) QueryFrom(ctx context.Context, next string) ([]Record, error) {
	var records []Record
	err := c.pages(ctx, next, func(r Record) error {
		records = append(records, r)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return records, nil
}

func (c *Client) queryOnce(ctx context.Context, soql string, fn func(Record) error) error {
	next, err := c.firstPage(ctx, soql, fn)
	if err != nil {
		return err
	}
	return c.pages(ctx, next, fn)
}

func (c *Client) firstPage(ctx context.Context, soql string, fn func(Record) error) (next string, err error) {
	if len(c.base)+len("query?q=")+len(escapeQuery(soql)) > maxTarget {
		return c.firstPageInBody(ctx, soql, fn)
	}
	next, err = c.page(ctx, request{op: OpQuery, soql: soql}, fn)
	if e, ok := AsError(err); ok &&
		(e.Status == http.StatusRequestURITooLong || e.Status == http.StatusRequestHeaderFieldsTooLarge) {
		return c.firstPageInBody(ctx, soql, fn)
	}
	return next, err
}

// firstPageInBody sends a query that is too long for an address.
func (c *Client) firstPageInBody(ctx context.Context, soql string, fn func(Record) error) (string, error) {
	subs, err := c.Composite(ctx, []Subrequest{QueryRows("query", soql)}, false)
	if err != nil {
		return "", err
	}
	if s := subs[0]; !s.OK() {
		return "", &Error{Op: OpQuery, Status: s.Status, Fault: s.Fault()}
	}
	for _, r := range subs[0].Records {
		if err := fn(r); err != nil {
			return "", err
		}
	}
	return subs[0].Next, nil
}

// pages follows the addresses that Salesforce gives until there is none; it
// never infers from the size of a page.
func (c *Client) pages(ctx context.Context, next string, fn func(Record) error) error {
	visited := map[string]bool{}
	for next != "" {
		if visited[next] {
			return &Error{Op: OpQueryMore, Fault: Fault{Message: "the address of the next page repeats", Class: ClassRetryable}}
		}
		visited[next] = true
		if !strings.HasPrefix(next, "/services/data/") {
			return &Error{Op: OpQueryMore, Fault: Fault{Message: "the address of the next page is malformed", Class: ClassRetryable}}
		}
		var err error
		if next, err = c.page(ctx, request{op: OpQueryMore, next: next}, fn); err != nil {
			return err
		}
	}
	return nil
}

func (c *Client) page(ctx context.Context, req request, fn func(Record) error) (string, error) {
	var p page
	req.stream = func(s answerStream) error {
		p = page{}
		if err := p.read(s, fn); err != nil {
			return fmt.Errorf("%w (type %q)", err, s.contentType)
		}
		return p.finish()
	}
	err := c.call(ctx, req, nil)
	return p.next, err
}

// page is what a query's answer says besides its records.
type page struct {
	total int
	done  *bool
	next  string
}

var errNoPage = errors.New("the answer is no complete page of a query")

// read walks through a page, handing over each record as soon as it is read.
func (p *page) read(r io.Reader, fn func(Record) error) error {
	dec := json.NewDecoder(r)
	dec.UseNumber()
	if err := expect(dec, '{'); err != nil {
		return err
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return readError(err)
		}
		if err := p.member(dec, name, fn); err != nil {
			return err
		}
	}
	if err := expect(dec, '}'); err != nil {
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return readError(err)
	}
	return nil
}

func (p *page) member(dec *json.Decoder, name json.Token, fn func(Record) error) error {
	var err error
	switch name {
	case "totalSize":
		err = dec.Decode(&p.total)
	case "done":
		err = dec.Decode(&p.done)
	case "nextRecordsUrl":
		err = dec.Decode(&p.next)
	case "records":
		return records(dec, fn)
	default:
		var skipped json.RawMessage
		err = dec.Decode(&skipped)
	}
	if err != nil {
		return readError(err)
	}
	return nil
}

func records(dec *json.Decoder, fn func(Record) error) error {
	if err := expect(dec, '['); err != nil {
		return err
	}
	for dec.More() {
		var v any // a map type of our own would be filled by reflection, at twice the cost
		if err := dec.Decode(&v); err != nil {
			return readError(err)
		}
		r, ok := v.(map[string]any)
		if !ok {
			return errNoPage
		}
		if err := fn(r); err != nil {
			return &stopped{err}
		}
	}
	return expect(dec, ']')
}

func expect(dec *json.Decoder, want json.Delim) error {
	token, err := dec.Token()
	if err != nil {
		return readError(err)
	}
	if token != want {
		return errNoPage
	}
	return nil
}

// readError keeps the one cause that is told apart; the decoder's own texts may
// quote the answer.
func readError(err error) error {
	if errors.Is(err, errTooLong) {
		return errTooLong
	}
	return errNoPage
}

// finish checks that the page says where the query goes on or that it is done.
func (p *page) finish() error {
	switch {
	case p.done == nil:
		return errNoPage
	case *p.done:
		p.next = ""
	case p.next == "":
		return errors.New("the query has more records but no address of the next page")
	}
	return nil
}

// history remembers the records handed over, for a query that begins again.
type history struct {
	ids  []string
	skip map[string]bool
}

func (h *history) each(r Record, fn func(Record) error) error {
	id := r.ID()
	if h.skip[id] {
		if id == "" {
			return &Error{Op: OpQueryMore, Fault: Fault{Code: "INVALID_QUERY_LOCATOR",
				Message: "the cursor is gone, and without Id in the query it can't begin again", Class: ClassRetryable}}
		}
		return nil
	}
	if err := fn(r); err != nil {
		return err
	}
	h.ids = append(h.ids, id)
	return nil
}

func (h *history) rewind() {
	h.skip = make(map[string]bool, len(h.ids))
	for _, id := range h.ids {
		h.skip[id] = true
	}
}
