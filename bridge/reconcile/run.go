package reconcile

import (
	"context"
	"maps"
	"slices"
	"time"

	"sfbridge/internal/lease"
)

// rowsLease names the look at the staging rows.
const rowsLease = "reconcile-rows"

// The staging rows are looked at now and then; a start is not slowed by it, and
// an idle service makes few calls.
const (
	rowsFirst = 5 * time.Minute
	rowsEvery = 6 * time.Hour
)

// againAfter is the rest after a sweep that was broken off.
const againAfter = 5 * time.Minute

// Run compares and heals by schedule until ctx ends.
func (r *Reconciler) Run(ctx context.Context) error {
	lookAt := r.cfg.Now().Add(rowsFirst)
	for ctx.Err() == nil {
		if now := r.cfg.Now(); !now.Before(lookAt) && !r.rests() {
			r.held(ctx, rowsLease, func(ctx context.Context) { r.Heal(ctx) })
			lookAt = now.Add(rowsEvery)
		}
		r.round(ctx)
		if r.cfg.Sleep(ctx, r.cfg.Look) != nil {
			break
		}
	}
	return nil
}

// round makes the sweeps that are due by now.
func (r *Reconciler) round(ctx context.Context) {
	now := r.cfg.Now()
	for _, c := range r.cfg.Comparisons() {
		if ctx.Err() != nil || r.rests() {
			return
		}
		if r.due(c, now) {
			r.held(ctx, c.name(), func(ctx context.Context) { r.sweep(ctx, c) })
		}
	}
}

// due says whether the sweep of a comparison is to be made, or to be gone on
// with after a rest. A time that can't be read is as if there was none: one
// sweep too many.
func (r *Reconciler) due(c Comparison, now time.Time) bool {
	r.mu.Lock()
	tried, before := r.tried[c.name()]
	r.mu.Unlock()
	if before && now.Sub(tried) < min(c.Plan.Every, againAfter) {
		return false
	}
	text, err := r.cfg.Notes.Get(c.name() + ":ended")
	if err != nil {
		r.cfg.Log.Warn("the schedule of comparisons can't be read", "source", c.Mapping.Source, "error", err)
		return false
	}
	ended, err := time.Parse(time.RFC3339, string(text))
	return err != nil || now.Sub(ended) >= c.Plan.Every
}

// held does the work under a lease, or leaves it to who has it. Two processes
// that share no leases make a sweep twice: the keys of repairs differ, their
// effect does not.
func (r *Reconciler) held(ctx context.Context, name string, work func(context.Context)) bool {
	made, err := lease.Hold(ctx, lease.Claim{Leases: r.cfg.Leases, Owner: r.cfg.Owner, Name: name, TTL: leaseTTL}, work)
	if err != nil && ctx.Err() == nil {
		r.cfg.Log.Warn("reconciliation: the lease", "error", err)
	}
	return made
}

// Once heals and makes every sweep now, of the named source only unless that is
// "".
func (r *Reconciler) Once(ctx context.Context, source string) Report {
	report := Report{Sweeps: []Sweep{}, Rows: r.Heal(ctx)}
	for _, c := range r.cfg.Comparisons() {
		if source != "" && c.Mapping.Source != source {
			continue
		}
		made := r.held(ctx, c.name(), func(ctx context.Context) { report.Sweeps = append(report.Sweeps, r.sweep(ctx, c)) })
		if !made {
			report.Sweeps = append(report.Sweeps, Sweep{
				Source: c.Mapping.Source, Type: c.Plan.Type, StartedAt: r.cfg.Now().UTC(), Drift: []Drift{},
				Problem: "another process makes this sweep",
			})
		}
	}
	return report
}

// Last is what the last sweeps and the last look at the rows of this process
// found.
func (r *Reconciler) Last() Report {
	r.mu.Lock()
	defer r.mu.Unlock()
	report := Report{Sweeps: []Sweep{}}
	for _, name := range slices.Sorted(maps.Keys(r.last)) {
		report.Sweeps = append(report.Sweeps, r.last[name])
	}
	if r.rows != nil {
		report.Rows = *r.rows
	}
	return report
}
