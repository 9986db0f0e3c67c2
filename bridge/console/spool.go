package console

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"
)

// ErrUsage marks an error of a Spool as a mistake of the caller.
var ErrUsage = errors.New("not understood")

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
	IDs []string `json:"ids"`
	All bool     `json:"all"`
}

func (a *api) spoolRoutes(v1 *gin.RouterGroup) {
	v1.GET("/spool", a.apart)
	v1.POST("/spool/retry", a.retryApart)
}

func (a *api) apart(c *gin.Context) {
	ctx, cancel := a.reading(c)
	defer cancel()
	limit, err := apartLimit(c.Query("limit"))
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

func apartLimit(text string) (int, error) {
	if text == "" {
		return usualApart, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > mostApart {
		return 0, badRequest("limit is a number from 1 to " + strconv.Itoa(mostApart))
	}
	return n, nil
}

func (a *api) retryApart(c *gin.Context) {
	body, err := readRetry(c)
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
	if body.All {
		n, err = a.cfg.Spool.RetryAll(ctx)
	} else {
		n, err = a.cfg.Spool.Retry(ctx, body.IDs)
	}
	a.cfg.Log.LogAttrs(ctx, slog.LevelInfo, "entries of the spool are tried again", slog.String("who", actor(c)),
		slog.Bool("all", body.All), slog.Int("entries", n), slog.Bool("failed", err != nil))
	if err != nil {
		refuse(c, spoolProblem(err))
		return
	}
	c.JSON(http.StatusOK, gin.H{"retried": n})
}

// readRetry reads the body strictly.
func readRetry(c *gin.Context) (body retryBody, err error) {
	d := json.NewDecoder(http.MaxBytesReader(c.Writer, c.Request.Body, maxRequest))
	d.DisallowUnknownFields()
	err = d.Decode(&body)
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return body, err
	case err != nil && !errors.Is(err, io.EOF):
		return body, badRequest("the body is not what this route takes: " + err.Error())
	case body.All == (len(body.IDs) > 0):
		return body, badRequest(`say which entries: {"ids": ["B03/…"]} or {"all": true}`)
	}
	return body, nil
}

func noSpool() *problem { return notFound("this process has no spool: it does not receive") }

func spoolProblem(err error) error {
	if errors.Is(err, ErrUsage) {
		return badRequest(err.Error())
	}
	return err
}
