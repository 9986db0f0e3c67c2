// Package decide holds the decision about an event: is it newer than what the
// record shows, may the record's state move there, and what is the outcome? It
// is pure: everything it needs comes as an argument, so it is tested as a
// table and against an independent oracle.
//
// Record judges one record of an event against its target; Event joins the
// verdicts of all its records into what happens to the event. The comparator
// is Compare: order, then delete, then repair or accepted conflict, then the
// rank of the state, then the event id by bytes. It is total, so every order of
// arrival ends the same.
package decide
