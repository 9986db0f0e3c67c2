package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// Board holds small notes that processes leave for each other. A note that
// nobody renews goes away.
type Board struct{ redis *Redis }

// NewBoard returns the board of a Redis.
func NewBoard(r *Redis) *Board { return &Board{r} }

// Read gives a note; nil when there is none.
func (b *Board) Read(ctx context.Context, name string) ([]byte, error) {
	text, err := b.redis.Client.Get(ctx, b.redis.Key(name, "note")).Bytes()
	if errors.Is(err, redis.Nil) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading a note in Redis: %w", err)
	}
	return text, nil
}

// Write leaves a note for a time.
func (b *Board) Write(ctx context.Context, name string, text []byte, ttl time.Duration) error {
	if err := b.redis.Client.Set(ctx, b.redis.Key(name, "note"), text, ttl).Err(); err != nil {
		return fmt.Errorf("leaving a note in Redis: %w", err)
	}
	return nil
}
