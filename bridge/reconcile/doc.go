// Package reconcile compares Salesforce with what the providers list, and looks
// for rows that nobody would move on: step 9 of the way of an event.
//
//	r, err := reconcile.New(reconcile.Config{Org: client, HTTP: guard, Comparisons: list, Stage: stage, …})
//	err = r.Run(ctx)                       // by schedule
//	report, err := r.Once(ctx)             // everything now
//
// A sweep goes through a provider's list page by page. Each object becomes an
// event of a shape that the mapping knows; its records are what Salesforce ought
// to hold. What it holds instead is drift:
//
//	missing     there is no record
//	different   fields of the record have other values, named one by one
//	extra       a record of this source that a complete list does not name
//	unmapped    the object can't be mapped, so nothing can be compared
//
// What is younger than ten minutes is no drift, nor what an open event or a
// newer one is about to settle: it is on its way. With repair the event itself
// is staged like any other, under a key that tells it from deliveries; it is
// decided as they are and wins against one of equal order.
//
// How far a sweep has come is kept after every page, so that one that was
// broken off (a restart, a provider that is down, a used up budget) goes on
// where it stopped, under the same keys. Requests to providers have a rate of
// their own, and all of it together a share of the org's daily calls.
//
// Heal sets right what a crash at the wrong moment, another tool or an old
// version may leave behind: rows without their queue, rows that keep one, events
// whose effects have ended, journal entries of rows that are done.
package reconcile
