package spool

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"

	"sfbridge/bridge/store"
	"sfbridge/internal/failpoint"
)

// Buckets of a spool file. Keys are the queue, a zero byte and the stamp.
var (
	waitingBucket = []byte("waiting") // -> data
	apartBucket   = []byte("apart")   // -> JSON of apartValue
	probeBucket   = []byte("probe")   // written by Ready
)

// groupBytes bounds one transaction of the file.
const groupBytes = 4 << 20

// stampSize is the length of a stamp: when the entry was taken in, as Unix
// nanoseconds, moved on where that is needed to keep the order.
const stampSize = 8

type apartValue struct {
	Reason string `json:"reason"`
	Data   []byte `json:"data"`
}

// FileConfig says where a File lives.
type FileConfig struct {
	Dir string           // made when it is missing
	Now func() time.Time // nil: time.Now
}

// File is the engine on a local file. Every append is on the disk before it is
// answered; appends that come together share one transaction.
type File struct {
	db    *bbolt.DB
	slots store.Slots
	now   func() time.Time
	group *group
	read  atomic.Int64 // bytes since pages were given back

	mu    sync.Mutex
	last  uint64         // the latest stamp given
	depth map[string]int // entries by queue
	apart int
}

// Append implements Engine.
func (f *File) Append(ctx context.Context, entries []Entry) error {
	for _, e := range entries {
		if e.Queue == "" || bytes.IndexByte([]byte(e.Queue), 0) >= 0 {
			return fmt.Errorf("spooling: %q is no queue", e.Queue)
		}
	}
	if len(entries) == 0 {
		return nil
	}
	if err := f.group.append(ctx, entries); err != nil {
		return fmt.Errorf("spooling to the file: %w", err)
	}
	return nil
}

// write is one transaction of the group.
func (f *File) write(_ context.Context, entries []Entry) error {
	err := f.db.Update(func(tx *bbolt.Tx) error {
		b := tx.Bucket(waitingBucket)
		for _, e := range entries {
			if err := b.Put(key(e.Queue, f.stamp()), e.Data); err != nil {
				return err
			}
		}
		failpoint.Hit(failpoint.SpoolCommitting)
		return nil
	})
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range entries {
		f.depth[e.Queue]++
	}
	return nil
}

// stamp gives the next place in the order: the time, or just after the last one
// when the clock has not moved on or was set back.
func (f *File) stamp() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last = max(f.last+1, uint64(max(0, f.now().UnixNano())))
	return f.last
}

// Take implements Engine.
func (f *File) Take(_ context.Context, queue string, limit int) ([]Waiting, error) {
	var list []Waiting
	size := 0
	err := f.db.View(func(tx *bbolt.Tx) error {
		prefix := key(queue, 0)[:len(queue)+1]
		c := tx.Bucket(waitingBucket).Cursor()
		for k, v := c.Seek(prefix); k != nil && bytes.HasPrefix(k, prefix) && len(list) < limit && size < takeBytes; k, v = c.Next() {
			size += len(v)
			list = append(list, Waiting{ID: hex.EncodeToString(k[len(prefix):]), Data: bytes.Clone(v)})
		}
		if f.read.Add(int64(size)) > mappedAllowance {
			f.read.Store(0)
			unmap(tx)
		}
		return nil
	})
	return list, wrap("reading the spool file", err)
}

// Done implements Engine.
func (f *File) Done(_ context.Context, queue string, ids []string) error {
	removed := 0
	err := f.db.Update(func(tx *bbolt.Tx) error {
		removed = 0
		for _, id := range ids {
			n, err := remove(tx, queue, id)
			if err != nil {
				return err
			}
			removed += n
		}
		return nil
	})
	if err != nil {
		return wrap("removing from the spool file", err)
	}
	f.count(queue, -removed, 0)
	return nil
}

func remove(tx *bbolt.Tx, queue, id string) (int, error) {
	k, err := keyOf(queue, id)
	if err != nil {
		return 0, err
	}
	b := tx.Bucket(waitingBucket)
	if b.Get(k) == nil {
		return 0, nil
	}
	return 1, b.Delete(k)
}

