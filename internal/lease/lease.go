// Package lease has a piece of work done by one process at a time.
//
//	made, err := lease.Hold(ctx, lease.Claim{Leases: leases, Owner: owner, Name: "retain", TTL: time.Minute}, work)
//
// The claim is extended for as long as the work takes, and given back after it.
// When it can't be extended, or another process has it, the context of the work
// ends: work done under a lease has to be such that it may be broken off.
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
	got, err := c.acquire(ctx)
	if err != nil || !got {
		return false, err
	}
	working, stop := context.WithCancel(ctx)
	kept := make(chan struct{})
	go func() {
		defer close(kept)
		c.keep(working, stop)
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

// keep extends the claim until ctx ends, and stops the work once it is lost, or
// could not be extended for as long as it lasts.
func (c Claim) keep(ctx context.Context, stop context.CancelFunc) {
	every := c.TTL / extensions
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for left := extensions - 1; ; {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		within, cancel := context.WithTimeout(ctx, every)
		got, err := c.acquire(within)
		cancel()
		switch {
		case err == nil && got:
			left = extensions - 1
		case err == nil, left == 0:
			stop()
			return
		default:
			left--
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
