package receive

import (
	"container/list"
	"sync"
)

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
//
// Anybody may send a body under a source's name, and its signature can't be told
// before its end. So when a source has no room left, those of its bodies that have
// been coming for too long are broken off, the longest first.
type Pool struct {
	most int64

	mu     sync.Mutex
	shared int64                 // of the shared half, what is free
	kept   map[string]int64      // by source
	used   map[string]int64      // by source, of its own part and of the shared half
	coming map[string]*list.List // by source, of *hold: those whose body isn't there yet, the first first
}

// NewPool returns a pool of so many bytes for these sources.
func NewPool(most int64, sources map[string]*Source) *Pool {
	p := &Pool{most: most, used: map[string]int64{}, coming: map[string]*list.List{}}
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

// take says whether the source may have n bytes more. The lock is held.
func (p *Pool) take(source string, n int64) bool {
	more := p.excess(source, p.used[source]+n) - p.excess(source, p.used[source])
	if more > 0 && more > p.shared {
		return false
	}
	p.shared -= more
	p.used[source] += n
	return true
}

// give takes n bytes back. The lock is held.
func (p *Pool) give(source string, n int64) {
	p.shared += p.excess(source, p.used[source]) - p.excess(source, p.used[source]-n)
	if p.used[source] -= n; p.used[source] == 0 {
		delete(p.used, source)
	}
}

// grow gives a hold n bytes more, for which others may have to make room.
func (p *Pool) grow(h *hold, n int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for !h.broken {
		if p.take(h.source, n) {
			h.bytes += n
			return true
		}
		if !p.makeRoom(h) {
			return false
		}
	}
	return false
}

// makeRoom breaks off the body of the source that has been coming for the
// longest. The lock is held.
func (p *Pool) makeRoom(h *hold) bool {
	var first *list.Element
	if l := p.coming[h.source]; l != nil {
		first = l.Front()
	}
	if first != nil && first.Value == h {
		first = first.Next()
	}
	if first == nil {
		return false
	}
	longest := first.Value.(*hold)
	if h.now().Sub(longest.since) < bodyPatience {
		return false
	}
	longest.broken = true
	longest.cut()
	p.drop(longest)
	return true
}

// drop takes back all that a hold has. The lock is held.
func (p *Pool) drop(h *hold) {
	p.arrived(h)
	if h.bytes > 0 {
		p.give(h.source, h.bytes)
		h.bytes = 0
	}
}

// await notes that a hold's body is coming. The lock is held.
func (p *Pool) await(h *hold) {
	l := p.coming[h.source]
	if l == nil {
		l = list.New()
		p.coming[h.source] = l
	}
	h.place = l.PushBack(h)
}

// arrived notes that no more of a hold's body will come. The lock is held.
func (p *Pool) arrived(h *hold) {
	if h.place != nil {
		p.coming[h.source].Remove(h.place)
		h.place = nil
	}
}
