// Package lease has a piece of work done by one process at a time.
//
//	made, err := lease.Hold(ctx, lease.Claim{Leases: leases, Owner: owner, Name: "retain", TTL: time.Minute}, work)
//
// The claim is extended for as long as the work takes, and given back after it.
// The context of the work ends when another process has the claim, and at the
// latest with the claim itself when it can't be extended: work done under a lease
// has to be such that it may be broken off.
package lease

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Leases are exclusive, expiring claims on names.
type Leases interface {
	Acquire(ctx context.Context, owner string, names []string, ttl time.Duration) (held []string, err error)
	Release(ctx context.Context, owner string, names []string) error
}

// Claim says who wants which name.
type Claim struct {
	Leases Leases
	Owner  string        // this process
	Name   string        // of the work
	TTL    time.Duration // after which the claim of a dead process ends
}

// extensions is how many times in its life a claim is extended.
const extensions = 3

// Hold does the work unless another process holds the claim: then made is
// false. An error says that the claim could not be asked for, or not be given
// back, which then ends by itself.
func Hold(ctx context.Context, c Claim, work func(ctx context.Context)) (made bool, err error) {
	ends := time.Now().Add(c.TTL)
	got, err := c.acquire(ctx)
	if err != nil || !got {
		return false, err
	}
	working, stop := context.WithCancel(ctx)
	end := time.AfterFunc(time.Until(ends), stop)
	defer end.Stop()
	kept := make(chan struct{})
	go func() {
		defer close(kept)
		c.keep(working, stop, end)
	}()
	work(working)
	stop()
	<-kept
	return true, c.release(ctx)
}

// acquire claims the name, or extends the claim.
func (c Claim) acquire(ctx context.Context) (bool, error) {
	held, err := c.Leases.Acquire(ctx, c.Owner, []string{c.Name}, c.TTL)
	if err != nil {
		return false, fmt.Errorf("claiming the lease %s: %w", c.Name, err)
	}
	return slices.Contains(held, c.Name), nil
}

// keep extends the claim until ctx ends, and moves the end of the work on with it.
// It stops the work at once when another process has the claim. A call counts
// from its beginning: how long it took on its way to the store is not known.
func (c Claim) keep(ctx context.Context, stop context.CancelFunc, end *time.Timer) {
	every := c.TTL / extensions
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		ends := time.Now().Add(c.TTL)
		within, cancel := context.WithTimeout(ctx, every)
		got, err := c.acquire(within)
		cancel()
		switch {
		case err != nil: // the work ends with the claim, unless it is extended before
		case got:
			end.Reset(time.Until(ends))
		default:
			stop()
			return
		}
	}
}

func (c Claim) release(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.TTL/extensions)
	defer cancel()
	if err := c.Leases.Release(ctx, c.Owner, []string{c.Name}); err != nil {
		return fmt.Errorf("giving the lease %s back: it ends by itself: %w", c.Name, err)
	}
	return nil
}
