package app

import (
	"context"
	"fmt"
	"time"

	"sfbridge/bridge/stage"
	"sfbridge/bridge/store"
	"sfbridge/salesforce"
)

// confirmed is where processes tell each other which events are durable; nil:
// nowhere. Another login in the settings begins with nothing known.
func (b *Bridge) confirmed() stage.Shared {
	if b.redis == nil {
		return nil
	}
	scope := "seen:" + b.orgTag()
	return &confirmed{sessions: b.login.sessions, of: func(org string) stage.Shared {
		if org == "" {
			return store.NewCache(b.redis, scope)
		}
		return store.NewCache(b.redis, scope+"-"+org)
	}}
}

// confirmed keeps what is known of one org from the one that takes its place
// behind the same login, as a sandbox does when it is refreshed: its rows are
// other rows.
type confirmed struct {
	sessions salesforce.Sessions
	of       func(org string) stage.Shared
}

// here is what is shared of the org that the session is good for.
func (c *confirmed) here(ctx context.Context) (stage.Shared, error) {
	session, err := c.sessions.Session(ctx)
	if err != nil {
		return nil, fmt.Errorf("asking which org this is: %w", err)
	}
	return c.of(session.Org), nil
}

// Get implements stage.Shared.
func (c *confirmed) Get(ctx context.Context, places []string) ([][]byte, error) {
	shared, err := c.here(ctx)
	if err != nil {
		return nil, err
	}
	return shared.Get(ctx, places)
}

// Set implements stage.Shared.
func (c *confirmed) Set(ctx context.Context, values map[string][]byte, ttl time.Duration) error {
	shared, err := c.here(ctx)
	if err != nil {
		return err
	}
	return shared.Set(ctx, values, ttl)
}
