package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"strings"
	"time"

	"sfbridge/bridge/store"
	"sfbridge/salesforce"
	"sfbridge/salesforce/auth"
)

// openShared connects to what processes share, where the settings name it.
func (b *Bridge) openShared() (err error) {
	if !b.cfg.Store.Redis.IsSet() {
		return nil
	}
	b.redis, err = store.OpenRedis(b.cfg.Store.Redis.Value())
	return err
}

// shareWork lets processes tell each other of the org's daily calls and of rows
// that are due.
func (b *Bridge) shareWork() {
	if b.redis == nil {
		return
	}
	b.calls = &sharedUsage{own: b.login.Client.Usage, now: b.now, board: store.NewBoard(b.redis), log: b.log}
	b.others = newOthers(othersConfig{
		bell: store.NewBell(b.redis, b.orgTag()), name: owner(), log: b.log, every: tellEvery,
		poll: b.wakeHeld, effects: b.wakeEffectsHere, seen: b.seenByOthers,
	})
}

// orgTag tells this org and login from others that share a server.
func (b *Bridge) orgTag() string {
	s := b.cfg.Salesforce
	sum := sha256.Sum256([]byte(strings.Join([]string{s.LoginURL, s.Auth.ClientID, s.Auth.Username, s.Auth.InstanceURL}, "\n")))
	return hex.EncodeToString(sum[:4])
}

// sharedLogin is where processes leave their session for each other; nil:
// nowhere.
func (b *Bridge) sharedLogin() auth.Shared {
	if b.redis == nil {
		return nil
	}
	return &loginDesk{Board: store.NewBoard(b.redis), leases: store.NewRedisLeases(b.redis, "login"), owner: owner()}
}

// loginDesk is auth.Shared on what package store has.
type loginDesk struct {
	*store.Board
	leases *store.RedisLeases
	owner  string
}

// Lock implements auth.Shared.
func (d *loginDesk) Lock(ctx context.Context, name string, ttl time.Duration) (bool, error) {
	held, err := d.leases.Acquire(ctx, d.owner, []string{name}, ttl)
	return len(held) == 1, err
}

// Unlock implements auth.Shared.
func (d *loginDesk) Unlock(ctx context.Context, name string) error {
	return d.leases.Release(ctx, d.owner, []string{name})
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

// Join implements store.Leases: alone while the shared store can't be reached.
func (l *lenient) Join(ctx context.Context, owner string, ttl time.Duration) (int, error) {
	within, cancel := context.WithTimeout(ctx, leaseWait)
	defer cancel()
	members, err := l.Leases.Join(within, owner, ttl)
	if err != nil && ctx.Err() == nil {
		return 1, nil
	}
	return members, err
}
