package stage

import "sync"

// confirmed is a bounded memory of event ids that are durable. It holds two
// generations: when the young one is full it becomes the old one, so that keys
// in use survive and memory stays flat.
type confirmed struct {
	mu         sync.Mutex
	size       int
	young, old map[string]known
}

func newConfirmed(size int) *confirmed {
	return &confirmed{size: max(1, size/2), young: map[string]known{}}
}

func (c *confirmed) get(id string) (known, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if k, ok := c.young[id]; ok {
		return k, true
	}
	k, ok := c.old[id]
	if ok {
		c.keep(id, k)
	}
	return k, ok
}

func (c *confirmed) put(id string, k known) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keep(id, k)
}

func (c *confirmed) keep(id string, k known) {
	if len(c.young) >= c.size {
		c.old, c.young = c.young, map[string]known{}
	}
	c.young[id] = k
}