// SetApart implements Engine.
func (f *File) SetApart(_ context.Context, queue string, entries []Refused) error {
	removed := 0
	err := f.db.Update(func(tx *bbolt.Tx) error {
		removed = 0
		for _, e := range entries {
			n, err := remove(tx, queue, e.ID)
			if err != nil {
				return err
			}
			if n == 0 {
				continue
			}
			removed++
			value, err := json.Marshal(apartValue{Reason: e.Reason, Data: e.Data})
			if err != nil {
				return err
			}
			k, _ := keyOf(queue, e.ID) // remove has read it
			if err := tx.Bucket(apartBucket).Put(k, value); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return wrap("setting entries apart in the spool file", err)
	}
	f.count(queue, -removed, removed)
	return nil
}

// Apart implements Engine.
func (f *File) Apart(_ context.Context, limit int) ([]Apart, error) {
	var list []Apart
	err := f.db.View(func(tx *bbolt.Tx) error {
		c := tx.Bucket(apartBucket).Cursor()
		for k, v := c.First(); k != nil && len(list) < limit; k, v = c.Next() {
			queue, stamp, ok := bytes.Cut(k, []byte{0})
			var value apartValue
			if err := json.Unmarshal(v, &value); err != nil || !ok {
				return fmt.Errorf("an entry that was set apart can't be read: %w", err)
			}
			list = append(list, Apart{Queue: string(queue), Refused: Refused{
				Reason: value.Reason, Waiting: Waiting{ID: hex.EncodeToString(stamp), Data: value.Data},
			}})
		}
		return nil
	})
	return list, wrap("reading the spool file", err)
}

// Again implements Engine.
func (f *File) Again(_ context.Context, entries []Apart) (int, error) {
	moved := map[string]int{}
	err := f.db.Update(func(tx *bbolt.Tx) error {
		clear(moved)
		for _, e := range entries {
			k, err := keyOf(e.Queue, e.ID)
			if err != nil {
				return err
			}
			text := tx.Bucket(apartBucket).Get(k)
			if text == nil {
				continue
			}
			var value apartValue
			if err := json.Unmarshal(text, &value); err != nil {
				return fmt.Errorf("an entry that was set apart can't be read: %w", err)
			}
			moved[e.Queue]++
			if err := tx.Bucket(waitingBucket).Put(key(e.Queue, f.stamp()), value.Data); err != nil {
				return err
			}
			if err := tx.Bucket(apartBucket).Delete(k); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, wrap("putting entries back in the spool file", err)
	}
	total := 0
	for queue, n := range moved {
		f.count(queue, n, -n)
		total += n
	}
	return total, nil
}

func (f *File) count(queue string, waiting, apart int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.apart += apart
	if f.depth[queue] += waiting; f.depth[queue] <= 0 {
		delete(f.depth, queue)
	}
}

// State implements Engine.
func (f *File) State(context.Context) (State, error) {
	f.mu.Lock()
	s := State{Depth: make(map[string]int, len(f.depth)), Apart: f.apart}
	for queue, n := range f.depth {
		s.Depth[queue] = n
	}
	f.mu.Unlock()
	err := f.db.View(func(tx *bbolt.Tx) error {
		c := tx.Bucket(waitingBucket).Cursor()
		for queue := range s.Depth {
			prefix := key(queue, 0)[:len(queue)+1]
			k, _ := c.Seek(prefix)
			if !bytes.HasPrefix(k, prefix) {
				continue
			}
			at := time.Unix(0, int64(binary.BigEndian.Uint64(k[len(prefix):])))
			if s.Oldest.IsZero() || at.Before(s.Oldest) {
				s.Oldest = at
			}
		}
		unmap(tx)
		return nil
	})
	return s, wrap("reading the spool file", err)
}

// Ready implements Engine.
func (f *File) Ready(context.Context) error {
	stamp := binary.BigEndian.AppendUint64(nil, uint64(max(0, f.now().UnixNano())))
	err := f.db.Update(func(tx *bbolt.Tx) error { return tx.Bucket(probeBucket).Put([]byte("at"), stamp) })
	return wrap("writing to the spool file", err)
}

// Close implements Engine.
func (f *File) Close() error {
	f.group.close()
	return wrap("closing the spool file", f.db.Close())
}
