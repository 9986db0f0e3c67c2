// Package effect delivers the outbox: the side effects that transitions have
// caused, each under its own key.
//
//	worker, err := effect.New(effect.Config{Org: client, Targets: app, HTTP: guard, ...})
//	go worker.Run(ctx)  // until ctx ends
//	worker.Wake(n)      // n rows have just been put into the outbox
//
// The way of a round:
//
//	due      light rows of the queues we hold, by one query
//	read     up to 200 of them with their events and the events' other effects
//	deliver  each by itself: an HTTP request with Idempotency-Key and Standard
//	         Webhooks headers, a record by an external ID, or a platform event
//	record   one transaction: queue locks, results, and the events' rows, whose
//	         revisions move on
//
// An event is Completed with its last effect, and goes to Review with the first
// that failed for good; its other effects go on. A failed effect is tried again
// with growing pauses, alone: neither the event's records nor its other effects
// are touched. Results of two workers, or of a worker and a person, can't mix:
// the revision of the event's row lets exactly one of them through, the other
// reads again.
//
// What is sent is at least once, what is recorded as done is exactly once: a
// process that dies between the two sends again, and a receiver that remembers
// the key does nothing. The key is the row's own and the same for every try.
package effect
