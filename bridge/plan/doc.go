// Package plan works out what a deployment needs, before it is built: API calls
// a day against the limits of an edition, storage against retention, memory of
// Redis for an hour without Salesforce, processes for a rate.
//
//	report, err := plan.Make(plan.Load{EventsPerDay: 100_000, RetentionDays: 90})
//
// The arithmetic rests on figures of two kinds, which Figures lists with where
// they come from: limits that Salesforce publishes, and what was measured with
// this product on the simulated org. It is a plan and no promise: an org shares
// its limits with everything else that calls it.
package plan
