package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sfbridge/salesforce/simorg/fault"
)

// Outage is what was measured around one outage of the org.
type Outage struct {
	Receive Row `json:"receive"` // while the org is away
	Drain   Row `json:"drain"`   // from the moment it is back to the last row
}

// measureSpoolRedis measures the spool on Redis, and the bare server on the same
// Redis.
func (w *world) measureSpoolRedis(ctx context.Context, r *Report) error {
	if r.Spooled == nil {
		r.Spooled = &Spooled{}
	}
	server, found, err := w.startRedis(ctx)
	if err != nil {
		return err
	}
	if !found {
		r.Spooled.WithoutWhy = noRedis
		w.cfg.Progress("  left out: " + noRedis)
		return nil
	}
	r.Spooled.Bare, err = w.measureBare(ctx, server.URL())
	if err == nil {
		r.Spooled.Redis, err = w.outage(ctx, "Redis", setup{redis: server.URL()}, w.cfg.Outage)
	}
	if err = errors.Join(err, server.Stop()); err != nil {
		return err
	}
	r.Table = append(r.Table, r.Spooled.Redis.Receive, r.Spooled.Redis.Drain, *r.Spooled.Bare)
	r.Memory.Spooled = max(r.Memory.Spooled, r.Spooled.Redis.Drain.PeakMiB)
	return nil
}

// measureSpoolFile measures the spool on the local file.
func (w *world) measureSpoolFile(ctx context.Context, r *Report) (err error) {
	if r.Spooled == nil {
		r.Spooled = &Spooled{}
	}
	if r.Spooled.File, err = w.outage(ctx, "file", setup{}, w.cfg.Outage); err != nil {
		return err
	}
	r.Table = append(r.Table, r.Spooled.File.Receive, r.Spooled.File.Drain)
	r.Memory.Spooled = max(r.Memory.Spooled, r.Spooled.File.Drain.PeakMiB)
	return nil
}

// outage takes so many events while the org is away, and lets it come back. The
// bridges only receive, so that the drain has the machine for itself, as far as
// the simulated org leaves it.
func (w *world) outage(ctx context.Context, engine string, s setup, events int) (*Outage, error) {
	s.ack, s.roles = "spooled", []string{"receive"}
	w.org.Reset()
	w.org.AddFaults(fault.Fault{Operation: "*", Kind: fault.Unavailable})
	f, err := w.launch(ctx, s)
	if err != nil {
		return nil, err
	}
	var o Outage
	accepted, err := w.fill(ctx, "receive, spooled in the "+engine, f, events, &o.Receive)
	if err == nil {
		o.Drain, err = w.drain(ctx, "drain of the "+engine+" after an outage", f, accepted)
	}
	err = errors.Join(err, f.stop())
	w.org.ClearFaults()
	w.org.Reset()
	return &o, err
}

// fill sends all events and measures the time after the warm-up, or all of it
// when the events don't last as long.
func (w *world) fill(ctx context.Context, name string, f fleet, events int, got *Row) (accepted int, err error) {
	crowd := w.newCrowd(f.addresses(), events)
	before, err := w.snapshot(ctx, f)
	if err != nil {
		return 0, err
	}
	crowd.record()
	err = crowd.during(ctx, func(ctx context.Context) error {
		if err := crowd.endOr(ctx, w.cfg.WarmUp, func() bool { return true }); err != nil || crowd.spent() {
			return err
		}
		if *got, err = w.recorded(ctx, name, f, crowd); err != nil {
			return err
		}
		select { // the rest of the backlog
		case <-crowd.used:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	accepted = int(crowd.accepted.Load())
	if err == nil && got.Events == 0 {
		var after snapshot
		after, err = w.snapshot(ctx, f)
		*got = row(name, accepted, before, after)
		got.Latency = latency(crowd.recorded())
	}
	got.APICalls, got.CallsPerEvent, got.Operations = 0, 0, nil // the org answered none
	return accepted, err
}

// drain lets the org come back and waits until it holds every event.
func (w *world) drain(ctx context.Context, name string, f fleet, events int) (Row, error) {
	before, err := w.snapshot(ctx, f)
	if err != nil {
		return Row{}, err
	}
	w.org.ClearFaults()
	before.at = time.Now()
	for last := -1; ; {
		err := wait(ctx, 10*time.Millisecond, func() (bool, error) {
			n := w.read().staged
			return n >= events || n > last, nil
		})
		if err != nil {
			return Row{}, fmt.Errorf("%d of %d events came out of the spool: %w", w.read().staged, events, err)
		}
		if last = w.read().staged; last >= events {
			break
		}
	}
	after, err := w.snapshot(ctx, f)
	if err == nil && after.staged != events {
		err = fmt.Errorf("%d rows of %d accepted events", after.staged, events)
	}
	return row(name, events, before, after), err
}
