package effect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"

	"sfbridge/bridge/event"
	"sfbridge/salesforce"
)

// request is the content of Request__c: one of its members is set.
type request struct {
	Post *struct {
		Body json.RawMessage `json:"body"`
	} `json:"post"`
	Record *struct {
		Object string `json:"object"`
		Key    struct {
			Field string `json:"field"`
			Value string `json:"value"`
		} `json:"key"`
		Fields map[string]any `json:"fields"`
	} `json:"salesforce"`
	Published *struct {
		Object string         `json:"object"`
		Fields map[string]any `json:"fields"`
	} `json:"platform_event"`
}

func parseRequest(text string) (request, error) {
	var r request
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&r); err != nil {
		return r, fmt.Errorf("the stored request can't be read")
	}
	if r.Post == nil && r.Record == nil && r.Published == nil {
		return r, fmt.Errorf("the stored request is of no known kind")
	}
	return r, nil
}

// deliver tries every due effect once. The error is that of a call to
// Salesforce that failed as a whole; the effects it carried are not tried.
func (w *Worker) deliver(ctx context.Context, jobs []*job) error {
	var senders errgroup.Group
	senders.SetLimit(w.cfg.Senders)
	groups := map[group]*load{}
	var order []group
	for _, j := range jobs {
		for _, d := range j.sent {
			r, err := parseRequest(d.effect.Request)
			if err != nil {
				d.result = w.judge(d.effect, verdict{final: true, code: "REQUEST", text: err.Error()})
				continue
			}
			if r.Post != nil {
				senders.Go(func() error { w.post(ctx, d, r.Post.Body); return nil })
				continue
			}
			g, row := r.row()
			if groups[g] == nil {
				groups[g], order = &load{}, append(order, g)
			}
			groups[g].add(d, row)
		}
	}
	var err error
	for _, g := range order {
		if err = w.save(ctx, g, groups[g]); err != nil {
			break
		}
	}
	return errors.Join(err, senders.Wait())
}

// group is the effects that one call may carry.
type group struct{ object, keyField string }

// load is the rows of a group with what they are of.
type load struct {
	rows   []salesforce.Row
	owners []*delivery
}

func (l *load) add(d *delivery, row salesforce.Row) {
	l.rows, l.owners = append(l.rows, row), append(l.owners, d)
}

func (r request) row() (group, salesforce.Row) {
	if p := r.Published; p != nil {
		return group{object: p.Object}, salesforce.Row{Object: p.Object, Fields: p.Fields}
	}
	fields := map[string]any{}
	for name, v := range r.Record.Fields {
		fields[name] = v
	}
	fields[r.Record.Key.Field] = r.Record.Key.Value
	return group{r.Record.Object, r.Record.Key.Field}, salesforce.Row{Object: r.Record.Object, Fields: fields}
}

// save writes the records or publishes the events of one group.
func (w *Worker) save(ctx context.Context, g group, l *load) error {
	for len(l.rows) > 0 {
		now, later := l.split(g)
		if err := w.call(ctx, g, now); err != nil {
			return err
		}
		l = later
	}
	return nil
}

// call sends rows as one collection. One that is refused as a whole, for a field
// that the org lacks or a body it can't read, is sent again in halves, so that
// only those that caused it fail.
func (w *Worker) call(ctx context.Context, g group, l *load) error {
	var results []salesforce.SaveResult
	var err error
	if g.keyField == "" {
		results, err = w.cfg.Org.InsertAll(ctx, l.rows, false)
	} else {
		results, err = w.cfg.Org.UpsertAll(ctx, g.keyField, l.rows, false)
	}
	switch {
	case stops(err):
		return fmt.Errorf("delivering to %s: %w", g.object, err)
	case err != nil && len(l.rows) > 1:
		half := len(l.rows) / 2
		for _, part := range []*load{{l.rows[:half], l.owners[:half]}, {l.rows[half:], l.owners[half:]}} {
			if err := w.call(ctx, g, part); err != nil {
				return err
			}
		}
		return nil
	}
	for i, d := range l.owners {
		v := refused(err)
		if err == nil {
			v = saved(results[i])
		}
		d.result = w.judge(d.effect, v)
	}
	return nil
}

// split takes out what must wait for another call: two rows with one external
// ID can't stand in one. Keys are compared without regard to case, as some
// fields do.
func (l *load) split(g group) (now, later *load) {
	now, later = &load{}, &load{}
	seen := map[string]bool{}
	for i, row := range l.rows {
		key := ""
		if g.keyField != "" {
			key, _ = row.Fields[g.keyField].(string)
			key = strings.ToLower(key)
		}
		if len(now.rows) == maxRows || g.keyField != "" && seen[key] {
			later.add(l.owners[i], row)
			continue
		}
		seen[key] = true
		now.add(l.owners[i], row)
	}
	return now, later
}

// stops says whether a failed call says nothing about the effects.
func stops(err error) bool {
	switch salesforce.ClassOf(err) {
	case salesforce.ClassLimit, salesforce.ClassAuth, salesforce.ClassRetryable, salesforce.ClassUnknownOutcome:
		return err != nil
	}
	_, ours := salesforce.AsError(err)
	return err != nil && !ours
}

// refused judges a call that was refused for what it holds.
func refused(err error) verdict {
	e, ok := salesforce.AsError(err)
	if !ok {
		return verdict{}
	}
	return verdict{final: true, code: e.Code, text: e.Message}
}

// log counts a recorded try and tells of a failed one: no payload, no answer.
func (d *delivery) log(w *Worker) {
	r := d.result
	w.cfg.Metrics.Effect(strings.ToLower(string(r.status)))
	if r.status == event.EffectDone {
		return
	}
	w.cfg.Log.Warn("effect failed", "key", d.effect.Key, "effect", d.effect.Name, "code", r.code, "attempts", r.attempts, "status", string(r.status))
}
