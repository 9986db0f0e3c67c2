// Package property holds the bridge to its promise by chance: random mappings,
// random histories, random faults, and an oracle that says what must come out.
//
// The oracle (oracle_test.go) is written from the rules of applying, not from
// the code that applies. It works on one event at a time, in plain maps, knows
// no batch, no wave, no lock and no failure, and shares nothing with the
// product but the names of fields.
//
// A case is a scenario, a plain value that is drawn as a whole, prints as a
// readable story and can be run again:
//
//	design    the mapping: states, second objects, lines, deletes, coalesce
//	events    the histories of a few provider objects
//	pieces    which events are delivered when, with repeats
//	faults    what goes wrong in the org, and from which piece on
//	workers   one or two, without a shared store; lanes, batch, stops, crashes
//	schedule  in which order the requests of all of them reach the org
//
// It runs in a bubble of fake time (testing/synctest) against an org in the
// same process, so that outages of an hour, late calls and lock waits take no
// time, and every request passes a gate that lets them through in the order the
// schedule says.
//
// What is asked:
//
//   - histories of permitted snapshots end in the oracle's records, in whatever
//     order, pieces and repeats they come and whatever fails meanwhile, and every
//     event is settled exactly once;
//   - any history, permitted or not, that is worked off piece by piece takes
//     every single decision as the oracle does;
//   - an event outside allow ends in Review or Stale and changes nothing;
//   - failures that aren't the event's own cost it no attempt.
package property
