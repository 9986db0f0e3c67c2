package rest

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"sfbridge/salesforce/simorg/schema"
	"sfbridge/salesforce/simorg/soql"
)

const (
	minPage   = 200
	maxPage   = 2000
	longPage  = 500     // rows of a page that shows long text
	pageBytes = 4 << 20 // a page ends early when it has grown so large

	cursorLife = 48 * time.Hour
	maxCursors = 1000

	queryTimeout = 2 * time.Minute
)

// cursors is the queries with pages left. It is safe for concurrent use.
type cursors struct {
	now  func() time.Time
	mu   sync.Mutex
	next uint64
	open map[string]*cursor
	age  []string // locators, oldest first
}

// cursor is the result of a query; its rows are those of the moment it ran.
type cursor struct {
	query   *soql.Query
	result  *soql.Result
	page    int
	expires time.Time
}

func newCursors(now func() time.Time) *cursors {
	return &cursors{now: now, open: map[string]*cursor{}}
}

func (c *cursors) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open, c.age = map[string]*cursor{}, nil
}

func (c *cursors) keep(cur *cursor) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.next++
	locator := schema.NewID("01g", c.next)
	cur.expires = c.now().Add(cursorLife)
	c.open[locator] = cur
	c.age = append(c.age, locator)
	if len(c.age) > maxCursors {
		delete(c.open, c.age[0])
		c.age = c.age[1:]
	}
	return locator
}

func (c *cursors) find(locator string) *cursor {
	c.mu.Lock()
	defer c.mu.Unlock()
	cur := c.open[locator]
	if cur == nil || c.now().After(cur.expires) {
		return nil
	}
	return cur
}

// queries serves query, queryAll and their further pages.
func (a *API) queries(q *request) reply {
	if q.method != http.MethodGet && q.method != http.MethodHead {
		return notAllowed(q.method, "HEAD,GET")
	}
	switch len(q.path) {
	case 1:
		return a.query(q)
	case 2:
		return a.nextPage(q)
	}
	return notFound()
}

func (a *API) query(q *request) reply {
	text := q.query.Get("q")
	if text == "" {
		return bad("MALFORMED_QUERY", "unexpected token: '<EOF>'").reply()
	}
	compiled, err := soql.Compile(text, a.cfg.Org.Schema(), soql.Options{
		Visible: func(f *schema.Field) bool { return !a.cfg.Hidden(f) },
		Now:     a.cfg.Now(),
	})
	var refusal *soql.Error
	switch {
	case errors.As(err, &refusal):
		return bad(refusal.Code, refusal.Message).reply()
	case err != nil:
		return bad("MALFORMED_QUERY", err.Error()).reply()
	case strings.EqualFold(q.query.Get("columns"), "true"):
		return ok(columnMetadata(compiled))
	}
	ctx, cancel := context.WithTimeout(context.Background(), queryTimeout)
	defer cancel()
	result, err := q.tx.Query(ctx, compiled)
	if err != nil {
		return bad("QUERY_TIMEOUT", "Your query request was running for too long.").reply()
	}
	return a.firstPage(q, &cursor{query: compiled, result: result, page: a.pageSize(q)})
}

var batchSize = regexp.MustCompile(`(?i)batchSize\s*=\s*(\d+)`)

// pageSize is the rows of a page: what the client asks for, within bounds.
func (a *API) pageSize(q *request) int {
	size := maxPage
	if m := batchSize.FindStringSubmatch(q.header.Get("Sforce-Query-Options")); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil {
			size = min(max(n, minPage), maxPage)
		}
	}
	return min(size, a.cfg.PageSize)
}

func (a *API) firstPage(q *request, cur *cursor) reply {
	switch {
	case cur.query.Count:
		return ok([]byte(`{"totalSize":` + itoa(cur.result.Total) + `,"done":true,"records":[]}`))
	case cur.query.Columns != nil && len(cur.result.Aggregates) > maxPage:
		return bad("EXCEEDED_ID_LIMIT", "Aggregate query does not support queryMore(), use LIMIT to restrict the results to a single batch").reply()
	case cur.query.Columns != nil:
		return ok(a.form(q).aggregates(nil, cur))
	}
	return a.pageFrom(q, cur, "", 0)
}

func (a *API) nextPage(q *request) reply {
	locator, position, found := strings.Cut(q.path[1], "-")
	from, err := strconv.Atoi(position)
	cur := a.cursors.find(locator)
	if !found || err != nil || cur == nil || from <= 0 || from >= len(cur.result.Records) {
		return bad("INVALID_QUERY_LOCATOR", "invalid query locator").reply()
	}
	return a.pageFrom(q, cur, locator, from)
}

// pageFrom writes one page of records.
func (a *API) pageFrom(q *request, cur *cursor, locator string, from int) reply {
	records := cur.result.Records
	size := cur.page
	if showsLong(cur.query.Select) {
		size = min(size, longPage)
	}
	fm := a.form(q)
	rows := []byte{'['}
	to := from
	for ; to < len(records) && to-from < size && len(rows) < pageBytes; to++ {
		if to > from {
			rows = append(rows, ',')
		}
		rows = fm.record(rows, cur.query.Select, records[to])
	}
	b := make([]byte, 0, len(rows)+256)
	b = append(b, `{"totalSize":`...)
	b = append(b, itoa(cur.result.Total)...)
	if to == len(records) {
		b = append(b, `,"done":true,"records":`...)
	} else {
		if locator == "" {
			locator = a.cursors.keep(cur)
		}
		b = append(b, `,"done":false,"nextRecordsUrl":"/services/data/v`+itoa(q.version)+`.0/`+q.path[0]+`/`+locator+`-`+itoa(to)+`","records":`...)
	}
	b = append(b, rows...)
	return ok(append(b, "]}"...))
}

// showsLong says whether a selection shows long text of the record itself.
func showsLong(sel *soql.Selection) bool {
	for _, item := range sel.Items {
		if item.Parent == nil && item.Field.Type.Long() {
			return true
		}
	}
	return false
}

// record writes one record of a query with its parents.
func (fm form) record(b []byte, sel *soql.Selection, rec soql.Record) []byte {
	b = append(b, '{')
	b = fm.attributes(b, sel.Object, rec.Row.ID())
	for _, item := range sel.Items {
		b = append(b, `,"`...)
		b = append(b, item.Name...)
		b = append(b, `":`...)
		switch {
		case item.Parent == nil:
			b = fm.value(b, item.Field, rec.Row[item.Field.Slot])
		case rec.Parents[item.Slot].Row == nil:
			b = append(b, "null"...)
		default:
			b = fm.record(b, item.Parent, rec.Parents[item.Slot].Record)
		}
	}
	return append(b, '}')
}

func (fm form) aggregates(b []byte, cur *cursor) []byte {
	b = append(b, `{"totalSize":`+itoa(len(cur.result.Aggregates))+`,"done":true,"records":[`...)
	for i, row := range cur.result.Aggregates {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"attributes":{"type":"AggregateResult"}`...)
		for j, column := range cur.query.Columns {
			b = append(b, ',')
			b = appendString(b, column.Name)
			b = append(b, ':')
			b = fm.value(b, column.Field, row[j])
		}
		b = append(b, '}')
	}
	return append(b, "]}"...)
}
