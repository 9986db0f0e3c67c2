package spool

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"go.etcd.io/bbolt"
)

// apartValue is what the file keeps of an entry that was set apart.
type apartValue struct {
	Reason string `json:"reason"`
	Data   []byte `json:"data"`
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

// EachApart implements Engine.
func (f *File) EachApart(_ context.Context, limit int, see func(Apart) error) error {
	err := f.db.View(func(tx *bbolt.Tx) error {
		c := tx.Bucket(apartBucket).Cursor()
		for k, v := c.First(); k != nil && limit > 0; k, v = c.Next() {
			queue, stamp, ok := bytes.Cut(k, []byte{0})
			var value apartValue
			if err := json.Unmarshal(v, &value); err != nil || !ok {
				return fmt.Errorf("an entry that was set apart can't be read: %w", err)
			}
			err := see(Apart{Queue: string(queue), Refused: Refused{
				Reason: value.Reason, Waiting: Waiting{ID: hex.EncodeToString(stamp), Data: value.Data},
			}})
			if err != nil {
				return err
			}
			limit--
		}
		return nil
	})
	return wrap("reading the spool file", err)
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
