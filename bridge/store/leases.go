package store

import (
	"context"
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
}

// MemoryLeases is the engine for workers of one process. The zero value can't
// be used; see NewMemoryLeases.
type MemoryLeases struct {
	now func() time.Time

	mu   sync.Mutex
	held map[string]lease
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
	return &MemoryLeases{now: now, held: map[string]lease{}}
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
