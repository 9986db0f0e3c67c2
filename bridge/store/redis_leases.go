package store

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// RedisLeases is the engine for processes that share a Redis. Claims expire by
// its clock, so that a process that is killed or stands still loses them.
type RedisLeases struct {
	redis *Redis
	scope string
}

// NewRedisLeases returns the engine. Names of different scopes have nothing to
// do with each other.
func NewRedisLeases(r *Redis, scope string) *RedisLeases { return &RedisLeases{r, scope} }

// claim gives 1 when the owner holds the name from now on.
var claim = redis.NewScript(`
local owner = redis.call('GET', KEYS[1])
if owner and owner ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`)

var giveBack = redis.NewScript(`
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0`)

// join counts by the server's clock. The set goes away with its last member.
var join = redis.NewScript(`
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return redis.call('ZCARD', KEYS[1])`)

func (l *RedisLeases) key(name string) []string { return []string{l.redis.Key(name, "lease:"+l.scope)} }

// Acquire implements Leases.
func (l *RedisLeases) Acquire(ctx context.Context, owner string, names []string, ttl time.Duration) ([]string, error) {
	if len(names) == 0 {
		return nil, ctx.Err()
	}
	answers := make([]*redis.Cmd, len(names))
	_, err := l.redis.Client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, name := range names {
			answers[i] = claim.Eval(ctx, p, l.key(name), owner, ttl.Milliseconds())
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("claiming leases in Redis: %w", err)
	}
	var held []string
	for i, name := range names {
		if granted, err := answers[i].Int(); err == nil && granted == 1 {
			held = append(held, name)
		}
	}
	return held, nil
}

// Release implements Leases.
func (l *RedisLeases) Release(ctx context.Context, owner string, names []string) error {
	if len(names) == 0 {
		return ctx.Err()
	}
	_, err := l.redis.Client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for _, name := range names {
			giveBack.Eval(ctx, p, l.key(name), owner)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("giving leases back to Redis: %w", err)
	}
	return nil
}

func (l *RedisLeases) members() string { return l.redis.Key("members", l.scope) }

// Join implements Leases.
func (l *RedisLeases) Join(ctx context.Context, owner string, ttl time.Duration) (int, error) {
	n, err := join.Run(ctx, l.redis.Client, []string{l.members()}, owner, ttl.Milliseconds()).Int()
	if err != nil {
		return 0, fmt.Errorf("counting members in Redis: %w", err)
	}
	return n, nil
}

// Leave implements Leases.
func (l *RedisLeases) Leave(ctx context.Context, owner string) error {
	if err := l.redis.Client.ZRem(ctx, l.members(), owner).Err(); err != nil {
		return fmt.Errorf("leaving the members in Redis: %w", err)
	}
	return nil
}
