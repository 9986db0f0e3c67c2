package property

import (
	"context"
	"fmt"
	"sync"
	"time"

	"sfbridge/bridge/apply"
	"sfbridge/bridge/event"
	"sfbridge/bridge/poll"
	"sfbridge/bridge/store"
)

// A worker is a process that applies, over all its lives.
type worker struct {
	w       *world
	number  int
	random  *random
	journal *journal

	mu      sync.Mutex
	cancel  context.CancelFunc
	dead    chan struct{}
	over    bool
	running sync.WaitGroup
	err     error
}

func (k *worker) start(ctx context.Context) {
	k.running.Go(func() {
		for {
			poller, life, err := k.begin(ctx)
			if err != nil {
				k.err = err
				return
			}
			k.live(life, poller)
			k.mu.Lock()
			over := k.over
			k.mu.Unlock()
			if over {
				return
			}
		}
	})
}

// begin starts a life: a new client and a new poller; only the journal stays.
func (k *worker) begin(ctx context.Context) (*poll.Poller, context.Context, error) {
	life, cancel := context.WithCancel(ctx)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.cancel, k.dead = cancel, make(chan struct{})
	client, err := k.w.connect(k.number, k.dead)
	if err != nil {
		return nil, nil, err
	}
	backoff := event.Backoff{Base: backoffBase, Max: backoffMax}
	applier, err := apply.New(apply.Config{
		Org: client, Mappings: k.w, Backoff: backoff,
		Now: time.Now, Intn: k.random.intn, Float: k.random.float, Sleep: sleepUnless(k.dead),
	})
	if err != nil {
		return nil, nil, err
	}
	poller, err := poll.New(poll.Config{
		Org: client, Applier: applier, Journal: k.journal.life(k.dead), Leases: store.NewMemoryLeases(nil),
		Owner: fmt.Sprintf("worker-%d", k.number), Batch: k.w.sc.Batch, Lanes: k.w.sc.Lanes, Backoff: backoff,
		Random: k.random.float, IntN: k.random.intn,
	})
	return poller, life, err
}

// live works until the life ends. What fails as a whole is tried again.
func (k *worker) live(ctx context.Context, p *poll.Poller) {
	if k.w.sc.Steady {
		_ = p.Run(ctx) // nil
		return
	}
	for {
		k.w.turns <- struct{}{}
		_ = p.RunOnce(ctx) // the rows tell what came of it
		<-k.w.turns
		select {
		case <-ctx.Done():
			return
		case <-time.After(workerPause):
		}
	}
}

func (k *worker) strike(kill bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.cancel == nil || k.over {
		return
	}
	if kill {
		select {
		case <-k.dead:
			return
		default:
			close(k.dead)
			k.journal.crash()
		}
	}
	k.cancel()
}

func (k *worker) stop() {
	k.mu.Lock()
	k.over = true
	if k.cancel != nil {
		k.cancel()
	}
	k.mu.Unlock()
	k.running.Wait()
}

// sleepUnless is a sleep that a killed process doesn't finish.
func sleepUnless(dead <-chan struct{}) func(context.Context, time.Duration) error {
	return func(ctx context.Context, d time.Duration) error {
		select {
		case <-time.After(d):
			return nil
		case <-dead:
			return errDead
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
