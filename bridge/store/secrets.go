package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/bbolt"
)

// ErrKept says that a source has another secret already.
var ErrKept = errors.New("the source has a secret already: forget it first")

// secretsWait bounds how long one process waits for another to put the file
// down; nobody holds it longer than one look.
const secretsWait = 5 * time.Second

var secretsBucket = []byte("secrets")

// Secrets keeps the secrets that providers send instead of showing them, by
// source, in a file that only its owner may read. Every look opens the file and
// puts it down again, so that the processes and commands of one directory share
// it. It is safe for concurrent use.
type Secrets struct{ file string }

// OpenSecrets names the secrets of a store directory; the file is made with the
// first of them.
func OpenSecrets(dir string) *Secrets { return &Secrets{filepath.Join(dir, "secrets.db")} }

// Secret is one kept secret.
type Secret struct {
	Value string    `json:"value"`
	At    time.Time `json:"at"`
	Shown bool      `json:"shown"`
}

// Get finds the secret of a source.
func (s *Secrets) Get(source string) (secret Secret, found bool, err error) {
	if _, err := os.Stat(s.file); errors.Is(err, os.ErrNotExist) {
		return Secret{}, false, nil
	}
	err = s.update(func(b *bbolt.Bucket) error {
		secret, found, err = get(b, source)
		return err
	})
	return secret, found, err
}

// Keep keeps a source's first secret durably. The same one again is no error,
// another one is ErrKept.
func (s *Secrets) Keep(source, value string, at time.Time) error {
	return s.update(func(b *bbolt.Bucket) error {
		secret, found, err := get(b, source)
		switch {
		case err != nil:
			return err
		case found && secret.Value == value:
			return nil
		case found:
			return ErrKept
		}
		return put(b, source, Secret{Value: value, At: at})
	})
}

// Show gives a secret out, once: found is false for one that was shown before.
func (s *Secrets) Show(source string) (value string, found bool, err error) {
	if _, err := os.Stat(s.file); errors.Is(err, os.ErrNotExist) {
		return "", false, nil
	}
	err = s.update(func(b *bbolt.Bucket) error {
		secret, there, err := get(b, source)
		if err != nil || !there || secret.Shown {
			return err
		}
		value, found, secret.Shown = secret.Value, true, true
		return put(b, source, secret)
	})
	return value, found, err
}

// Forget drops the secret of a source, so that it can be set up again.
func (s *Secrets) Forget(source string) error {
	return s.update(func(b *bbolt.Bucket) error { return b.Delete([]byte(source)) })
}

func (s *Secrets) update(do func(*bbolt.Bucket) error) (err error) {
	if err := os.MkdirAll(filepath.Dir(s.file), 0o700); err != nil {
		return fmt.Errorf("making the store directory: %w", err)
	}
	db, err := bbolt.Open(s.file, 0o600, &bbolt.Options{Timeout: secretsWait})
	if err != nil {
		return fmt.Errorf("opening the kept secrets: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return db.Update(func(tx *bbolt.Tx) error {
		b, err := tx.CreateBucketIfNotExists(secretsBucket)
		if err != nil {
			return err
		}
		return do(b)
	})
}

func get(b *bbolt.Bucket, source string) (secret Secret, found bool, err error) {
	data := b.Get([]byte(source))
	if data == nil {
		return Secret{}, false, nil
	}
	if err := json.Unmarshal(data, &secret); err != nil {
		return Secret{}, false, errors.New("the kept secret can't be read: forget it and set the source up again")
	}
	return secret, true, nil
}

func put(b *bbolt.Bucket, source string, secret Secret) error {
	data, err := json.Marshal(secret)
	if err != nil {
		return err
	}
	return b.Put([]byte(source), data)
}
