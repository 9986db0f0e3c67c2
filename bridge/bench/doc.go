// Package bench measures the bridge against the simulated org, beside code that
// makes its calls event by event:
//
//	report, err := bench.Run(ctx, bench.Config{Launch: bench.Command(executable)})
//
// One run makes six measurements:
//
//   - receive: many senders at once, the bridge only stages; events a second,
//     latency of the answers, API calls an event.
//   - backlog: the bridge starts on what was staged before; its memory.
//   - business: the whole way to the business record. Senders hold back while
//     too many events are open, so what comes in is what goes out.
//   - effects: the same with one effect an event, sent to a receiver on this
//     machine, up to the record that it is done.
//   - baseline: one insert, one upsert and one update an event from a few
//     workers, by the same client on the same org.
//   - start: from the start of the process to ready.
//
// Every measurement is bounded in events and in time, and begins after a
// warm-up that isn't counted. Bridge, senders and simulated org share the
// machine, so the figures are a lower bound of what the bridge can do alone.
package bench
