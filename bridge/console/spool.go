package console

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"
)

// UsageError is an error of a Spool that is a mistake of the caller.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }

func (e *UsageError) Unwrap() error { return e.Err }

// Spool is what the spool has set apart because Salesforce refuses it for good.
type Spool interface {
	// List gives at most so many entries: a list, ready to be written as JSON.
	List(ctx context.Context, limit int) (any, error)
	// Retry puts entries back by their ids, RetryAll all of them. They tell how
	// many were still apart.
	Retry(ctx context.Context, ids []string) (int, error)
	RetryAll(ctx context.Context) (int, error)
}

// Bounds of a list.
const (
	usualApart = 100
	mostApart  = 1000
)

// retryBody says which entries to try again: some by id, or all.
type retryBody struct {
	IDs *[]string `json:"ids"`
	All *bool     `json:"all"`
}

func (a *api) spoolRoutes(v1 *gin.RouterGroup) {
	v1.GET("/spool", a.apart)
	v1.POST("/spool/retry", a.retryApart)
}

func (a *api) apart(c *gin.Context) {
	ctx, cancel := a.reading(c)
	defer cancel()
	limit, err := apartLimit(newQuery(c, "limit"))
	if err != nil {
		refuse(c, err)
		return
	}
	if a.cfg.Spool == nil {
		refuse(c, noSpool())
		return
	}
	list, err := a.cfg.Spool.List(ctx, limit)
	if err != nil {
		refuse(c, spoolProblem(err))
		return
	}
	c.JSON(http.StatusOK, gin.H{"entries": list})
}

func apartLimit(q *query) (int, error) {
	n := q.number("limit")
	switch {
	case q.err != nil:
		return 0, q.err
	case n > mostApart:
		return 0, badRequest("limit is a number from 1 to " + strconv.Itoa(mostApart))
	case n == 0:
		return usualApart, nil
	}
	return n, nil
}

func (a *api) retryApart(c *gin.Context) {
	ids, err := readRetry(c)
	if err == nil && a.cfg.Spool == nil {
		err = noSpool()
	}
	if err != nil {
		refuse(c, err)
		return
	}
	ctx, cancel := context.WithTimeout(c.Request.Context(), a.cfg.ActionTimeout)
	defer cancel()
	var n int
	if ids == nil {
		n, err = a.cfg.Spool.RetryAll(ctx)
	} else {
		n, err = a.cfg.Spool.Retry(ctx, ids)
	}
	a.auditRetry(c, ids, n, err)
	if err != nil {
		refuse(c, spoolProblem(err))
		return
	}
	c.JSON(http.StatusOK, gin.H{"retried": n})
}

// auditRetry leaves the line that tells afterwards who had what tried again; no
// ids: all of it.
func (a *api) auditRetry(c *gin.Context, ids []string, n int, err error) {
	attrs := []any{"action", "retry of the spool", "by", actor(c), "from", c.Request.RemoteAddr, "all", ids == nil, "done", n}
	if ids != nil {
		attrs = append(attrs, "ids", ids[:min(mostNamed, len(ids))], "id_count", len(ids))
	}
	a.tell(c, attrs, spoolProblem(err))
}

// readRetry gives the ids of the entries; nil for all.
func readRetry(c *gin.Context) ([]string, error) {
	var body retryBody
	if err := readBody(c, &body); err != nil {
		return nil, err
	}
	switch {
	case body.IDs != nil && len(*body.IDs) > 0 && body.All == nil:
		return *body.IDs, nil
	case body.IDs == nil && body.All != nil && *body.All:
		return nil, nil
	}
	return nil, badRequest(`say which entries: {"ids": ["B03/…"]} or {"all": true}`)
}

func noSpool() *problem { return notFound("this process has no spool: it does not receive") }

func spoolProblem(err error) error {
	var wrong *UsageError
	if errors.As(err, &wrong) {
		return badRequest(wrong.Error())
	}
	return err
}
