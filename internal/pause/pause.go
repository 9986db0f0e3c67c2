// Package pause waits, and stops waiting when nobody wants it any more.
package pause

import (
	"context"
	"time"
)

// For waits for d and returns nil, or the context's error when it ends first.
func For(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
