// Package operate tries what people and retention do with events, on the real
// program: discard, accept, replay under a changed mapping, archive and restore.
package operate
