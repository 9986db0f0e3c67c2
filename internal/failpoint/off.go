//go:build !failpoint

package failpoint

import "time"

// Hit marks a place between two steps.
func Hit(Point) {}

// Err marks a place that can fail.
func Err(Point) error { return nil }

// Now is the time.
func Now() time.Time { return time.Now() }
