package apply

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"sfbridge/bridge/event"
	"sfbridge/mapping"
)

// A transaction begins with an update of lock rows, so that the org itself runs
// those apart that could decide on each other's targets, even where it reads a
// record's prior value before it waits for the record's lock. The lock row of a
// queue keeps events of one entity apart. A record that events of several
// entities may write has a lock row of its own: that of the queue its key falls
// into.

// lock notes the lock row of a record that is written, if it needs one beside
// that of the event's queue.
func (d *draft) lock(rec mapping.Record, k targetKey) {
	if rec.Order == nil || ownKey(rec.Key.Value, d.entry.it.ev.ObjectID) {
		return // no decision rests on what it showed, or only its entity writes it
	}
	d.entry.locks = append(d.entry.locks, event.LockQueue(k.object, k.key))
}

// ownKey says that a key is, begins or ends with the provider's object, so that
// events of other entities don't write its record.
func ownKey(key, object string) bool {
	if object == "" {
		return false
	}
	before, behind := strings.CutPrefix(key, object)
	if behind && bounded(utf8.DecodeRuneInString(before)) {
		return true
	}
	after, ahead := strings.CutSuffix(key, object)
	return ahead && bounded(utf8.DecodeLastRuneInString(after))
}

// bounded says that a word ends at a character, or that the text ends there.
func bounded(r rune, size int) bool {
	return size == 0 || !unicode.IsLetter(r) && !unicode.IsDigit(r)
}

// queues are the names of the lock rows of a transaction, in order.
func queues(entries []*entry, bumps map[string]*follower) []string {
	names := map[string]bool{}
	for _, e := range entries {
		names[e.it.queue()] = true
		for _, q := range e.locks {
			names[q] = true
		}
	}
	for _, f := range bumps {
		names[f.home] = true
	}
	delete(names, "")
	return slices.Sorted(maps.Keys(names))
}
