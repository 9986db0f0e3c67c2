// Package apply turns staged events into business records: it maps their
// payloads, decides each event against the records it means to change, and
// commits records and outcomes of a whole batch as one transaction.
//
// The way of a batch (Applier.Apply):
//
//	prepare   payload -> route -> records; what needs no target is decided here
//	read      the targets of all records, one query per object
//	plan      events in the order of their entity, one after another: decide
//	          against the targets as earlier events of the batch leave them,
//	          and lay the rows into waves (never one key twice in a
//	          collection, parents first)
//	commit    one /composite, all or none: queue locks, records, outcomes with
//	          new revisions
//	settle    success: done. Failure: the events whose rows failed are taken
//	          out with an outcome of their own and the rest is planned again
//	          from the same reads; an outcome that lets later events of the
//	          entity pass is written before they are committed
//
// The decision itself is pure and stands in package decide.
//
// Safety rests on three locks that Salesforce checks, not on this process: the
// revision of the staging row (refused with REVISION), the event id on the
// target (refused with MOVED), and the queue rows that every commit updates
// first. A refusal means: read again, decide again. After a lost reply the same
// transaction is sent with new revisions; when the rows then show a revision
// that this run has sent, the first call was carried out and nothing is left
// to do.
//
// Where the answer doesn't name the culprit, or rows still fail in the third
// round, the rest goes as /composite/graph, one graph per entity. An event
// whose own rows need more collections than a transaction has goes that way
// from the start. A body that Salesforce can't parse is bisected. A field or
// object that the org lacks pauses the routes that name it; their events stay
// due.
//
// Attempts are charged only for failures of the event itself: not for outages,
// limits, expired sessions, row locks within their grace, or parents that may
// still come.
package apply
