package stage

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"sync"
	"time"
)

// Shared holds small values that all processes of an org see. It may forget any
// of them at any time: whoever finds nothing asks the org.
type Shared interface {
	// Get gives what is kept at each place, in the order asked; nil for nothing.
	Get(ctx context.Context, places []string) ([][]byte, error)
	// Set keeps values at their places for a time.
	Set(ctx context.Context, values map[string][]byte, ttl time.Duration) error
}

// Bounds of what is shared. An event id has one place, which a later one may
// take: so the memory that confirmed keys need in the store is bounded, however
// many events come.
const (
	sharedPlaces = 1 << 17
	sharedFor    = time.Hour       // rows seldom live shorter; one that is gone is still a duplicate
	sharedRest   = 5 * time.Second // after a failure, in which nobody waits for the store

	sharedPatience = 4 // how many looks telling may take: nobody waits for it
)

// others is what this process knows of the way to the others.
type others struct {
	mu   sync.Mutex
	rest time.Time // until when the store is left alone
}

// reachable says whether the store is worth a look.
func (s *Stager) reachable() bool {
	if s.cfg.Shared == nil {
		return false
	}
	s.others.mu.Lock()
	defer s.others.mu.Unlock()
	return !s.cfg.Now().Before(s.others.rest)
}

// away notes that the store could not be used. Nothing hangs on it but calls.
func (s *Stager) away(err error) {
	s.others.mu.Lock()
	s.others.rest = s.cfg.Now().Add(sharedRest)
	s.others.mu.Unlock()
	s.cfg.Log.Debug("confirmed keys can't be shared at the moment", "error", err)
}

// recognize settles the entries that another process has confirmed, and gives
// the rest.
func (s *Stager) recognize(ctx context.Context, batch []*entry) []*entry {
	if !s.reachable() {
		return batch
	}
	places, keys := make([]string, len(batch)), make([]digest, len(batch))
	for i, e := range batch {
		keys[i] = digestOf(e.event.ID)
		places[i] = keys[i].place()
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.SharedWait)
	defer cancel()
	values, err := s.cfg.Shared.Get(ctx, places)
	if err == nil && len(values) != len(batch) {
		err = fmt.Errorf("asked for %d places, got %d", len(batch), len(values))
	}
	if err != nil {
		s.away(err)
		return batch
	}
	var rest []*entry
	for i, e := range batch {
		row, ok := unpack(values[i], keys[i])
		if !ok {
			rest = append(rest, e)
			continue
		}
		e.told = true
		s.settle(e, Answer{EventID: e.event.ID, Status: e.verdict(row)}, row)
	}
	return rest
}

// tell lets other processes know of the rows that a batch was settled by.
func (s *Stager) tell(ctx context.Context, batch []*entry) {
	if !s.reachable() {
		return
	}
	values := make(map[string][]byte, len(batch))
	for _, e := range batch {
		row, ok := slotOf(e.found)
		if !ok || e.told {
			continue
		}
		key := digestOf(e.event.ID)
		values[key.place()] = pack(key, row)
	}
	if len(values) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, sharedPatience*s.cfg.SharedWait)
	defer cancel()
	if err := s.cfg.Shared.Set(ctx, values, sharedFor); err != nil {
		s.away(err)
	}
}

func (d digest) place() string {
	return fmt.Sprintf("%05x", binary.BigEndian.Uint32(d[:])%sharedPlaces)
}

// packedSize is the length of a value: whose it is, row, hash, receive time.
const packedSize = len(digest{}) + rowIDLength + sha256.Size + 4

func pack(key digest, s slot) []byte {
	value := make([]byte, 0, packedSize)
	value = append(value, key[:]...)
	value = append(value, s.row[:]...)
	value = append(value, s.hash[:]...)
	return binary.BigEndian.AppendUint32(value, s.received)
}

// unpack reads a value; ok is false when it is not the key's.
func unpack(value []byte, key digest) (row known, ok bool) {
	if len(value) != packedSize || digest(value[:len(key)]) != key {
		return known{}, false
	}
	var s slot
	rest := value[len(key):]
	n := copy(s.row[:], rest)
	n += copy(s.hash[:], rest[n:])
	s.received = binary.BigEndian.Uint32(rest[n:])
	return s.known(), true
}
