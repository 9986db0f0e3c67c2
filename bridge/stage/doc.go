// Package stage makes verified events durable in Salesforce: step 3 of the
// way of an event.
//
// It is a group commit. While a call is in flight the next batch fills; a
// batch has at most 200 rows and 4 MB, a few calls run in parallel, and every
// waiter gets the result of its own row. A row that nobody waits for any more
// when its turn comes is not sent. Events with equal ids, queued or in flight,
// share one row: the first is answered Accepted, the others Duplicate, or
// Conflict when their content differs.
//
// The unique field Event_Id__c is what decides whether an event is new. When
// Salesforce refuses a row as a duplicate, one query for all the refused rows
// of a call finds the rows that stand in the way, and their hash is the judge;
// the text of the error is not. After a lost reply the same rows are sent
// again. A cache of confirmed keys answers known duplicates without a call; it
// never decides that an event is new. Where Shared is set, processes tell each
// other of confirmed keys: one look a batch, on which nothing hangs but calls.
//
// An event from before the time up to which retention has deleted rows goes to
// review: it can't be told from one whose row is gone.
//
// Duplicates are counted on the original row, gathered and written at most
// every 30 seconds.
package stage
