package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"
)

var notesBucket = []byte("notes")

// Notes keeps short texts by name over a crash, such as how far a comparison has
// come. Every look opens the file and puts it down again, so that the processes
// and commands of one directory share it. It is safe for concurrent use.
type Notes struct{ file string }

// OpenNotes names the notes of a store directory; the file is made with the
// first of them.
func OpenNotes(dir string) *Notes { return &Notes{filepath.Join(dir, "notes.db")} }

// Get finds a note; nil when there is none.
func (n *Notes) Get(name string) (text []byte, err error) {
	if _, err := os.Stat(n.file); errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	err = n.update(func(b *bbolt.Bucket) error {
		text = append([]byte(nil), b.Get([]byte(name))...)
		return nil
	})
	return text, err
}

// Put writes a note durably; an empty one is dropped.
func (n *Notes) Put(name string, text []byte) error {
	return n.update(func(b *bbolt.Bucket) error {
		if len(text) == 0 {
			return b.Delete([]byte(name))
		}
		return b.Put([]byte(name), text)
	})
}

func (n *Notes) update(do func(*bbolt.Bucket) error) (err error) {
	if err := os.MkdirAll(filepath.Dir(n.file), 0o700); err != nil {
		return fmt.Errorf("making the store directory: %w", err)
	}
	db, err := bbolt.Open(n.file, 0o600, &bbolt.Options{Timeout: secretsWait})
	if err != nil {
		return fmt.Errorf("opening the notes: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return db.Update(func(tx *bbolt.Tx) error {
		b, err := tx.CreateBucketIfNotExists(notesBucket)
		if err != nil {
			return err
		}
		return do(b)
	})
}
