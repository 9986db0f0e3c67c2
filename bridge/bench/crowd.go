package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"sfbridge/internal/pause"
)

// crowd is many senders at once, each waiting for its answer before it sends
// again.
type crowd struct {
	senders  int
	address  []string                  // host:port of the receivers, shared evenly
	room     func(accepted int64) bool // may one more be sent? nil: always
	next     func() (n int, ok bool)   // the next event's number, until they are used up
	accepted atomic.Int64
	used     chan struct{} // closed when all events have been sent

	recording atomic.Bool
	mu        sync.Mutex
	waits     []time.Duration
}

// newCrowd returns senders of at most so many events.
func (w *world) newCrowd(addresses []string, events int) *crowd {
	c := &crowd{senders: w.cfg.Senders, address: addresses, used: make(chan struct{})}
	var mu sync.Mutex
	last := w.next + events
	c.next = func() (int, bool) {
		mu.Lock()
		defer mu.Unlock()
		if w.next == last {
			return 0, false
		}
		if w.next++; w.next == last {
			close(c.used)
		}
		return w.next, true
	}
	return c
}

// during sends while measure runs, and ends when every sender has its answer.
func (c *crowd) during(ctx context.Context, measure func(context.Context) error) error {
	sending, stop := context.WithCancel(ctx)
	defer stop()
	measuring, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	for n := range c.senders {
		wg.Go(func() {
			if err := c.send(sending, c.address[n%len(c.address)]); err != nil {
				cancel(err)
			}
		})
	}
	err := measure(measuring)
	stop()
	wg.Wait()
	if cause := context.Cause(measuring); cause != nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	return err
}

// endOr waits for the window, or until the events are used up. A machine so slow
// that nothing happens within the window has it go on until something did.
func (c *crowd) endOr(ctx context.Context, window time.Duration, something func() bool) error {
	t := time.NewTimer(window)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-c.used:
		return nil
	case <-t.C:
	}
	return wait(ctx, 10*time.Millisecond, func() (bool, error) { return something(), nil })
}

// send is one sender.
func (c *crowd) send(ctx context.Context, address string) error {
	conn, err := dial(ctx, address)
	if err != nil {
		return err
	}
	defer conn.close()
	for ctx.Err() == nil {
		if c.room != nil && !c.room(c.accepted.Load()) {
			_ = pause.For(ctx, 10*time.Millisecond)
			continue
		}
		n, ok := c.next()
		if !ok {
			return nil
		}
		request := delivery{n: n, host: address, at: time.Now()}.request()
		begun := time.Now()
		status, err := conn.deliver(request)
		if err != nil {
			return fmt.Errorf("delivering event %d: %w", n, err)
		}
		if status != 202 {
			return fmt.Errorf("event %d was answered %d, not 202", n, status)
		}
		c.accepted.Add(1)
		c.note(time.Since(begun))
	}
	return nil
}

// record begins to keep how long answers take, from now on.
func (c *crowd) record() {
	c.mu.Lock()
	c.waits = nil
	c.mu.Unlock()
	c.recording.Store(true)
}

// spent says whether every event has been sent.
func (c *crowd) spent() bool {
	select {
	case <-c.used:
		return true
	default:
		return false
	}
}

func (c *crowd) note(took time.Duration) {
	if !c.recording.Load() {
		return
	}
	c.mu.Lock()
	c.waits = append(c.waits, took)
	c.mu.Unlock()
}

// recorded ends recording and gives what was kept.
func (c *crowd) recorded() []time.Duration {
	c.recording.Store(false)
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.waits)
}

// answered is how many answers are on record.
func (c *crowd) answered() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.waits)
}

// latency sorts what senders waited.
func latency(waits []time.Duration) Latency {
	if len(waits) == 0 {
		return Latency{}
	}
	slices.Sort(waits)
	at := func(percent int) float64 { return milliseconds(waits[(len(waits)-1)*percent/100]) }
	return Latency{P50: at(50), P99: at(99), Max: at(100)}
}
