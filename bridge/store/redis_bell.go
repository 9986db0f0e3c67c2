package store

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"
)

// Bell carries short messages to every process that listens at the moment. One
// that doesn't hears nothing of them later.
type Bell struct {
	redis   *Redis
	channel string
}

// NewBell returns the bell of a scope. Channels know no databases, so that the
// scope alone keeps deployments of one server apart.
func NewBell(r *Redis, scope string) *Bell { return &Bell{r, keyPrefix + "bell:" + scope} }

// Ring sends a message, to the sender too if it listens.
func (b *Bell) Ring(ctx context.Context, text []byte) error {
	if err := b.redis.Client.Publish(ctx, b.channel, text).Err(); err != nil {
		return fmt.Errorf("ringing in Redis: %w", err)
	}
	return nil
}

// Listen hands every message to heard until ctx ends, and calls connected each
// time it begins to listen: what was sent before is not heard.
func (b *Bell) Listen(ctx context.Context, connected func(), heard func(text []byte)) error {
	sub := b.redis.Client.Subscribe(ctx, b.channel)
	defer sub.Close() //nolint:errcheck // the connection is done with
	messages := sub.ChannelWithSubscriptions()
	for {
		select {
		case <-ctx.Done():
			return nil
		case m, open := <-messages:
			if !open {
				return nil // the connections were closed
			}
			switch m := m.(type) {
			case *redis.Subscription:
				connected()
			case *redis.Message:
				heard([]byte(m.Payload))
			}
		}
	}
}
