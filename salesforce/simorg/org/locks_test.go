package org

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

func key(id string) lockKey { return lockKey{object: "A__c", value: id} }

func TestLocksAreHandedOnInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLocks(10 * time.Second)
		first, second, third := &Tx{}, &Tx{}, &Tx{}
		assert.True(t, l.acquire(first, key("1")))
		assert.True(t, l.acquire(first, key("1")), "again by its owner")
		assert.False(t, l.try(second, key("1")))
		order := make(chan string, 2)
		go func() { order <- outcome("second", l.acquire(second, key("1"))); l.release(second) }()
		synctest.Wait()
		go func() { order <- outcome("third", l.acquire(third, key("1"))); l.release(third) }()
		synctest.Wait()
		l.release(first)
		assert.Equal(t, "second got it", <-order)
		assert.Equal(t, "third got it", <-order)
		synctest.Wait()
		assert.Empty(t, l.held)
	})
}

func outcome(name string, got bool) string {
	if got {
		return name + " got it"
	}
	return name + " was refused"
}

func TestLockWaitIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLocks(10 * time.Second)
		holder, waiter := &Tx{}, &Tx{}
		assert.True(t, l.acquire(holder, key("1")))
		start := time.Now()
		assert.False(t, l.acquire(waiter, key("1")))
		assert.Equal(t, 10*time.Second, time.Since(start))
		l.release(holder)
		assert.True(t, l.acquire(waiter, key("1")))
	})
}

// Three transactions in a ring: the one that would close it is refused at
// once; when it ends, the others go on.
func TestCircleIsRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLocks(time.Hour)
		a, b, c := &Tx{}, &Tx{}, &Tx{}
		assert.True(t, l.acquire(a, key("1")) && l.acquire(b, key("2")) && l.acquire(c, key("3")))
		got := make(chan string, 2)
		go func() { got <- outcome("a", l.acquire(a, key("2"))); l.release(a) }()
		go func() { got <- outcome("b", l.acquire(b, key("3"))); l.release(b) }()
		synctest.Wait()
		start := time.Now()
		assert.False(t, l.acquire(c, key("1")))
		assert.Zero(t, time.Since(start))
		l.release(c)
		assert.Equal(t, "b got it", <-got)
		assert.Equal(t, "a got it", <-got)
	})
}
