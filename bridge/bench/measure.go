package bench

import (
	"context"
	"errors"
	"fmt"
	"sfbridge/internal/pause"
	"sync"
	"sync/atomic"
	"time"
)

// measureReceive measures staging alone.
func (w *world) measureReceive(ctx context.Context, r *Report) error {
	p, err := w.launch(ctx, "receive")
	if err != nil {
		return err
	}
	crowd := w.newCrowd(p.URL(), nil)
	err = crowd.during(ctx, func(ctx context.Context) error {
		if err := pause.For(ctx, w.cfg.WarmUp); err != nil {
			return err
		}
		before := w.read()
		crowd.record()
		err := crowd.endOr(ctx, w.cfg.Window)
		after := w.read()
		waits := crowd.recorded()
		r.Receive = throughput(len(waits), before, after)
		r.Latency = latency(waits)
		return err
	})
	if err == nil {
		r.Memory.Receive, err = peak(p)
	}
	r.StartSeconds = w.start.Seconds()
	return errors.Join(err, p.Stop())
}

// measureBacklog starts on what measureReceive has staged.
func (w *world) measureBacklog(ctx context.Context, r *Report) error {
	before := w.read()
	r.Memory.Open = before.staged - before.records
	p, err := w.launch(ctx)
	if err != nil {
		return err
	}
	half := w.cfg.WarmUp + w.cfg.Window/2
	ctx, cancel := context.WithTimeout(ctx, half)
	defer cancel()
	err = wait(ctx, 50*time.Millisecond, func() (bool, error) { return w.read().records == before.staged, nil })
	if errors.Is(err, context.DeadlineExceeded) {
		err = nil // the backlog is large; what counts is memory under it
	}
	if err == nil {
		r.Memory.Backlog, err = peak(p)
	}
	r.StartSeconds = w.start.Seconds()
	err = errors.Join(err, p.Stop())
	w.org.Reset()
	return err
}

// open is how many events may be on their way to the record before senders
// hold back.
const open = 4000

// measureBusiness measures the whole way: the rate within the window, the calls
// from the first event sent to the last record written, since a call in the
// window may serve an event outside it.
func (w *world) measureBusiness(ctx context.Context, r *Report) error {
	p, err := w.launch(ctx)
	if err != nil {
		return err
	}
	begin := w.read()
	var done atomic.Int64
	crowd := w.newCrowd(p.URL(), func(accepted int64) bool { return accepted-done.Load() < open })
	counting, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		for pause.For(counting, 10*time.Millisecond) == nil {
			done.Store(int64(w.read().records))
		}
	})
	err = crowd.during(ctx, func(ctx context.Context) error {
		if err := pause.For(ctx, w.cfg.WarmUp); err != nil {
			return err
		}
		before := w.read()
		err := crowd.endOr(ctx, w.cfg.Window)
		after := w.read()
		r.Business = throughput(after.records-before.records, before, after)
		return err
	})
	stop()
	wg.Wait()
	if err == nil {
		r.Lost, err = w.settle(ctx, int(crowd.accepted.Load()))
		whole := throughput(int(crowd.accepted.Load()), begin, w.read())
		r.Business.APICalls, r.Business.CallsPerEvent, r.Business.Operations = whole.APICalls, whole.CallsPerEvent, whole.Operations
	}
	if err == nil {
		r.Memory.Business, err = peak(p)
	}
	r.StartSeconds = w.start.Seconds()
	err = errors.Join(err, p.Stop())
	w.org.Reset()
	return err
}

// settle waits until every accepted event is a record and tells how many are
// not when patience ends.
func (w *world) settle(ctx context.Context, accepted int) (lost int, err error) {
	err = wait(ctx, 20*time.Millisecond, func() (bool, error) {
		n := w.read().records
		if n > accepted {
			return false, fmt.Errorf("%d records of %d accepted events", n, accepted)
		}
		return n == accepted, nil
	})
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return accepted - w.read().records, nil
	}
	return 0, err
}

// peak is the bridge's highest resident memory in MiB.
func peak(p Process) (float64, error) {
	bytes, err := p.Peak()
	return float64(bytes) / (1 << 20), err
}
