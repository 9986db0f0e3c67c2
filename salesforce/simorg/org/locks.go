package org

import (
	"context"
	"sync"
	"time"
)

// lockKey names what a transaction locks: a row, or one value of a unique
// field, so that two inserts of one value wait for each other.
type lockKey struct {
	object string
	field  string // empty: a row, by id
	value  string
}

// row returns the id of a locked row, nothing for the value of a field.
func (k lockKey) row() []string {
	if k.field != "" {
		return nil
	}
	return []string{k.value}
}

// locks hands out exclusive locks to transactions. A lock is held until its
// transaction ends. A wait that would close a cycle, or lasts longer than the
// limit, is refused.
type locks struct {
	mu   sync.Mutex
	held map[lockKey]*lock
	wait time.Duration
}

type lock struct {
	owner *Tx
	queue []*waiter
}

type waiter struct {
	tx      *Tx
	granted chan struct{}
}

func newLocks(wait time.Duration) *locks {
	return &locks{held: map[lockKey]*lock{}, wait: wait}
}

// acquire locks key for tx, waiting if it must; false means it stays locked by
// another.
func (l *locks) acquire(tx *Tx, key lockKey) bool {
	l.mu.Lock()
	cur := l.held[key]
	switch {
	case cur == nil:
		l.held[key] = &lock{owner: tx}
		tx.locked = append(tx.locked, key)
		l.mu.Unlock()
		return true
	case cur.owner == tx:
		l.mu.Unlock()
		return true
	case l.closesCycle(tx, cur):
		l.mu.Unlock()
		return false
	}
	w := &waiter{tx: tx, granted: make(chan struct{})}
	cur.queue = append(cur.queue, w)
	tx.waits = key
	l.mu.Unlock()
	return l.await(w, key)
}

// try locks key for tx if nobody else has it.
func (l *locks) try(tx *Tx, key lockKey) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if cur := l.held[key]; cur != nil {
		return cur.owner == tx
	}
	l.held[key] = &lock{owner: tx}
	tx.locked = append(tx.locked, key)
	return true
}

func (l *locks) await(w *waiter, key lockKey) bool {
	ctx, cancel := context.WithTimeout(context.Background(), l.wait)
	defer cancel()
	select {
	case <-w.granted:
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	w.tx.waits = lockKey{}
	select {
	case <-w.granted:
		w.tx.locked = append(w.tx.locked, key)
		return true
	default:
	}
	l.leave(w, key)
	return false
}

func (l *locks) leave(w *waiter, key lockKey) {
	cur := l.held[key]
	for i, other := range cur.queue {
		if other == w {
			cur.queue = append(cur.queue[:i], cur.queue[i+1:]...)
			return
		}
	}
}

// closesCycle follows the chain of owners from the lock; every transaction
// waits for at most one lock, so there is at most one chain.
func (l *locks) closesCycle(tx *Tx, cur *lock) bool {
	for {
		next := l.held[cur.owner.waits]
		if next == nil {
			return false
		}
		if next.owner == tx {
			return true
		}
		cur = next
	}
}

// release gives all locks of tx to the next in line.
func (l *locks) release(tx *Tx) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, key := range tx.locked {
		cur := l.held[key]
		if len(cur.queue) == 0 {
			delete(l.held, key)
			continue
		}
		next := cur.queue[0]
		cur.queue = cur.queue[1:]
		cur.owner = next.tx
		next.tx.waits = lockKey{}
		close(next.granted)
	}
	tx.locked = nil
}
