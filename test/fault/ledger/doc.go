// Package ledger holds what an org came to against what the providers have
// sent. It shares nothing with the bridge's code but the names of fields:
//
//	book := ledger.Book{Events: plan.Events, Answers: counts.Answers}
//	verdict := ledger.Check(book, sight, ledger.Terms{})
//	verdict.Problems // nil when every promise was kept
//
// Asked is: one row for each event that was taken, at an end, by one decision,
// without an attempt charged; the records of the last word on each object, each
// once; exactly the effects of the transitions that the rows tell of, each sent
// under one key and recorded as done once; and costs within bounds.
package ledger
