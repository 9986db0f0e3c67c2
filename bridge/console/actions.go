package console

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"sfbridge/bridge/operate"
)

// maxRequest bounds the body of an action.
const maxRequest = 256 << 10

// order is what a caller wants done with the events of a filter.
type order struct {
	Filter filterBody `json:"filter"`
	Reason string     `json:"reason"`
	Force  bool       `json:"force"`
	DryRun bool       `json:"dry_run"`

	chosen operate.Filter
	who    string
}

// filterBody is a filter as callers write it.
type filterBody struct {
	IDs    []string   `json:"ids"`
	Source string     `json:"source"`
	Type   string     `json:"type"`
	Object string     `json:"object"`
	Status []string   `json:"status"`
	Code   string     `json:"code"`
	Since  *time.Time `json:"since"`
	Until  *time.Time `json:"until"`
	Limit  int        `json:"limit"`
}

func (f filterBody) filter() (operate.Filter, error) {
	status, err := statuses(f.Status)
	chosen := operate.Filter{
		IDs: f.IDs, Source: f.Source, Type: f.Type, ObjectID: f.Object, Status: status, Code: f.Code, Limit: f.Limit,
	}
	if f.Since != nil {
		chosen.Since = *f.Since
	}
	if f.Until != nil {
		chosen.Until = *f.Until
	}
	return chosen, err
}

// readOrder reads the body strictly: a member that is not known might have been
// meant to choose less.
func readOrder(c *gin.Context) (order, error) {
	var o order
	d := json.NewDecoder(http.MaxBytesReader(c.Writer, c.Request.Body, maxRequest))
	d.DisallowUnknownFields()
	err := d.Decode(&o)
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("data after the object")
		}
	}
	var large *http.MaxBytesError
	switch {
	case errors.Is(err, io.EOF): // no body: nothing special is wanted
	case errors.As(err, &large):
		return o, err
	case err != nil:
		return o, badRequest("the body is not what this route takes: " + err.Error())
	}
	o.who = actor(c)
	o.Reason = strings.TrimSpace(o.Reason)
	o.chosen, err = o.Filter.filter()
	return o, err
}

// actor is who asks, by what the caller says.
func actor(c *gin.Context) string {
	name := strings.Join(strings.Fields(c.GetHeader("X-Actor")), " ")
	if name == "" {
		return "admin API"
	}
	const longest = 80
	runes := []rune(name)
	return string(runes[:min(len(runes), longest)])
}

// action does something with the events that an order chooses.
type action struct {
	name string
	do   func(ctx context.Context, o order) (operate.Report, error)
}

func (a *api) act(c *gin.Context, act action, o order) (operate.Report, error) {
	ctx, cancel := context.WithTimeout(c.Request.Context(), a.cfg.ActionTimeout)
	defer cancel()
	report, err := act.do(ctx, o)
	a.audit(c, act.name, o, report, err)
	return report, err
}

// many carries out an action on what a filter chooses.
func (a *api) many(act action) gin.HandlerFunc {
	return func(c *gin.Context) {
		o, err := readOrder(c)
		if err != nil {
			refuse(c, err)
			return
		}
		report, err := a.act(c, act, o)
		if err != nil {
			refuse(c, err)
			return
		}
		c.JSON(http.StatusOK, report)
	}
}

// one carries out an action on the event of the route, which has to be there
// and to be such that it can be done.
func (a *api) one(act action) gin.HandlerFunc {
	return func(c *gin.Context) {
		id, err := eventID(c)
		if err != nil {
			refuse(c, err)
			return
		}
		o, err := readOrder(c)
		if err == nil && (o.chosen.Selective() || o.chosen.Limit != 0) {
			err = badRequest("the event is named by the route: leave the filter out")
		}
		if err != nil {
			refuse(c, err)
			return
		}
		o.chosen = operate.Filter{IDs: []string{id}}
		report, err := a.act(c, act, o)
		if err == nil {
			err = notDone(id, act.name, report)
		}
		if err != nil {
			refuse(c, err)
			return
		}
		c.JSON(http.StatusOK, report)
	}
}

// The actions of the API.

func (a *api) replay() action {
	return action{"replay", func(ctx context.Context, o order) (operate.Report, error) {
		return a.cfg.Desk.Replay(ctx, operate.Replay{Filter: o.chosen, Force: o.Force, DryRun: o.DryRun, Who: o.who, Reason: o.Reason})
	}}
}

func (a *api) discard() action {
	return action{"discard", func(ctx context.Context, o order) (operate.Report, error) {
		if o.Force {
			return operate.Report{}, badRequest("force is for replays")
		}
		return a.cfg.Desk.Discard(ctx, operate.Discard{Filter: o.chosen, DryRun: o.DryRun, Who: o.who, Reason: o.Reason})
	}}
}

func (a *api) accept() action {
	return action{"accept", func(ctx context.Context, o order) (operate.Report, error) {
		if o.Force {
			return operate.Report{}, badRequest("force is for replays")
		}
		return a.cfg.Desk.Accept(ctx, operate.Accept{Filter: o.chosen, DryRun: o.DryRun, Who: o.who, Reason: o.Reason})
	}}
}

// notDone says why an action on one event did nothing; nil when it did.
func notDone(id, name string, r operate.Report) error {
	switch {
	case r.Failed > 0:
		return &problem{http.StatusBadGateway, "unavailable", "the org refuses it: " + r.Refusals[0].Code + " " + r.Refusals[0].Message}
	case r.Moved > 0:
		return &problem{http.StatusConflict, "conflict", "somebody else moved the event on meanwhile: read it again"}
	case r.Skipped[operate.NoSuchEvent] > 0:
		return notFound("there is no event " + id)
	case len(r.Skipped) > 0:
		reasons := slices.Sorted(maps.Keys(r.Skipped))
		return &problem{http.StatusConflict, "conflict", name + " is not possible: " + strings.Join(reasons, ", ")}
	}
	return nil
}

// audit leaves the line that tells afterwards who did what.
func (a *api) audit(c *gin.Context, name string, o order, r operate.Report, err error) {
	attrs := []any{
		"action", name, "by", o.who, "from", c.Request.RemoteAddr, "filter", o.described(), "reason", o.Reason,
		"force", o.Force, "dry_run", o.DryRun, "matched", r.Matched, "done", r.Done, "moved", r.Moved, "failed", r.Failed,
	}
	level := slog.LevelInfo
	if err != nil {
		level, attrs = slog.LevelWarn, append(attrs, "error", problemOf(err).message)
	}
	a.cfg.Log.Log(c.Request.Context(), level, "admin action", attrs...)
}

// described is the filter as JSON, without what it leaves open. A long list of
// ids is cut.
func (o order) described() string {
	const most = 20
	f, said := o.chosen, map[string]any{}
	say := func(name, value string) {
		if value != "" {
			said[name] = value
		}
	}
	say("source", f.Source)
	say("type", f.Type)
	say("object", f.ObjectID)
	say("code", f.Code)
	if len(f.IDs) > 0 {
		said["ids"], said["id_count"] = f.IDs[:min(most, len(f.IDs))], len(f.IDs)
	}
	if len(f.Status) > 0 {
		said["status"] = f.Status
	}
	if !f.Since.IsZero() {
		said["since"] = f.Since
	}
	if !f.Until.IsZero() {
		said["until"] = f.Until
	}
	if f.Limit > 0 {
		said["limit"] = f.Limit
	}
	text, _ := json.Marshal(said) // plain values
	return string(text)
}
