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
// With Config.All it adds:
//
//   - spool, on Redis (every write on the disk before it is answered) and on a
//     file: receive while the org answers nothing, and the drain from the moment
//     it is back.
//   - bare: Gin, HMAC and one Redis write, with the same senders and the same
//     Redis; package bare.
//   - bulk: the same staging rows by calls of 200 and by jobs of Bulk API 2.0.
//
// With Config.Curves it turns one setting after the other, batch, lanes, latency
// and instances, and measures how the rates grow. A Curve draws itself as SVG,
// and Page puts everything into a page of documentation.
//
// A run starts what it needs: the org, the bridges, the bare server, and
// redis-server where it is installed; where it isn't, the report says so.
//
// Every measurement is bounded in events and in time, and begins after a
// warm-up that isn't counted. Bridge, senders and simulated org share the
// machine, so the figures are a lower bound of what the bridge can do alone.
package bench
