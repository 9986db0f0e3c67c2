// Package e2e proves the promise of the whole service from outside: several
// processes on one org, senders that deliver everything many times.
package e2e
