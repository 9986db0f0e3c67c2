package poll

import (
	"context"
	"time"
)

// keepLeases claims the queues and extends the claims until ctx ends, then
// gives them back. It reports what is held whenever that changes.
func (r *run) keepLeases(ctx context.Context) {
	ticker := time.NewTicker(leaseTTL / 3)
	defer ticker.Stop()
	var held []string
	var until time.Time
	for {
		got, err := r.cfg.Leases.Acquire(ctx, r.cfg.Owner, r.cfg.Queues, leaseTTL)
		now := r.cfg.Now()
		switch {
		case err == nil:
			held, until = got, now.Add(leaseTTL)
		case ctx.Err() == nil:
			r.cfg.Log.Warn("queue leases can't be extended", "error", err)
			if !now.Before(until) {
				held = nil
			}
		}
		select {
		case r.leases <- held:
		case <-ctx.Done():
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			r.release(ctx, held)
			return
		}
	}
}

func (r *run) release(ctx context.Context, held []string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseLimit)
	defer cancel()
	if err := r.cfg.Leases.Release(ctx, r.cfg.Owner, held); err != nil {
		r.cfg.Log.Warn("queue leases can't be given back: they expire by themselves", "error", err)
	}
}
