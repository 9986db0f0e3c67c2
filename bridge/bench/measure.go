package bench

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"sfbridge/internal/pause"
)

// measureReceive measures staging alone.
func (w *world) measureReceive(ctx context.Context, r *Report) error {
	f, err := w.launch(ctx, setup{roles: []string{"receive"}})
	if err != nil {
		return err
	}
	r.Receive, err = w.receive(ctx, "receive, staged in the org", f)
	r.Memory.Receive = r.Receive.PeakMiB
	r.Table = append(r.Table, r.Receive)
	return errors.Join(err, f.stop())
}

// receive measures how fast the bridges take deliveries, within the window.
func (w *world) receive(ctx context.Context, name string, f fleet) (got Row, err error) {
	crowd := w.newCrowd(f.addresses(), w.cfg.Events)
	err = crowd.during(ctx, func(ctx context.Context) error {
		if err := pause.For(ctx, w.cfg.WarmUp); err != nil {
			return err
		}
		got, err = w.recorded(ctx, name, f, crowd)
		return err
	})
	return got, err
}

// recorded is the row of what the crowd sends from now on, until the window is
// over or the events are used up.
func (w *world) recorded(ctx context.Context, name string, f fleet, c *crowd) (Row, error) {
	before, err := w.snapshot(ctx, f)
	if err != nil {
		return Row{}, err
	}
	c.record()
	if err := c.endOr(ctx, w.cfg.Window, func() bool { return c.answered() > 0 }); err != nil {
		return Row{}, err
	}
	waits := c.recorded()
	after, err := w.snapshot(ctx, f)
	got := row(name, len(waits), before, after)
	got.Latency = latency(waits)
	return got, err
}

// measureBacklog starts on what measureReceive has staged.
func (w *world) measureBacklog(ctx context.Context, r *Report) error {
	before := w.read()
	r.Memory.Open = before.staged - before.records
	f, err := w.launch(ctx, setup{})
	if err != nil {
		return err
	}
	half := w.cfg.WarmUp + w.cfg.Window/2
	within, cancel := context.WithTimeout(ctx, half)
	defer cancel()
	err = wait(within, 50*time.Millisecond, func() (bool, error) { return w.read().records == before.staged, nil })
	if errors.Is(err, context.DeadlineExceeded) {
		err = nil // the backlog is large; what counts is memory under it
	}
	if err == nil {
		r.Memory.Backlog, err = peak(ctx, f)
	}
	err = errors.Join(err, f.stop())
	w.org.Reset()
	return err
}

// measureBusiness measures the whole way.
func (w *world) measureBusiness(ctx context.Context, r *Report) error {
	f, err := w.launch(ctx, setup{})
	if err != nil {
		return err
	}
	r.Business, r.Lost, err = w.business(ctx, way{"the whole way to the record", f, w.written})
	r.Memory.Business = r.Business.PeakMiB
	r.Table = append(r.Table, r.Business)
	err = errors.Join(err, f.stop())
	w.org.Reset()
	return err
}

// open is how many events may be on their way to the record before senders
// hold back.
const open = 4000

// written counts the business records.
func (w *world) written() int { return w.read().records }

// way is a whole way that events go.
type way struct {
	name  string
	fleet fleet
	ended func() int // events that have come to its end
}

// business measures a whole way: the rate within the window, the calls from the
// first event sent to the last one at its end, since a call in the window may
// serve an event outside it.
func (w *world) business(ctx context.Context, y way) (got Row, lost int, err error) {
	begin := w.read()
	var done atomic.Int64
	crowd := w.newCrowd(y.fleet.addresses(), w.cfg.Events)
	crowd.room = func(accepted int64) bool { return accepted-done.Load() < open }
	counting, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		for pause.For(counting, 10*time.Millisecond) == nil {
			done.Store(int64(y.ended()))
		}
	})
	err = crowd.during(ctx, func(ctx context.Context) error {
		if err := pause.For(ctx, w.cfg.WarmUp); err != nil {
			return err
		}
		got, err = w.carried(ctx, y, crowd)
		return err
	})
	stop()
	wg.Wait()
	if err == nil {
		lost, err = w.settle(ctx, y, int(crowd.accepted.Load()))
		got.of(throughput(int(crowd.accepted.Load()), begin, w.read()))
	}
	return got, lost, err
}

// carried is the row of the events that come to the end within the window.
func (w *world) carried(ctx context.Context, y way, c *crowd) (Row, error) {
	from := y.ended()
	before, err := w.snapshot(ctx, y.fleet)
	if err != nil {
		return Row{}, err
	}
	if err := c.endOr(ctx, w.cfg.Window, func() bool { return y.ended() > from }); err != nil {
		return Row{}, err
	}
	to := y.ended()
	after, err := w.snapshot(ctx, y.fleet)
	return row(y.name, to-from, before, after), err
}

// settle waits until every accepted event is at the end of its way and tells
// how many are not when patience ends.
func (w *world) settle(ctx context.Context, y way, accepted int) (lost int, err error) {
	err = wait(ctx, 20*time.Millisecond, func() (bool, error) {
		n := y.ended()
		if n > accepted {
			return false, fmt.Errorf("%s: %d of %d accepted events", y.name, n, accepted)
		}
		return n == accepted, nil
	})
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return accepted - y.ended(), nil
	}
	return 0, err
}

// peak is the highest resident memory of a bridge in MiB.
func peak(ctx context.Context, f fleet) (float64, error) {
	used, err := f.usage(ctx)
	return float64(used.Peak) / (1 << 20), err
}
