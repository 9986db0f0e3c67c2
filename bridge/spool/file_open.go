package spool

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

const (
	// maxProcesses bounds the spool files of one directory.
	maxProcesses = 64
	// lockWait is below bbolt's own retry pause, so that a lock is tried once.
	lockWait = time.Millisecond
)

// OpenFile takes the first spool file of the directory that no living process
// holds (spool-01.db, ...), and takes over what dead processes left in the
// others. A damaged file is an error: it may hold events that were accepted.
func OpenFile(c FileConfig) (*File, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the store directory: %w", err)
	}
	db, slot, err := openFree(c.Dir)
	if err != nil {
		return nil, err
	}
	f := &File{db: db, now: c.Now, depth: map[string]int{}}
	err = f.tally()
	if err == nil {
		err = f.adoptAll(c.Dir, slot)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	f.group = newGroup(1, groupBytes, f.write)
	return f, nil
}

func slotFile(dir string, slot int) string {
	return filepath.Join(dir, fmt.Sprintf("spool-%02d.db", slot))
}

func openFree(dir string) (*bbolt.DB, int, error) {
	for slot := 1; slot <= maxProcesses; slot++ {
		db, err := openDB(slotFile(dir, slot))
		if errors.Is(err, bolterrors.ErrTimeout) {
			continue
		}
		return db, slot, err
	}
	return nil, 0, errors.New("every spool file of the store directory is in use: give this process a store.dir of its own")
}

// openDB opens a spool file. The list of free pages is made when a file is
// opened and not written with every commit: after a long outage it is long.
func openDB(file string) (*bbolt.DB, error) {
	db, err := bbolt.Open(file, 0o600, &bbolt.Options{
		Timeout: lockWait, FreelistType: bbolt.FreelistMapType, NoFreelistSync: true,
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

func split(k []byte) (queue string, stamp uint64, err error) {
	name, rest, ok := bytes.Cut(k, []byte{0})
	if !ok || len(rest) != stampSize {
		return "", 0, errors.New("the spool file holds a key of another form")
	}
	return string(name), binary.BigEndian.Uint64(rest), nil
}

// adoptAll takes over the files of dead processes.
func (f *File) adoptAll(dir string, own int) error {
	for slot := 1; slot <= maxProcesses; slot++ {
		file := slotFile(dir, slot)
		if slot == own {
			continue
		}
		if _, err := os.Stat(file); err != nil {
			if errors.Is(err, os.ErrNotExist) {
				continue
			}
			return fmt.Errorf("looking for spool files of other processes: %w", err)
		}
		if err := f.adoptFile(file); err != nil {
			return fmt.Errorf("taking over %s: %w", file, err)
		}
	}
	return nil
}

// Adopt takes over what a process that died meanwhile left behind. The Drain
// calls it from time to time.
func (f *File) Adopt(context.Context) error {
	dir, name := filepath.Split(f.db.Path())
	var own int
	if _, err := fmt.Sscanf(name, "spool-%d.db", &own); err != nil {
		return fmt.Errorf("naming the spool file: %w", err)
	}
	return f.adoptAll(dir, own)
}

// adoptFile copies first and empties then: after a crash between the two an
// entry is there twice, which the unique event id sorts out; none is lost.
func (f *File) adoptFile(file string) (err error) {
	db, err := openDB(file)
	if errors.Is(err, bolterrors.ErrTimeout) {
		return nil // its process lives
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for {
		n, err := f.adoptPart(db)
		if err != nil || n == 0 {
			return err
		}
	}
}

// adoptCount bounds the entries of one transaction.
const adoptCount = 500

func (f *File) adoptPart(db *bbolt.DB) (int, error) {
	type pair struct{ bucket, k, v []byte }
	var pairs []pair
	err := db.View(func(tx *bbolt.Tx) error {
		for _, name := range [][]byte{waitingBucket, apartBucket} {
			c := tx.Bucket(name).Cursor()
			for k, v := c.First(); k != nil && len(pairs) < adoptCount; k, v = c.Next() {
				pairs = append(pairs, pair{name, bytes.Clone(k), bytes.Clone(v)})
			}
		}
		return nil
	})
	if err != nil || len(pairs) == 0 {
		return 0, err
	}
	err = f.db.Update(func(tx *bbolt.Tx) error {
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
	})
	if err != nil {
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
