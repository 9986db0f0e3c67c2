package app

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync/atomic"
	"time"

	"sfbridge/bridge/store"
	"sfbridge/salesforce"
)

// How often processes tell each other of the org's daily calls, for how long a
// word is good, and how far the clocks may differ.
const (
	usageEvery = 15 * time.Second
	usageFor   = 10 * time.Minute
	usageAhead = time.Minute
	usageNote  = "usage"
)

// sharedUsage is the org's daily count of API calls as any of the processes last
// heard it: one that calls seldom yields when the others have used it up. The
// times of counts are those of other clocks. One from the future is not believed,
// since no later count could replace it, and none is for longer than usageFor.
type sharedUsage struct {
	own   func() salesforce.Usage
	now   func() time.Time
	board *store.Board
	log   *slog.Logger
	heard atomic.Pointer[heardUsage]
}

// heardUsage is another process's count.
type heardUsage struct {
	salesforce.Usage
	since time.Time // by the clock of this process
}

// Usage is the latest count.
func (u *sharedUsage) Usage() salesforce.Usage {
	own := u.own()
	heard := u.heard.Load()
	if heard != nil && heard.At.After(own.At) && u.now().Before(heard.since.Add(usageFor)) {
		return heard.Usage
	}
	return own
}

// hear takes over another process's count. One that has been heard already is
// not newer for being heard again.
func (u *sharedUsage) hear(theirs salesforce.Usage) {
	if heard := u.heard.Load(); heard != nil && heard.At.Equal(theirs.At) {
		return
	}
	u.heard.Store(&heardUsage{Usage: theirs, since: u.now()})
}

// Run exchanges counts until ctx ends.
func (u *sharedUsage) Run(ctx context.Context) error {
	tick := time.NewTicker(usageEvery)
	defer tick.Stop()
	for {
		if err := u.exchange(ctx); err != nil && ctx.Err() == nil {
			u.log.Debug("the daily count of calls can't be shared", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// exchange takes over a later count or leaves its own, which also replaces one
// that can't be believed.
func (u *sharedUsage) exchange(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, leaseWait)
	defer cancel()
	text, err := u.board.Read(ctx, usageNote)
	if err != nil {
		return err
	}
	var theirs salesforce.Usage
	if text != nil && json.Unmarshal(text, &theirs) != nil {
		theirs = salesforce.Usage{}
	}
	own := u.own()
	believed := !theirs.At.After(u.now().Add(usageAhead))
	if believed && theirs.At.After(own.At) {
		u.hear(theirs)
		return nil
	}
	if own.At.IsZero() {
		return nil
	}
	text, err = json.Marshal(own)
	if err != nil {
		return err
	}
	return u.board.Write(ctx, usageNote, text, usageFor)
}
