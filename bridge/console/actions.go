package console

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"sfbridge/bridge/operate"
)

// orderBody is what a caller wants done with the events of a filter.
type orderBody struct {
	Filter filterBody `json:"filter"`
	Reason string     `json:"reason"`
	Force  bool       `json:"force"`
	DryRun bool       `json:"dry_run"`
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

// readOrder reads what is to be done; without a body nothing special is wanted.
func readOrder(c *gin.Context) (operate.Order, error) {
	var body orderBody
	if err := readBody(c, &body); err != nil {
		return operate.Order{}, err
	}
	o := operate.Order{Force: body.Force, DryRun: body.DryRun, Who: actor(c), Reason: strings.TrimSpace(body.Reason)}
	var err error
	o.Filter, err = body.Filter.filter()
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
	do   func(ctx context.Context, o operate.Order) (operate.Report, error)
}

func (a *api) act(c *gin.Context, act action, o operate.Order) (operate.Report, error) {
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
		if err == nil && (o.Filter.Selective() || o.Filter.Limit != 0) {
			err = badRequest("the event is named by the route: leave the filter out")
		}
		if err != nil {
			refuse(c, err)
			return
		}
		o.Filter = operate.Filter{IDs: []string{id}}
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
func (a *api) audit(c *gin.Context, name string, o operate.Order, r operate.Report, err error) {
	attrs := []any{
		"action", name, "by", o.Who, "from", c.Request.RemoteAddr, "filter", described(o.Filter), "reason", o.Reason,
		"force", o.Force, "dry_run", o.DryRun, "matched", r.Matched, "done", r.Done, "moved", r.Moved, "failed", r.Failed,
	}
	a.tell(c, attrs, err)
}

func (a *api) tell(c *gin.Context, attrs []any, err error) {
	level := slog.LevelInfo
	if err != nil {
		level, attrs = slog.LevelWarn, append(attrs, "error", problemOf(err).message)
	}
	a.cfg.Log.Log(c.Request.Context(), level, "admin action", attrs...)
}

// mostNamed bounds the ids that such a line names; all are counted.
const mostNamed = 20

// described is the filter as JSON, without what it leaves open. A long list of
// ids is cut.
func described(f operate.Filter) string {
	said := map[string]any{}
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
		said["ids"], said["id_count"] = f.IDs[:min(mostNamed, len(f.IDs))], len(f.IDs)
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
