package bench

import (
	"fmt"
	"strings"
)

// Requirement is a figure beside what is required of it.
type Requirement struct {
	Name   string  `json:"name"`
	Figure float64 `json:"figure"`
	Unit   string  `json:"unit"`
	AtMost bool    `json:"at_most"` // else at least
	Bound  float64 `json:"bound"`
	Met    bool    `json:"met"`
}

// Want says the requirement in words.
func (r Requirement) Want() string {
	word := "at least"
	if r.AtMost {
		word = "at most"
	}
	return fmt.Sprintf("%s %v", word, r.Bound)
}

// OK says whether every requirement is met.
func (r Report) OK() bool {
	for _, q := range r.Requirements {
		if !q.Met {
			return false
		}
	}
	return len(r.Requirements) > 0
}

// Missed names what is not met, with its figure.
func (r Report) Missed() string {
	var list []string
	for _, q := range r.Requirements {
		if !q.Met {
			list = append(list, fmt.Sprintf("%s: %.4g %s (%s)", q.Name, q.Figure, q.Unit, q.Want()))
		}
	}
	return strings.Join(list, "; ")
}

// requirements holds the figures against what is required of them. Memory is
// left out where it could not be measured for the bridge alone.
func requirements(cfg Config, r Report) []Requirement {
	var list []Requirement
	atLeast := func(name string, figure float64, unit string, bound float64) {
		list = append(list, Requirement{Name: name, Figure: figure, Unit: unit, Bound: bound, Met: figure >= bound})
	}
	atMost := func(name string, figure float64, unit string, bound float64) {
		list = append(list, Requirement{Name: name, Figure: figure, Unit: unit, AtMost: true, Bound: bound, Met: figure <= bound})
	}
	atLeast("receive staged: rate", r.Receive.EventsPerSecond, "events/s", 3000)
	atMost("receive staged: p99", r.Receive.P99, "ms", 4*milliseconds(cfg.Latency))
	atMost("receive staged: API calls", r.Receive.CallsPerEvent, "calls/event", 0.01)
	atLeast("to business record: rate", r.Business.EventsPerSecond, "events/s", 1500)
	atMost("to business record: API calls", r.Business.CallsPerEvent, "calls/event", 0.025)
	atMost("to business record: events lost", float64(r.Lost), "events", 0)
	if r.Effects != nil {
		atMost("with one effect an event: API calls", r.Effects.CallsPerEvent, "calls/event", 0.04)
		atMost("with one effect an event: effects lost", float64(r.Effects.Lost), "events", 0)
	}
	atLeast("against one call per step: fewer calls", r.CallsRatio, "times", 20)
	atLeast("against one call per step: throughput", r.ThroughputRatio, "times", 10)
	if r.Spooled != nil && r.Spooled.Redis != nil {
		atLeast("receive spooled, Redis AOF always: rate", r.Spooled.Redis.Receive.EventsPerSecond, "events/s", 8000)
	}
	if r.Memory.Receive > 0 {
		atMost("memory: receiving", r.Memory.Receive, "MiB RSS", 128)
		atMost("memory: with a backlog", r.Memory.Backlog, "MiB RSS", 128)
		atMost("memory: to business record", r.Memory.Business, "MiB RSS", 128)
	}
	if r.Memory.Spooled > 0 {
		atMost("memory: spooled and drained", r.Memory.Spooled, "MiB RSS", 128)
	}
	atMost("start to ready", r.StartSeconds, "s", 1)
	return list
}
