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
	// maxProcesses bounds the journal files of one directory.
	maxProcesses = 64
	// lockWait is below bbolt's own retry pause, so that a lock is tried once.
	lockWait = time.Millisecond
)

// ErrCrowded says that every journal file of the directory is held by a living
// process.
var ErrCrowded = errors.New("every journal of the store directory is in use: give this process a store.dir of its own")

// Config is where a store lives.
type Config struct {
	// Dir is the directory of the store's files, made when it is missing.
	Dir string
}

// Store is the part of a directory that belongs to this process.
type Store struct {
	db      *bbolt.DB
	journal *Journal
}

// Open takes the first free journal file of the directory and takes over what
// dead processes left in it and in the other files that nobody holds.
func Open(c Config) (*Store, error) {
	if c.Dir == "" {
		return nil, errors.New("store.dir is empty")
	}
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the store directory: %w", err)
	}
	db, slot, err := openFree(c.Dir)
	if err != nil {
		return nil, err
	}
	j, err := newJournal(db)
	if err == nil {
		err = adopt(c.Dir, slot, j)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &Store{db: db, journal: j}, nil
}

// Journal is what this process is working on.
func (s *Store) Journal() *Journal { return s.journal }

// Close gives the journal file back.
func (s *Store) Close() error {
	if err := s.db.Close(); err != nil {
		return fmt.Errorf("closing the store: %w", err)
	}
	return nil
}

func slotFile(dir string, slot int) string {
	return filepath.Join(dir, fmt.Sprintf("journal-%02d.db", slot))
}

// openFree opens the first journal file that no living process holds.
func openFree(dir string) (*bbolt.DB, int, error) {
	for slot := 1; slot <= maxProcesses; slot++ {
		db, err := openFile(slotFile(dir, slot))
		if errors.Is(err, bolterrors.ErrTimeout) {
			continue
		}
		if err != nil {
			return nil, 0, err
		}
		return db, slot, nil
	}
	return nil, 0, ErrCrowded
}

// openFile opens a journal file. A damaged one is set aside: all it could tell
// is which rows to be careful with, and the service must come up after any
// crash.
func openFile(file string) (*bbolt.DB, error) {
	db, err := open(file)
	if damaged(err) {
		if err := os.Rename(file, file+".damaged"); err != nil {
			return nil, fmt.Errorf("setting a damaged journal aside: %w", err)
		}
		db, err = open(file)
	}
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", file, err)
	}
	return db, nil
}

func open(file string) (*bbolt.DB, error) {
	return bbolt.Open(file, 0o600, &bbolt.Options{Timeout: lockWait, FreelistType: bbolt.FreelistMapType})
}

func damaged(err error) bool {
	return errors.Is(err, bolterrors.ErrInvalid) || errors.Is(err, bolterrors.ErrChecksum) ||
		errors.Is(err, bolterrors.ErrVersionMismatch)
}

// adopt moves what dead processes left in the other files into j.
func adopt(dir string, own int, j *Journal) error {
	for slot := 1; slot <= maxProcesses; slot++ {
		file := slotFile(dir, slot)
		if slot == own {
			continue
		}
		if _, err := os.Stat(file); err != nil {
			if errors.Is(err, os.ErrNotExist) {
				continue
			}
			return fmt.Errorf("looking for journals of other processes: %w", err)
		}
		if err := adoptFile(file, j); err != nil {
			return fmt.Errorf("taking over %s: %w", file, err)
		}
	}
	return nil
}

// adoptFile copies first and empties then: a crash between the two counts a
// crash twice at worst, it forgets none.
func adoptFile(file string, j *Journal) (err error) {
	db, err := openFile(file)
	if errors.Is(err, bolterrors.ErrTimeout) {
		return nil // its process lives
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	left, err := newJournal(db)
	if err != nil {
		return err
	}
	if err := j.take(left.Suspects()); err != nil {
		return err
	}
	return left.clear()
}
