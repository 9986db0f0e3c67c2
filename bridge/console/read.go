package console

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"sfbridge/bridge/event"
	"sfbridge/bridge/operate"
)

// eventID is the id of the route. Where the caller had to escape it, the
// routes leave it as it was sent.
func eventID(c *gin.Context) (string, error) {
	id := c.Param("id")
	if c.Request.URL.RawPath == "" {
		return id, nil
	}
	plain, err := url.PathUnescape(id)
	if err != nil {
		return "", badRequest("the event id is not escaped rightly")
	}
	return plain, nil
}

func (a *api) reading(c *gin.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(c.Request.Context(), a.cfg.Timeout)
}

// query reads the parameters of a request; a name that the route doesn't have
// is a mistake that would choose more than was meant.
type query struct {
	values url.Values
	err    error
}

func newQuery(c *gin.Context, names ...string) *query {
	values, err := url.ParseQuery(c.Request.URL.RawQuery)
	q := &query{values: values}
	if err != nil {
		q.fail("the query can't be read")
	}
	for name, given := range values {
		switch {
		case !slices.Contains(names, name):
			q.fail("unknown parameter " + strconv.Quote(name) + ": " + wanted(names))
		case name != "status" && len(given) > 1:
			q.fail(name + " stands twice")
		}
	}
	return q
}

func wanted(names []string) string {
	if len(names) == 0 {
		return "this route has none"
	}
	return "want one of " + strings.Join(names, ", ")
}

func (q *query) fail(message string) {
	if q.err == nil {
		q.err = badRequest(message)
	}
}

func (q *query) text(name string) string { return q.values.Get(name) }

// list reads values that are repeated or joined by commas.
func (q *query) list(name string) []string {
	var all []string
	for _, v := range q.values[name] {
		all = append(all, strings.Split(v, ",")...)
	}
	return all
}

func (q *query) number(name string) int {
	text := q.text(name)
	if text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		q.fail(name + " is not a number above 0")
	}
	return n
}

func (q *query) time(name string) time.Time {
	text := q.text(name)
	if text == "" {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		q.fail(name + " is not a time like 2026-11-30T12:00:00Z")
	}
	return t
}

// filterNames are the parameters that choose events.
func filterNames(more ...string) []string {
	return append([]string{"source", "type", "object", "status", "code", "since", "until"}, more...)
}

func (q *query) filter() operate.Filter {
	f := operate.Filter{
		Source: q.text("source"), Type: q.text("type"), ObjectID: q.text("object"), Code: q.text("code"),
		Since: q.time("since"), Until: q.time("until"),
	}
	status, err := statuses(q.list("status"))
	if q.err == nil {
		q.err = err
	}
	f.Status = status
	return f
}

func (a *api) events(c *gin.Context) {
	q := newQuery(c, filterNames("limit", "cursor")...)
	f := q.filter()
	f.Limit = q.number("limit")
	from, err := operate.ParseCursor(q.text("cursor"))
	if q.err != nil || err != nil {
		refuse(c, firstError(q.err, err))
		return
	}
	ctx, cancel := a.reading(c)
	defer cancel()
	list, next, err := a.cfg.Desk.Page(ctx, f, from)
	if err != nil {
		refuse(c, err)
		return
	}
	c.JSON(http.StatusOK, eventPage{Events: eventViews(list), Next: orNull(next.String())})
}

func (a *api) groups(c *gin.Context) {
	q := newQuery(c, filterNames()...)
	f := q.filter()
	if q.err != nil {
		refuse(c, q.err)
		return
	}
	ctx, cancel := a.reading(c)
	defer cancel()
	groups, err := a.cfg.Desk.Groups(ctx, f)
	if err != nil {
		refuse(c, err)
		return
	}
	c.JSON(http.StatusOK, gin.H{"groups": groups})
}

func statuses(names []string) ([]event.Status, error) {
	var list []event.Status
	for _, name := range names {
		s, err := operate.ParseStatus(name)
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// story reads the event of the route.
func (a *api) story(c *gin.Context) (operate.Story, bool) {
	id, err := eventID(c)
	if err = firstError(newQuery(c).err, err); err != nil {
		refuse(c, err)
		return operate.Story{}, false
	}
	ctx, cancel := a.reading(c)
	defer cancel()
	s, err := a.cfg.Desk.Show(ctx, id)
	if err != nil {
		refuse(c, err)
		return operate.Story{}, false
	}
	return s, true
}

func (a *api) event(c *gin.Context) {
	if s, ok := a.story(c); ok {
		c.JSON(http.StatusOK, storyView(s))
	}
}

func (a *api) history(c *gin.Context) {
	if s, ok := a.story(c); ok {
		c.JSON(http.StatusOK, historyView{EventID: s.Event.ID, History: operate.Lines(s.Event.History)})
	}
}

func (a *api) effects(c *gin.Context) {
	q := newQuery(c, "event", "name", "status", "limit")
	f := operate.EffectFilter{Event: q.text("event"), Name: q.text("name"), Limit: q.number("limit")}
	for _, name := range q.list("status") {
		s, err := operate.ParseEffectStatus(name)
		if err != nil {
			refuse(c, err)
			return
		}
		f.Status = append(f.Status, s)
	}
	if q.err != nil {
		refuse(c, q.err)
		return
	}
	ctx, cancel := a.reading(c)
	defer cancel()
	list, err := a.cfg.Desk.Effects(ctx, f)
	if err != nil {
		refuse(c, err)
		return
	}
	c.JSON(http.StatusOK, gin.H{"effects": effectViews(list)})
}

// view answers with what the process knows under a name.
func (a *api) view(v View, name string) gin.HandlerFunc {
	return func(c *gin.Context) {
		if err := newQuery(c).err; err != nil {
			refuse(c, err)
			return
		}
		ctx, cancel := a.reading(c)
		defer cancel()
		known, err := v(ctx)
		if err != nil {
			refuse(c, err)
			return
		}
		c.JSON(http.StatusOK, gin.H{name: known})
	}
}
