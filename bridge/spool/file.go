package spool

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
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

// FileConfig says where a File lives.
type FileConfig struct {
	Dir string           // made when it is missing
	Now func() time.Time // nil: time.Now
}

// File is the engine on a local file. Every append is on the disk before it is
// answered; appends that come together share one transaction.
type File struct {
	db      *bbolt.DB
	slots   store.Slots
	now     func() time.Time
	group   *group
	touched atomic.Int64 // bytes since pages were given back

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
		size := 0
		for _, e := range entries {
			if err := b.Put(key(e.Queue, f.stamp()), e.Data); err != nil {
				return err
			}
			size += len(e.Data)
		}
		f.touch(tx, size)
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

// touch notes that so many bytes of the file were read or written, and gives
// mapped pages back from time to time.
func (f *File) touch(tx *bbolt.Tx, size int) {
	if f.touched.Add(int64(size)) > mappedAllowance {
		f.touched.Store(0)
		unmap(tx)
	}
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
		f.touch(tx, size)
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
