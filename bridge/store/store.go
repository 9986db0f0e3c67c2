package store

import (
	"errors"
	"fmt"
	"os"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

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
	slots := Slots{Dir: c.Dir, Kind: "journal", Open: openFile}
	db, err := slots.Take()
	if err != nil {
		return nil, err
	}
	j, err := newJournal(db)
	if err == nil {
		err = slots.Adopt(db.Path(), j.adopt)
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
	return bbolt.Open(file, 0o600, &bbolt.Options{Timeout: LockWait, FreelistType: bbolt.FreelistMapType})
}

func damaged(err error) bool {
	return errors.Is(err, bolterrors.ErrInvalid) || errors.Is(err, bolterrors.ErrChecksum) ||
		errors.Is(err, bolterrors.ErrVersionMismatch)
}

// adopt moves what a dead process left into the journal. It copies first and
// empties then: a crash between the two counts a crash twice at worst, it forgets
// none.
func (j *Journal) adopt(db *bbolt.DB) error {
	left, err := newJournal(db)
	if err != nil {
		return err
	}
	if err := j.take(left.Suspects()); err != nil {
		return err
	}
	return left.clear()
}
