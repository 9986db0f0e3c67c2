package property

import (
	"context"
	"fmt"
	"sync"
	"time"

	"sfbridge/bridge/apply"
	"sfbridge/bridge/effect"
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
			l, err := k.begin(ctx)
			if err != nil {
				k.err = err
				return
			}
			k.live(l)
			k.mu.Lock()
			over := k.over
			k.mu.Unlock()
			if over {
				return
			}
		}
	})
}

// life is a process from its start to its end.
type life struct {
	ctx     context.Context
	poller  *poll.Poller
	effects *effect.Worker
}

// begin starts a life: a new client and what hangs on it; only the journal
// stays.
func (k *worker) begin(ctx context.Context) (*life, error) {
	ctx, cancel := context.WithCancel(ctx)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.cancel, k.dead = cancel, make(chan struct{})
	client, err := k.w.connect(k.number, k.dead)
	if err != nil {
		return nil, err
	}
	backoff := event.Backoff{Base: backoffBase, Max: backoffMax}
	effects, err := effect.New(effect.Config{
		Org: client, Targets: k.w.receiver, HTTP: k.w.receiver, Leases: store.NewMemoryLeases(nil), Backoff: backoff,
		Owner: fmt.Sprintf("worker-%d", k.number), Random: k.random.float, IntN: k.random.intn, Sleep: sleepUnless(k.dead),
	})
	if err != nil {
		return nil, err
	}
	applier, err := apply.New(apply.Config{
		Org: client, Mappings: k.w, Backoff: backoff, Outbox: effects.Wake,
		Now: time.Now, Intn: k.random.intn, Float: k.random.float, Sleep: sleepUnless(k.dead),
	})
	if err != nil {
		return nil, err
	}
	poller, err := poll.New(poll.Config{
		Org: client, Applier: applier, Journal: k.journal.life(k.dead), Leases: store.NewMemoryLeases(nil),
		Owner: fmt.Sprintf("worker-%d", k.number), Batch: k.w.sc.Batch, Lanes: k.w.sc.Lanes, Backoff: backoff,
		Random: k.random.float, IntN: k.random.intn,
	})
	return &life{ctx, poller, effects}, err
}

// live works until the life ends. What fails as a whole is tried again.
func (k *worker) live(l *life) {
	if k.w.sc.Steady {
		var both sync.WaitGroup
		both.Go(func() { _ = l.effects.Run(l.ctx) }) // nil
		_ = l.poller.Run(l.ctx)                      // nil
		both.Wait()
		return
	}
	for {
		k.w.turns <- struct{}{}
		_ = l.poller.RunOnce(l.ctx) // the rows tell what came of it
		if k.w.sc.Design.Effects {
			_ = l.effects.RunOnce(l.ctx)
		}
		<-k.w.turns
		select {
		case <-l.ctx.Done():
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
