package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"sync"

	"go.etcd.io/bbolt"

	"sfbridge/internal/failpoint"
)

// MaxCrashes is how often a process may die while it works on a row before the
// row is given up.
const MaxCrashes = 5

var (
	workingBucket  = []byte("working")  // row id -> nothing: in work now
	suspectsBucket = []byte("suspects") // row id -> crashes met in work
)

// Journal is the durable list of the rows a process is working on, and of
// those that were in work when a process died. It is safe for concurrent use.
type Journal struct {
	db *bbolt.DB

	mu       sync.Mutex
	suspects map[string]int // mirrors suspectsBucket
}

// newJournal opens the journal in db. Rows still in work there were
// interrupted by a crash: it is counted and they become suspects.
func newJournal(db *bbolt.DB) (*Journal, error) {
	j := &Journal{db: db, suspects: map[string]int{}}
	err := db.Update(func(tx *bbolt.Tx) error {
		working, err := tx.CreateBucketIfNotExists(workingBucket)
		if err != nil {
			return err
		}
		suspects, err := tx.CreateBucketIfNotExists(suspectsBucket)
		if err != nil {
			return err
		}
		if err := countCrash(working, suspects); err != nil {
			return err
		}
		if err := tx.DeleteBucket(workingBucket); err != nil {
			return err
		}
		if _, err := tx.CreateBucket(workingBucket); err != nil {
			return err
		}
		return suspects.ForEach(func(id, n []byte) error {
			j.suspects[string(id)] = decodeCount(n)
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("reading the journal: %w", err)
	}
	return j, nil
}

func countCrash(working, suspects *bbolt.Bucket) error {
	return working.ForEach(func(id, _ []byte) error {
		return suspects.Put(id, encodeCount(decodeCount(suspects.Get(id))+1))
	})
}

// Begin notes that work on the rows starts. It is on disk when Begin returns.
func (j *Journal) Begin(ids []string) error {
	err := j.update(func(working, _ *bbolt.Bucket) error {
		for _, id := range ids {
			if err := working.Put([]byte(id), nil); err != nil {
				return err
			}
		}
		failpoint.Hit(failpoint.JournalCommitting)
		return nil
	})
	if err != nil {
		return fmt.Errorf("noting the start of work: %w", err)
	}
	return nil
}

// Done notes that the process outlived the work on the rows, however it ended:
// they are no suspects any more.
func (j *Journal) Done(ids []string) error {
	err := j.update(func(working, suspects *bbolt.Bucket) error {
		for _, id := range ids {
			if err := errors.Join(working.Delete([]byte(id)), suspects.Delete([]byte(id))); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("noting the end of work: %w", err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, id := range ids {
		delete(j.suspects, id)
	}
	return nil
}

// Crashes is how often a process died while it worked on the row; zero unless
// the row is a suspect.
func (j *Journal) Crashes(id string) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.suspects[id]
}

// Suspects returns the rows that were in work when a process died and have not
// passed since, with the number of crashes.
func (j *Journal) Suspects() map[string]int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return maps.Clone(j.suspects)
}

// take adds the suspects of another journal; crashes add up.
func (j *Journal) take(others map[string]int) error {
	if len(others) == 0 {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	sums := maps.Clone(j.suspects)
	for id, n := range others {
		sums[id] += n
	}
	err := j.update(func(_, suspects *bbolt.Bucket) error {
		for id := range others {
			if err := suspects.Put([]byte(id), encodeCount(sums[id])); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		j.suspects = sums
	}
	return err
}

func (j *Journal) clear() error {
	return j.db.Update(func(tx *bbolt.Tx) error {
		for _, name := range [][]byte{workingBucket, suspectsBucket} {
			if err := tx.DeleteBucket(name); err != nil {
				return err
			}
		}
		return nil
	})
}

func (j *Journal) update(fn func(working, suspects *bbolt.Bucket) error) error {
	return j.db.Update(func(tx *bbolt.Tx) error {
		return fn(tx.Bucket(workingBucket), tx.Bucket(suspectsBucket))
	})
}

func encodeCount(n int) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }

func decodeCount(b []byte) int {
	if len(b) != 8 {
		return 0
	}
	return int(binary.BigEndian.Uint64(b))
}
