// Package traffic plays the providers of a fault test: histories of objects,
// told in signed deliveries that repeat and overtake each other, by senders
// that send again whatever is not answered with a 2xx.
//
//	plan := traffic.Plan(traffic.Config{Events: 500, Seed: 7, Prefix: "a"})
//	flow := traffic.Send(ctx, plan.Deliveries, traffic.Senders{Target: urls, Parallel: 32})
//	<-flow.Done()
//	counts := flow.Counts()
//
// An event is a snapshot: all that it sets of its object. So the end of a
// history does not depend on the order of arrival, and the ledger can tell it
// without knowing that order.
package traffic
