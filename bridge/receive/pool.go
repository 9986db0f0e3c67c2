package receive

import "sync"

// What a delivery costs while it is in flight, estimated: the connection's
// buffers and goroutine, and a body as bytes, as a decoded document and as a
// row on its way.
const (
	perDelivery = 16 << 10
	perByte     = 4
)

// Pool is the memory that deliveries in flight may take, shared by the sources.
// Half of it is kept: an equal part for each source, and for each enough for
// one delivery of its largest size. The other half goes to whoever asks first.
// So a source that floods, or several of them, take nothing of what another
// needs.
type Pool struct {
	most int64

	mu     sync.Mutex
	shared int64            // of the shared half, what is free
	kept   map[string]int64 // by source
	used   map[string]int64 // by source, of its own part and of the shared half
}

// NewPool returns a pool of so many bytes for these sources.
func NewPool(most int64, sources map[string]*Source) *Pool {
	p := &Pool{most: most, used: map[string]int64{}}
	p.Divide(sources)
	return p
}

// Divide shares the pool out anew, among the sources after a reload. What is in
// flight stays.
func (p *Pool) Divide(sources map[string]*Source) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kept, p.shared = map[string]int64{}, p.most/2
	for name, s := range sources {
		p.kept[name] = max(p.most/2/int64(len(sources)), cost(s.MaxBody)+2*(s.MaxBody+1))
	}
	for name, n := range p.used {
		p.shared -= p.excess(name, n)
	}
}

// cost is what a delivery with a body of so many bytes takes beside the body.
func cost(body int64) int64 { return perDelivery + perByte*body }

// excess is the part of n bytes of a source that is not from its own part.
func (p *Pool) excess(source string, n int64) int64 { return max(0, n-p.kept[source]) }

// take says whether the source may have n bytes more.
func (p *Pool) take(source string, n int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	more := p.excess(source, p.used[source]+n) - p.excess(source, p.used[source])
	if more > 0 && more > p.shared {
		return false
	}
	p.shared -= more
	p.used[source] += n
	return true
}

func (p *Pool) give(source string, n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shared += p.excess(source, p.used[source]) - p.excess(source, p.used[source]-n)
	if p.used[source] -= n; p.used[source] == 0 {
		delete(p.used, source)
	}
}

// hold is what one delivery has taken of the pool.
type hold struct {
	pool   *Pool // nil: no bound
	source string
	bytes  int64
}

// grow takes more; the refusal tells the sender to come again.
func (h *hold) grow(n int64) error {
	if h.pool == nil {
		return nil
	}
	if !h.pool.take(h.source, n) {
		return &refusal{kind: kindRateLimited, retryAfter: soon,
			message: "more deliveries at once than can be taken; send it again",
			detail:  "the source's deliveries in flight take all the memory they may"}
	}
	h.bytes += n
	return nil
}

func (h *hold) release() {
	if h.bytes > 0 {
		h.pool.give(h.source, h.bytes)
		h.bytes = 0
	}
}
