package app

import (
	"context"
	"errors"

	"sfbridge/bridge/console"
	"sfbridge/bridge/spool"
	"sfbridge/bridge/store"
	"sfbridge/config"
)

// ErrSpoolInUse says that a running bridge holds the spool file.
var ErrSpoolInUse = errors.New("a running bridge holds the spool file of store.dir: set admin.token so that it can be asked, or stop it")

// OpenSpool opens the spool of the settings for a person, where `bridge serve`
// keeps it. cfg must have store filled.
func OpenSpool(ctx context.Context, cfg *config.Config) (spool.Engine, error) {
	if cfg.Store.Redis.IsSet() {
		engine, err := openRedisSpool(ctx, cfg.Store)
		if unsafe := (*spool.NotDurable)(nil); !errors.As(err, &unsafe) {
			return engine, err
		}
	}
	used, err := spool.FileInUse(cfg.Store.Dir)
	switch {
	case err != nil:
		return nil, err
	case used:
		return nil, ErrSpoolInUse
	}
	return spool.OpenFile(spool.FileConfig{Dir: cfg.Store.Dir})
}

// redisSpool closes its connections with the engine.
type redisSpool struct {
	*spool.Redis
	redis *store.Redis
}

// Close implements spool.Engine.
func (s redisSpool) Close() error { return errors.Join(s.Redis.Close(), s.redis.Close()) }

func openRedisSpool(ctx context.Context, cfg config.Store) (spool.Engine, error) {
	redis, err := store.OpenRedis(cfg.Redis.Value())
	if err != nil {
		return nil, err
	}
	engine := redisSpool{spool.OpenRedis(spool.RedisConfig{Store: redis, Consumer: owner(), Durable: cfg.Durable}), redis}
	if err := engine.Check(ctx); err != nil {
		return nil, errors.Join(err, engine.Close())
	}
	return engine, nil
}

// spoolDesk shows operators what the spool of this process has set apart.
type spoolDesk struct{ engine spool.Engine }

func (b *Bridge) spoolDesk() console.Spool {
	if b.spool == nil {
		return nil
	}
	return spoolDesk{b.spool.engine}
}

// List implements console.Spool.
func (d spoolDesk) List(ctx context.Context, limit int) (any, error) {
	list, err := spool.ListApart(ctx, d.engine, limit)
	return list, asked(err)
}

// Retry implements console.Spool.
func (d spoolDesk) Retry(ctx context.Context, ids []string) (int, error) {
	n, err := spool.Retry(ctx, d.engine, ids)
	return n, asked(err)
}

// RetryAll implements console.Spool.
func (d spoolDesk) RetryAll(ctx context.Context) (int, error) {
	n, err := spool.RetryAll(ctx, d.engine)
	return n, asked(err)
}

// asked tells a wrong question from a spool that does not answer.
func asked(err error) error {
	if errors.Is(err, spool.ErrApartID) {
		return &console.UsageError{Err: err}
	}
	return err
}
