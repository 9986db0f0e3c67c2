//go:build !linux

package spool

import "go.etcd.io/bbolt"

// unmap is done on Linux alone.
func unmap(*bbolt.Tx) {}
