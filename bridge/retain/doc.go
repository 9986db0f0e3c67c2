// Package retain ends the life of finished events, in two steps: after
// PayloadAfter the payload, its context and the history are cleared, after
// RowAfter the row is deleted with its effects.
//
//	keeper, err := retain.New(retain.Config{Org: client, PayloadAfter: 30 * day, RowAfter: 90 * day, ArchiveDir: dir})
//	go keeper.Run(ctx)              // until ctx ends
//	report, err := keeper.Sweep(ctx) // one sweep
//	report, err := retain.Restore(ctx, retain.Restoring{...})
//
// Left alone are rows that aren't Completed, rows with effects that are not
// done, rows that a conflict waiting for a person is compared with, and those
// that tell of a deletion while an older event of their entity may still come.
//
// What is cleared or deleted is archived before, when there is a directory for
// it: files of JSON lines, gzipped, each with a file beside it that holds its
// checksum in the form of sha256sum. Restore puts such rows back.
//
// A row that is gone can't tell a late delivery from a new event any more. So
// before rows are deleted the horizon of their queues is moved on, to the
// latest receive time among them, and the deletion waits until every receiver
// that had read the old horizon has read the new one.
//
// Every row is changed and deleted from the revision that was read, in one
// transaction with what belongs to it: a replay in the meantime wins.
package retain
