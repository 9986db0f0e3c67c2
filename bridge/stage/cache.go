package stage

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"sync"
	"time"
)

// confirmed is a bounded memory of event ids that are durable. It holds two
// generations: when the young one is full it becomes the old one, so that keys
// in use survive and memory stays flat. Entries are small and hold no pointers,
// so that a full memory costs the garbage collector nothing.
type confirmed struct {
	mu         sync.Mutex
	size       int
	young, old map[digest]slot
}

// digest stands for an event id: the first half of its SHA-256.
type digest [sha256.Size / 2]byte

// slot is a known row, its receive time in whole seconds.
type slot struct {
	row      [rowIDLength]byte
	hash     [sha256.Size]byte
	received uint32 // Unix seconds; 0: not known
}

// rowIDLength is the length of a Salesforce id.
const rowIDLength = 18

func newConfirmed(size int) *confirmed {
	return &confirmed{size: max(1, size/2), young: map[digest]slot{}}
}

func (c *confirmed) get(id string) (known, bool) {
	key := digestOf(id)
	c.mu.Lock()
	defer c.mu.Unlock()
	s, ok := c.young[key]
	if !ok {
		if s, ok = c.old[key]; !ok {
			return known{}, false
		}
		c.keep(key, s)
	}
	return s.known(), true
}

// put remembers a row. One whose id or hash has another form than the bridge's
// own is not remembered: the org is asked again.
func (c *confirmed) put(id string, k known) {
	s, ok := slotOf(k)
	if !ok {
		return
	}
	key := digestOf(id)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keep(key, s)
}

// slotOf packs a row; ok is false for one of another form.
func slotOf(k known) (s slot, ok bool) {
	if len(k.row) != rowIDLength || len(k.hash) != hex.EncodedLen(sha256.Size) {
		return slot{}, false
	}
	copy(s.row[:], k.row)
	if _, err := hex.Decode(s.hash[:], []byte(k.hash)); err != nil {
		return slot{}, false
	}
	if at := k.received.Unix(); at > 0 && at <= math.MaxUint32 {
		s.received = uint32(at)
	}
	return s, true
}

func (s slot) known() known {
	k := known{row: string(s.row[:]), hash: hex.EncodeToString(s.hash[:])}
	if s.received > 0 {
		k.received = time.Unix(int64(s.received), 0).UTC()
	}
	return k
}

func (c *confirmed) keep(key digest, s slot) {
	if len(c.young) >= c.size {
		c.old, c.young = c.young, make(map[digest]slot, c.size)
	}
	c.young[key] = s
}

func digestOf(id string) digest {
	sum := sha256.Sum256([]byte(id))
	return digest(sum[:len(digest{})])
}
