package bench

import "fmt"

// figures is the report in a few lines, for a page that says what the product
// is.
func (r Report) figures() string {
	rows := [][]string{{"measure", "figure"}}
	add := func(name, format string, args ...any) {
		rows = append(rows, []string{name, fmt.Sprintf(format, args...)})
	}
	add("receive, staged in the org", "%s events/s, p99 %s ms, %s API calls per event",
		Figure(r.Receive.EventsPerSecond), Figure(r.Receive.P99), Figure(r.Receive.CallsPerEvent))
	if s := r.Spooled; s != nil {
		for _, engine := range []struct {
			name   string
			outage *Outage
		}{{"Redis", s.Redis}, {"the local file", s.File}} {
			if o := engine.outage; o != nil {
				add("receive while the org is away, spooled in "+engine.name, "%s events/s, p99 %s ms; drained at %s events/s",
					Figure(o.Receive.EventsPerSecond), Figure(o.Receive.P99), Figure(o.Drain.EventsPerSecond))
			}
		}
	}
	add("the whole way to the record", "%s events/s, %s API calls per event", Figure(r.Business.EventsPerSecond), Figure(r.Business.CallsPerEvent))
	add("beside code that makes three calls an event", "%s times fewer calls, %s times the throughput", Figure(r.CallsRatio), Figure(r.ThroughputRatio))
	if most := max(r.Memory.Receive, r.Memory.Backlog, r.Memory.Business, r.Memory.Spooled); most > 0 {
		add("memory of the service", "at most %s MiB RSS, %s MiB with a backlog of %s events",
			Figure(most), Figure(r.Memory.Backlog), grouped(float64(r.Memory.Open)))
	}
	add("start to ready", "%.2f s", r.StartSeconds)
	return markdown(rows)
}
