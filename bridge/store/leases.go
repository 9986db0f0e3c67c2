package store

import (
	"context"
	"maps"
	"sync"
	"time"
)

// Leases are exclusive, expiring claims on names (queues). An engine shared by
// several processes may grant fewer names than were asked for.
type Leases interface {
	// Acquire claims the names, or extends the claims the owner holds already,
	// until ttl from now. It returns those of them that the owner holds now, in
	// the order asked; a name held by another owner is left out.
	Acquire(ctx context.Context, owner string, names []string, ttl time.Duration) (held []string, err error)
	// Release gives the names back that the owner holds; others are left alone.
	Release(ctx context.Context, owner string, names []string) error
	// Join counts the owner among the members of the engine, or goes on counting
	// it, until ttl from now. It returns how many members there are now.
	Join(ctx context.Context, owner string, ttl time.Duration) (members int, err error)
	// Leave takes the owner out of the count. Its claims are left alone.
	Leave(ctx context.Context, owner string) error
}

// MemoryLeases is the engine for workers of one process. The zero value can't
// be used; see NewMemoryLeases.
type MemoryLeases struct {
	now func() time.Time

	mu      sync.Mutex
	held    map[string]lease
	members map[string]time.Time // until when each counts
}

type lease struct {
	owner string
	until time.Time
}

// NewMemoryLeases returns an empty engine; now nil means time.Now.
func NewMemoryLeases(now func() time.Time) *MemoryLeases {
	if now == nil {
		now = time.Now
	}
	return &MemoryLeases{now: now, held: map[string]lease{}, members: map[string]time.Time{}}
}

// Acquire implements Leases.
func (m *MemoryLeases) Acquire(ctx context.Context, owner string, names []string, ttl time.Duration) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	var got []string
	for _, name := range names {
		if l, ok := m.held[name]; ok && l.owner != owner && now.Before(l.until) {
			continue
		}
		m.held[name] = lease{owner: owner, until: now.Add(ttl)}
		got = append(got, name)
	}
	return got, nil
}

// Release implements Leases.
func (m *MemoryLeases) Release(ctx context.Context, owner string, names []string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, name := range names {
		if m.held[name].owner == owner {
			delete(m.held, name)
		}
	}
	return nil
}

// Join implements Leases.
func (m *MemoryLeases) Join(ctx context.Context, owner string, ttl time.Duration) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	m.members[owner] = now.Add(ttl)
	maps.DeleteFunc(m.members, func(_ string, until time.Time) bool { return !now.Before(until) })
	return len(m.members), nil
}

// Leave implements Leases.
func (m *MemoryLeases) Leave(ctx context.Context, owner string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.members, owner)
	return nil
}
