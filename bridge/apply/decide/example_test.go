package decide_test

import (
	"fmt"

	"sfbridge/bridge/apply/decide"
)

// A record that shows the event of order 7 is moved on by one of order 9, and
// not by one of order 5 that arrives later.
func ExampleRecord() {
	at := func(n int64) *int64 { return &n }
	shown := decide.Holder{Exists: true, Order: at(7), EventID: "stripe:evt_7", State: "Pending"}

	newer := decide.Record(shown, decide.Comer{EventID: "stripe:evt_9", Order: at(9), Guarded: true, State: "Succeeded"})
	fmt.Println(newer.Verdict == decide.Change, newer.Transition.From, "->", newer.Transition.To)

	older := decide.Record(shown, decide.Comer{EventID: "stripe:evt_5", Order: at(5), Guarded: true, State: "Failed"})
	fmt.Println(older.Verdict == decide.Outdated, older.Why)
	// Output:
	// true Pending -> Succeeded
	// true older than stripe:evt_7
}
