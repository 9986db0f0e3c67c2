package spool

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/bbolt"

	"sfbridge/bridge/store"
)

// mappedAllowance is about how much of the file may stay mapped.
const mappedAllowance = 8 << 20

func slots(dir string) store.Slots { return store.Slots{Dir: dir, Kind: "spool", Open: openDB} }

// FileInUse says whether a living process holds a spool file of the directory.
func FileInUse(dir string) (bool, error) { return slots(dir).InUse() }

// OpenFile takes the first spool file of the directory that no living process
// holds (spool-01.db, ...), and takes over what dead processes left in the
// others. A damaged file is an error: it may hold events that were accepted.
func OpenFile(c FileConfig) (*File, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	slots := slots(c.Dir)
	db, err := slots.Take()
	if err != nil {
		return nil, err
	}
	f := &File{db: db, slots: slots, now: c.Now, depth: map[string]int{}}
	err = f.tally()
	if err == nil {
		err = slots.Adopt(db.Path(), f.adopt)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	f.group = newGroup(1, groupBytes, f.write)
	return f, nil
}

// openDB opens a spool file. The list of free pages is made when a file is
// opened and not written with every commit: after a long outage it is long.
func openDB(file string) (*bbolt.DB, error) {
	db, err := bbolt.Open(file, 0o600, &bbolt.Options{
		Timeout: store.LockWait, FreelistType: bbolt.FreelistMapType, NoFreelistSync: true,
	})
	if err != nil {
		return nil, fmt.Errorf("opening the spool file %s: %w", file, err)
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		for _, name := range [][]byte{waitingBucket, apartBucket, probeBucket} {
			if _, err := tx.CreateBucketIfNotExists(name); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("opening the spool file %s: %w", file, err), db.Close())
	}
	return db, nil
}

// tally counts what the file holds.
func (f *File) tally() error {
	return f.db.View(func(tx *bbolt.Tx) error {
		f.apart = tx.Bucket(apartBucket).Stats().KeyN
		return tx.Bucket(waitingBucket).ForEach(func(k, _ []byte) error {
			queue, stamp, err := split(k)
			if err != nil {
				return err
			}
			f.depth[queue]++
			f.last = max(f.last, stamp)
			return nil
		})
	})
}

func key(queue string, stamp uint64) []byte {
	k := make([]byte, 0, len(queue)+1+stampSize)
	k = append(append(k, queue...), 0)
	return binary.BigEndian.AppendUint64(k, stamp)
}

func keyOf(queue, id string) ([]byte, error) {
	stamp, err := hex.DecodeString(id)
	if err != nil || len(stamp) != stampSize {
		return nil, ErrApartID
	}
	return key(queue, binary.BigEndian.Uint64(stamp)), nil
}

func split(k []byte) (queue string, stamp uint64, err error) {
	name, rest, ok := bytes.Cut(k, []byte{0})
	if !ok || len(rest) != stampSize {
		return "", 0, errors.New("the spool file holds a key of another form")
	}
	return string(name), binary.BigEndian.Uint64(rest), nil
}

// Adopt takes over what a process that died meanwhile left behind. The Drain
// calls it from time to time.
func (f *File) Adopt(context.Context) error { return f.slots.Adopt(f.db.Path(), f.adopt) }

// adopt copies first and empties then: after a crash between the two an entry is
// there twice, which the unique event id sorts out; none is lost.
func (f *File) adopt(db *bbolt.DB) error {
	for {
		n, err := f.adoptPart(db)
		if err != nil || n == 0 {
			return err
		}
	}
}

// adoptCount bounds the entries of one transaction, beside their bytes.
const adoptCount = 500

// pair is an entry of a file as it stands there.
type pair struct{ bucket, k, v []byte }

func (f *File) adoptPart(db *bbolt.DB) (int, error) {
	pairs, err := firstPairs(db)
	if err != nil || len(pairs) == 0 {
		return 0, err
	}
	if err := f.db.Update(func(tx *bbolt.Tx) error { return f.putPairs(tx, pairs) }); err != nil {
		return 0, err
	}
	for _, p := range pairs {
		queue, _, _ := split(p.k) // freeKey has read it
		if bytes.Equal(p.bucket, apartBucket) {
			f.count(queue, 0, 1)
		} else {
			f.count(queue, 1, 0)
		}
	}
	return len(pairs), db.Update(func(tx *bbolt.Tx) error {
		for _, p := range pairs {
			if err := tx.Bucket(p.bucket).Delete(p.k); err != nil {
				return err
			}
		}
		return nil
	})
}

// firstPairs gives the first entries of a file.
func firstPairs(db *bbolt.DB) (pairs []pair, err error) {
	size := 0
	err = db.View(func(tx *bbolt.Tx) error {
		for _, name := range [][]byte{waitingBucket, apartBucket} {
			c := tx.Bucket(name).Cursor()
			for k, v := c.First(); k != nil && len(pairs) < adoptCount && size < groupBytes; k, v = c.Next() {
				size += len(v)
				pairs = append(pairs, pair{name, bytes.Clone(k), bytes.Clone(v)})
			}
		}
		return nil
	})
	return pairs, err
}

func (f *File) putPairs(tx *bbolt.Tx, pairs []pair) error {
	for _, p := range pairs {
		k, err := freeKey(tx.Bucket(p.bucket), p.k)
		if err != nil {
			return err
		}
		f.saw(k)
		if err := tx.Bucket(p.bucket).Put(k, p.v); err != nil {
			return err
		}
	}
	return nil
}

// saw keeps later stamps behind the key's.
func (f *File) saw(k []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last = max(f.last, binary.BigEndian.Uint64(k[len(k)-stampSize:]))
}

// freeKey gives the first key from k on that is not taken by another entry.
func freeKey(b *bbolt.Bucket, k []byte) ([]byte, error) {
	queue, stamp, err := split(k)
	for err == nil && b.Get(k) != nil {
		stamp++
		k = key(queue, stamp)
	}
	return k, err
}
