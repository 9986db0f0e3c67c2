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

// How often processes tell each other of the org's daily calls, and for how long
// a word is good.
const (
	usageEvery = 15 * time.Second
	usageFor   = 10 * time.Minute
	usageNote  = "usage"
)

// sharedUsage is the org's daily count of API calls as any of the processes last
// heard it: one that calls seldom yields when the others have used it up.
type sharedUsage struct {
	own   func() salesforce.Usage
	board *store.Board
	log   *slog.Logger
	heard atomic.Pointer[salesforce.Usage]
}

// Usage is the latest count.
func (u *sharedUsage) Usage() salesforce.Usage {
	own := u.own()
	if heard := u.heard.Load(); heard != nil && heard.At.After(own.At) {
		return *heard
	}
	return own
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

// exchange takes over a later count or leaves its own.
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
	if theirs.At.After(own.At) {
		u.heard.Store(&theirs)
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
