package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

const (
	// maxProcesses bounds the files of one kind in a directory.
	maxProcesses = 64
	// LockWait is below bbolt's own retry pause, so that a lock is tried once.
	LockWait = time.Millisecond
)

// ErrCrowded says that every file of a kind is held by a living process.
var ErrCrowded = errors.New("every file of the store directory is in use: give this process a store.dir of its own")

// Slots are the files of one kind in a directory (journal-01.db, ...). A process
// holds one of them while it lives, and takes over what dead ones left in the
// others.
type Slots struct {
	Dir, Kind string
	// Open opens a file with LockWait as the time-out of its lock.
	Open func(file string) (*bbolt.DB, error)
}

func (s Slots) file(slot int) string {
	return filepath.Join(s.Dir, fmt.Sprintf("%s-%02d.db", s.Kind, slot))
}

// Take makes the directory and opens the first file that no living process
// holds.
func (s Slots) Take() (*bbolt.DB, error) {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the store directory: %w", err)
	}
	for slot := 1; slot <= maxProcesses; slot++ {
		db, err := s.Open(s.file(slot))
		if errors.Is(err, bolterrors.ErrTimeout) {
			continue
		}
		return db, err
	}
	return nil, ErrCrowded
}

// Adopt hands the file of every dead process to fn, which moves out what it
// holds. own is the file that this process has taken.
func (s Slots) Adopt(own string, fn func(db *bbolt.DB) error) error {
	return s.each(own, func(file string) error {
		db, err := s.Open(file)
		if errors.Is(err, bolterrors.ErrTimeout) {
			return nil // its process lives
		}
		if err != nil {
			return err
		}
		return errors.Join(fn(db), db.Close())
	})
}

// InUse says whether a living process holds a file of this kind.
func (s Slots) InUse() (used bool, err error) {
	err = s.each("", func(file string) error {
		db, err := s.Open(file)
		if errors.Is(err, bolterrors.ErrTimeout) {
			used = true
			return nil
		}
		if err != nil {
			return err
		}
		return db.Close()
	})
	return used, err
}

// each calls fn for every file but one's own.
func (s Slots) each(own string, fn func(file string) error) error {
	for slot := 1; slot <= maxProcesses; slot++ {
		file := s.file(slot)
		if file == own {
			continue
		}
		if _, err := os.Stat(file); errors.Is(err, os.ErrNotExist) {
			continue
		} else if err != nil {
			return fmt.Errorf("looking for files of other processes: %w", err)
		}
		if err := fn(file); err != nil {
			return fmt.Errorf("taking over %s: %w", file, err)
		}
	}
	return nil
}
