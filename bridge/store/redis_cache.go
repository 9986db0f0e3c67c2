package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// Cache keeps small values for all processes that share a Redis, for a time.
// Each has a key of its own, so that a cluster spreads them over its servers.
type Cache struct {
	redis *Redis
	scope string
}

// NewCache returns the cache. Places of different scopes have nothing to do with
// each other.
func NewCache(r *Redis, scope string) *Cache { return &Cache{r, scope} }

func (c *Cache) key(place string) string { return keyPrefix + c.scope + ":" + place }

// Get gives what is kept at each place, in the order asked; nil for nothing. It
// is one command, or one pipeline a server in a cluster.
func (c *Cache) Get(ctx context.Context, places []string) ([][]byte, error) {
	if len(places) == 0 {
		return nil, ctx.Err()
	}
	keys := make([]string, len(places))
	for i, p := range places {
		keys[i] = c.key(p)
	}
	if c.redis.Cluster != nil {
		return c.getEach(ctx, keys)
	}
	found, err := c.redis.Client.MGet(ctx, keys...).Result()
	if err != nil {
		return nil, fmt.Errorf("reading cached values from Redis: %w", err)
	}
	values := make([][]byte, len(places))
	for i := range min(len(found), len(values)) {
		if text, ok := found[i].(string); ok {
			values[i] = []byte(text)
		}
	}
	return values, nil
}

func (c *Cache) getEach(ctx context.Context, keys []string) ([][]byte, error) {
	answers := make([]*redis.StringCmd, len(keys))
	_, err := c.redis.Client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, key := range keys {
			answers[i] = p.Get(ctx, key)
		}
		return nil
	})
	if err != nil && !errors.Is(err, redis.Nil) {
		return nil, fmt.Errorf("reading cached values from Redis: %w", err)
	}
	values := make([][]byte, len(keys))
	for i, a := range answers {
		if value, err := a.Bytes(); err == nil {
			values[i] = value
		}
	}
	return values, nil
}

// Set keeps values at their places for a time.
func (c *Cache) Set(ctx context.Context, values map[string][]byte, ttl time.Duration) error {
	_, err := c.redis.Client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for place, value := range values {
			p.Set(ctx, c.key(place), value, ttl)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("caching values in Redis: %w", err)
	}
	return nil
}
