package app

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"sfbridge/bridge/store"
	"sfbridge/salesforce"
)

// openShared connects to what processes share, where the settings name it.
func (b *Bridge) openShared() (err error) {
	if !b.cfg.Store.Redis.IsSet() {
		return nil
	}
	if b.redis, err = store.OpenRedis(b.cfg.Store.Redis.Value()); err != nil {
		return err
	}
	b.calls = &sharedUsage{own: b.login.Client.Usage, board: store.NewBoard(b.redis), log: b.log}
	return nil
}

// usage is the org's daily count of API calls as last heard.
func (b *Bridge) usage() salesforce.Usage {
	if b.calls != nil {
		return b.calls.Usage()
	}
	return b.login.Client.Usage()
}

// closeShared ends what was opened for the spool and the shared store.
func (b *Bridge) closeShared() error {
	var problems []error
	if b.spool != nil {
		problems = append(problems, b.spool.engine.Close())
	}
	if b.redis != nil {
		problems = append(problems, b.redis.Close())
	}
	return errors.Join(problems...)
}

// leases keep the workers of one kind off each other's queues.
func (b *Bridge) leases(scope string) store.Leases {
	if b.redis == nil {
		return store.NewMemoryLeases(b.now)
	}
	return &lenient{Leases: store.NewRedisLeases(b.redis, scope), log: b.log}
}

// lenient grants every lease while the shared store can't be reached: leases
// save work, and safety rests on the locks in the org.
type lenient struct {
	store.Leases
	log *slog.Logger
}

// leaseWait bounds the wait for the shared store.
const leaseWait = 2 * time.Second

// Acquire implements store.Leases.
func (l *lenient) Acquire(ctx context.Context, owner string, names []string, ttl time.Duration) ([]string, error) {
	within, cancel := context.WithTimeout(ctx, leaseWait)
	defer cancel()
	held, err := l.Leases.Acquire(within, owner, names, ttl)
	if err == nil || ctx.Err() != nil {
		return held, err
	}
	l.log.Warn("leases can't be shared: this process works on every queue meanwhile", "error", err)
	return names, nil
}
