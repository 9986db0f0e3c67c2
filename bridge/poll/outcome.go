package poll

import (
	"errors"
	"time"

	"sfbridge/bridge/apply"
	"sfbridge/bridge/event"
)

// outcome is what a lane tells of its batch.
type outcome struct {
	fates   []fate
	began   time.Time
	applied bool          // the org took work
	err     error         // a failed call; the events are as due as before
	limit   int           // largest transaction to try next; 0: no hint
	fits    int           // rows whose payloads could be read at once; 0: all
	moved   int           // most events of one entity that moved
	noRoom  bool          // events were left because the transaction was full
	stale   bool          // most rows had been moved on by another writer: what is known is old
	pauses  []apply.Pause // routes that rest
}

// rest lets what was left wait, so that a batch that got nowhere is not tried
// again at once.
func (o *outcome) rest(until time.Time) {
	for i, f := range o.fates {
		if !f.ended && f.until.Before(until) {
			o.fates[i].until = until
		}
	}
}

// add joins what two parts of a batch tell.
func (o *outcome) add(other outcome) {
	o.fates = append(o.fates, other.fates...)
	o.err = errors.Join(o.err, other.err)
	o.applied = o.applied || other.applied
	o.noRoom = o.noRoom || other.noRoom
	o.moved = max(o.moved, other.moved)
	o.pauses = append(o.pauses, other.pauses...)
	o.stale = o.stale || other.stale
	o.limit = least(o.limit, other.limit)
	o.fits = least(o.fits, other.fits)
}

// least gives the smaller of two hints; 0 is none.
func least(a, b int) int {
	if a == 0 || (b > 0 && b < a) {
		return b
	}
	return a
}

// failed leaves a batch as due as it was; a nil err means that its turn never
// came.
func failed(batch []*event.Event, err error) outcome {
	out := outcome{err: err}
	for _, e := range batch {
		out.fates = append(out.fates, fate{event: light(e)})
	}
	return out
}
