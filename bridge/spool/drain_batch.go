package spool

import (
	"context"
	"errors"
	"time"

	"sfbridge/bridge/stage"
	"sfbridge/internal/failpoint"
)

// part is what a batch holds of one queue.
type part struct {
	queue   string
	entries []Waiting
}

// result tells what became of a part.
type result struct {
	done  []string
	apart []Refused
	left  int // to be tried again
}

// fill begins batches while lanes are free and entries wait.
func (d *Drain) fill(ctx context.Context) {
	for ctx.Err() == nil && !d.pausing() && d.free() {
		parts := d.gather(ctx)
		if len(parts) == 0 {
			return
		}
		d.work.Go(func() {
			d.bring(context.WithoutCancel(ctx), parts)
			d.idle(parts)
			d.wake()
		})
	}
}

func (d *Drain) free() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.running < d.cfg.Lanes
}

func (d *Drain) begin(parts []part) {
	if len(parts) == 0 {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.running++
	for _, p := range parts {
		d.busy[p.queue] = true
	}
}

// idle gives the queues of a batch free, and their leases where nothing waits
// any more.
func (d *Drain) idle(parts []part) {
	var empty []string
	d.mu.Lock()
	d.running--
	for _, p := range parts {
		delete(d.busy, p.queue)
		if d.state.Depth[p.queue] == 0 {
			empty = append(empty, p.queue)
		}
	}
	d.mu.Unlock()
	d.release(context.Background(), empty)
}

func (d *Drain) release(ctx context.Context, queues []string) {
	if len(queues) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	if err := d.cfg.Leases.Release(ctx, d.cfg.Owner, leaseNames(queues)); err != nil {
		d.cfg.Log.Warn("leases for the spool can't be given back: they expire by themselves", "error", err)
	}
}

// bring stages a batch and settles its entries by the answers.
func (d *Drain) bring(ctx context.Context, parts []part) {
	started := d.cfg.Now()
	failpoint.Hit(failpoint.DrainTaken)
	results, hint, failed := d.stage(ctx, parts)
	failpoint.Hit(failpoint.DrainStaged)
	left, settled := 0, 0
	for i, p := range parts {
		r := results[i]
		if err := d.settle(ctx, p.queue, r); err != nil {
			d.cfg.Log.Warn("entries that are in Salesforce can't be removed from the spool: they come again as duplicates",
				"queue", p.queue, "error", err)
			left += len(p.entries)
			continue
		}
		d.drained(p.queue, len(r.done)+len(r.apart))
		left, settled = left+r.left, settled+len(r.done)+len(r.apart)
	}
	if failed != nil {
		d.cfg.Log.Warn("Salesforce takes no events from the spool at the moment: they are kept", "entries", left, "error", failed)
	}
	if left > 0 {
		d.fail(settled > 0, hint)
		return
	}
	d.succeed(d.cfg.Now().Sub(started))
}

// stage sends the batch. failed is why entries are left, hint how long Salesforce
// asks to be left alone.
func (d *Drain) stage(ctx context.Context, parts []part) (results []result, hint time.Duration, failed error) {
	ctx, cancel := context.WithTimeout(ctx, d.cfg.Timeout)
	defer cancel()
	type place struct {
		part  int
		entry Waiting
	}
	results = make([]result, len(parts))
	var requests []stage.Request
	var places []place
	for i, p := range parts {
		for _, e := range p.entries {
			request, err := Decode(e.Data)
			if err != nil {
				results[i].apart = append(results[i].apart, Refused{Waiting: e, Reason: err.Error()})
				continue
			}
			requests, places = append(requests, request), append(places, place{i, e})
		}
	}
	for n, a := range d.cfg.Target.StageTogether(ctx, requests) {
		if u := results[places[n].part].note(places[n].entry, a); u != nil {
			hint, failed = max(hint, u.RetryAfter), u
		}
	}
	return results, hint, failed
}

// note is the one place where the answer of the stager decides about an entry.
// It gives the answer back that leaves the entry where it is.
func (r *result) note(e Waiting, a stage.Answer) *stage.Unavailable {
	var u *stage.Unavailable
	switch {
	case a.Err == nil:
		r.done = append(r.done, e.ID)
	case errors.As(a.Err, &u) && !u.Alarm:
		r.left++
		return u
	default:
		r.apart = append(r.apart, Refused{Waiting: e, Reason: a.Err.Error()})
	}
	return nil
}

func (d *Drain) settle(ctx context.Context, queue string, r result) error {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	var problems []error
	failpoint.Hit(failpoint.DrainRemoving)
	if len(r.done) > 0 {
		problems = append(problems, d.cfg.Engine.Done(ctx, queue, r.done))
	}
	if len(r.apart) > 0 {
		for _, e := range r.apart {
			d.cfg.Log.Error("an event of the spool can't be staged: it is set apart", "queue", queue, "entry", e.ID, "event", eventOf(e), "reason", e.Reason)
		}
		problems = append(problems, d.cfg.Engine.SetApart(ctx, queue, r.apart))
	}
	failpoint.Hit(failpoint.DrainRemoved)
	return errors.Join(problems...)
}

// eventOf is the event id of an entry, for people.
func eventOf(e Refused) string {
	if r, err := Decode(e.Data); err == nil {
		return r.Event.ID
	}
	return ""
}

func (d *Drain) size() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.batch
}

func (d *Drain) drained(queue string, entries int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.state.Depth[queue] -= entries; d.state.Depth[queue] <= 0 {
		delete(d.state.Depth, queue)
	}
	if len(d.state.Depth) == 0 {
		d.state.Oldest = time.Time{}
	}
}
