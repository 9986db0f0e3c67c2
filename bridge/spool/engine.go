package spool

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrClosed says that the engine was closed.
var ErrClosed = errors.New("the spool is closed")

// Entry is what is kept of one event.
type Entry struct {
	Queue string // home queue of the event: letters and digits
	Data  []byte
}

// Waiting is an entry that has not been removed yet.
type Waiting struct {
	ID   string // its place in the queue, the engine's own
	Data []byte
}

// Refused is an entry that can't be staged, with the reason.
type Refused struct {
	Waiting
	Reason string
}

// Apart is an entry that was set apart.
type Apart struct {
	Refused
	Queue string
}

// State is what waits in an engine.
type State struct {
	Depth  map[string]int // entries by queue, those set apart left out; no empty queues
	Oldest time.Time      // when the oldest of them was taken in; zero: nothing waits
	Apart  int            // entries set apart
	Lost   int            // entries that were found without data since the start
}

// Total is how many entries wait.
func (s State) Total() int {
	n := 0
	for _, d := range s.Depth {
		n += d
	}
	return n
}

// takeBytes bounds what Take gives: a batch of large events is short, and what it
// can't hold would only be memory.
const takeBytes = 4 << 20

// Engine keeps entries. Its methods may be called at the same time, but only
// one process works on a queue (Take, Done, SetApart) at a time.
type Engine interface {
	// Append makes the entries durable in their order: they are when it returns
	// nil. After an error each of them may be there or not.
	Append(ctx context.Context, entries []Entry) error
	// Take gives the oldest entries of a queue, in order. They stay until they
	// are removed or set apart: the same ones come again. While entries are in the
	// hands of another process, nothing is given that came after them. What is given
	// ends with the entry with which it comes to 4 MB.
	Take(ctx context.Context, queue string, limit int) ([]Waiting, error)
	// Done removes entries. Those that are gone already are no error.
	Done(ctx context.Context, queue string, ids []string) error
	// SetApart moves entries out of the way, to be looked at by a person.
	SetApart(ctx context.Context, queue string, entries []Refused) error
	// EachApart shows at most limit entries that were set apart, oldest first in
	// each queue, until see fails. Few of them are in memory at once. see may not
	// call the engine.
	EachApart(ctx context.Context, limit int, see func(Apart) error) error
	// Again puts entries that were set apart back into their queue, at its end. Of
	// an entry it reads queue and id. It tells how many were still apart.
	Again(ctx context.Context, entries []Apart) (moved int, err error)
	// State tells what waits.
	State(ctx context.Context) (State, error)
	// Ready says whether the engine would take an entry now, by a write.
	Ready(ctx context.Context) error
	Close() error
}

func wrap(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, err)
}
