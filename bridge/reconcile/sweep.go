package reconcile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"sfbridge/mapping"
	"sfbridge/mapping/path"
	"sfbridge/salesforce"
	"sfbridge/salesforce/soql"
)

// sweeping is a sweep under way.
type sweeping struct {
	Sweep
	Next string `json:"next"` // the page to go on with

	guards map[target]*guarded // what the list names, for complete lists
	kept   int                 // keys in guards
}

// guarded are the keys of records whose event id tells their source.
type guarded struct {
	order *mapping.OrderFields
	keys  map[string]bool
}

const (
	// resumeWithin is how long a sweep that was broken off is gone on with.
	resumeWithin = 24 * time.Hour
	// maxKept bounds the keys that are kept to find extra records.
	maxKept = 2_000_000
	// maxPages ends a list that leads nowhere.
	maxPages = 100_000
	// leaseTTL is after how long another process goes on with the sweep of one
	// that died.
	leaseTTL = time.Minute
)

// errRests breaks a sweep off at the border of a page.
var errRests = errors.New("the API calls that reconciliation may make are used up: the sweep goes on later")

func pageScope(p page) path.Scope { return path.Scope{Event: p.value} }

// listed remembers that the provider names the record.
func (s *sweeping) listed(rec mapping.Record) {
	if s.guards == nil || rec.Order == nil || rec.Order.Event == "" || rec.Action == mapping.Delete {
		return
	}
	t := target{rec.Object, rec.Key.Field}
	g := s.guards[t]
	if g == nil {
		g = &guarded{order: rec.Order, keys: map[string]bool{}}
		s.guards[t] = g
	}
	if !g.keys[rec.Key.Value] {
		g.keys[rec.Key.Value] = true
		s.kept++
	}
}

// begin takes up a sweep that was broken off, or begins one.
func (r *Reconciler) begin(c Comparison) (*sweeping, error) {
	now := r.cfg.Now().UTC().Truncate(time.Millisecond)
	text, err := r.cfg.Notes.Get(c.name())
	if err != nil {
		return nil, err
	}
	left := &sweeping{}
	if len(text) > 0 && json.Unmarshal(text, left) == nil && left.Next != "" && now.Sub(left.StartedAt) < resumeWithin {
		left.Resumed, left.Problem = true, ""
		return left, nil
	}
	s := &sweeping{Sweep: Sweep{Source: c.Mapping.Source, Type: c.Plan.Type, StartedAt: now, Drift: []Drift{}}, Next: c.Plan.List}
	if c.Plan.Complete {
		s.guards = map[target]*guarded{}
	}
	return s, nil
}

// sweep compares one list; how it ended stands in the Sweep.
func (r *Reconciler) sweep(ctx context.Context, c Comparison) Sweep {
	s, err := r.begin(c)
	if err != nil {
		return Sweep{Source: c.Mapping.Source, Type: c.Plan.Type, StartedAt: r.cfg.Now().UTC(), Problem: err.Error(), Drift: []Drift{}}
	}
	before := s.Sweep
	err = r.pages(ctx, c, s)
	if err == nil && c.Plan.Complete {
		err = r.extras(ctx, s)
	}
	if err == nil {
		now := r.cfg.Now().UTC()
		s.Finished, s.FinishedAt = true, &now
		err = r.finished(c, now)
	}
	if err != nil {
		s.Problem = err.Error()
	}
	r.tell(before, s.Sweep)
	r.mu.Lock()
	r.last[c.name()], r.tried[c.name()] = s.Sweep, r.cfg.Now()
	r.mu.Unlock()
	return s.Sweep
}

// tell counts what was found since the sweep was taken up.
func (r *Reconciler) tell(before, s Sweep) {
	for kind, n := range map[Kind]int{
		Missing: s.Missing - before.Missing, Different: s.Different - before.Different,
		Extra: s.Extra - before.Extra, Unmapped: s.Unmapped - before.Unmapped,
	} {
		if n > 0 {
			r.cfg.Metrics.Drift(s.Source, string(kind), n)
		}
	}
	r.cfg.Log.Info("compared with the provider", "source", s.Source, "type", s.Type, "finished", s.Finished, "problem", s.Problem,
		"objects", s.Objects, "missing", s.Missing, "different", s.Different, "extra", s.Extra, "unmapped", s.Unmapped, "repaired", s.Repaired)
}

// pages goes through the list from where the sweep stands.
func (r *Reconciler) pages(ctx context.Context, c Comparison, s *sweeping) error {
	for s.Next != "" {
		if r.rests() {
			return errRests
		}
		if s.Pages == maxPages {
			return fmt.Errorf("the list has more than %d pages", maxPages)
		}
		p, err := r.fetch(ctx, c, s.Next)
		if err != nil {
			return err
		}
		// A page counts when all of it is done: one that fails is done again.
		done := *s
		done.Drift = slices.Clone(s.Drift)
		if done.Next, err = p.next(c.Plan); err != nil {
			return err
		}
		if err := r.page(ctx, c, p, &done); err != nil {
			return err
		}
		done.Pages++
		*s = done
		if err := r.keep(c, s); err != nil {
			return err
		}
	}
	return nil
}

func (r *Reconciler) page(ctx context.Context, c Comparison, p page, s *sweeping) error {
	list, err := r.objects(c, p, s)
	if err != nil {
		return err
	}
	for chunk := range slices.Chunk(list, 200) {
		if err := r.compare(ctx, chunk, s); err != nil {
			return err
		}
		if err := r.settle(ctx, c, chunk, s); err != nil {
			return err
		}
	}
	return nil
}

// keep notes how far the sweep has come, and holds on to the lease.
func (r *Reconciler) keep(c Comparison, s *sweeping) error {
	if s.Next == "" {
		return nil
	}
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return r.cfg.Notes.Put(c.name(), text)
}

// finished forgets how far the sweep had come and notes when it ended.
func (r *Reconciler) finished(c Comparison, at time.Time) error {
	if err := r.cfg.Notes.Put(c.name(), nil); err != nil {
		return err
	}
	return r.cfg.Notes.Put(c.name()+":ended", []byte(at.Format(time.RFC3339)))
}

// extras finds the source's records that a complete list does not name. After a
// resumption the first pages are not known any more, so nothing can be said.
func (r *Reconciler) extras(ctx context.Context, s *sweeping) error {
	switch {
	case s.Resumed:
		s.Problem = "records that the provider doesn't list were not looked for: the sweep was resumed"
		return nil
	case s.kept > maxKept:
		s.Problem = "records that the provider doesn't list were not looked for: there are too many"
		return nil
	}
	for t, g := range s.guards {
		sh, err := r.shapes.of(ctx, t.object, r.cfg.Now())
		if err != nil {
			return err
		}
		named := make(map[string]bool, len(g.keys))
		for key := range g.keys {
			named[sh.fold(t.key, key)] = true
		}
		text, err := soql.Select("Id", t.key).From(t.object).Where(
			soql.Prefix(g.order.Event, s.Source+":"), soql.Less("CreatedDate", s.StartedAt.Add(-r.cfg.Young))).Build()
		if err != nil {
			return err
		}
		err = r.org.QueryEach(ctx, text, func(rec salesforce.Record) error {
			if key := rec.String(t.key); !named[sh.fold(t.key, key)] {
				s.add(Drift{Kind: Extra, Object: t.object, KeyField: t.key, Key: key, RowID: rec.ID()})
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("looking for records that the provider doesn't list: %w", err)
		}
	}
	return nil
}
