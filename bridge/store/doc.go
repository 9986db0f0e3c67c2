// Package store keeps what a process must remember beyond its memory.
//
// The Journal says which rows the process is working on. Begin is durable
// before it returns, so whatever a kill -9 interrupts is found by the next
// start: such rows are suspects. A suspect is to be run alone until it has
// passed once, and its crashes are counted, so that a row which kills the
// process is told from the rows that were merely near it.
//
//	dir, err := store.Open(store.Config{Dir: "./data"})
//	defer dir.Close()
//	j := dir.Journal()
//	err = j.Begin(ids)      // before the work
//	...
//	err = j.Done(ids)       // after it, however it ended
//
// Several processes may share a directory: each takes the first free journal
// file (journal-01.db, ...) and holds a lock on it while it lives. What a dead
// process left in a file that nobody holds is taken over by the next start.
//
// Leases keep two workers off one queue. They save work; safety rests on the
// locks in the org. MemoryLeases is the engine for one process; any other has
// to pass the suite in package storetest.
package store
