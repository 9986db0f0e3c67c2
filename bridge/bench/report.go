package bench

import "time"

// Throughput is one measured stretch of time.
type Throughput struct {
	Events          int     `json:"events"`
	Seconds         float64 `json:"seconds"`
	EventsPerSecond float64 `json:"events_per_second"`
	APICalls        int     `json:"api_calls"`
	CallsPerEvent   float64 `json:"calls_per_event"`
	// Operations counts the calls by kind.
	Operations map[string]int `json:"operations"`
}

// throughput is what happened between two readings of the org's counters.
func throughput(events int, from, to reading) Throughput {
	took := to.at.Sub(from.at)
	t := Throughput{Events: events, Seconds: took.Seconds(), APICalls: to.calls - from.calls, Operations: map[string]int{}}
	for operation, n := range to.operations {
		if n -= from.operations[operation]; n > 0 {
			t.Operations[operation] = n
		}
	}
	if took > 0 {
		t.EventsPerSecond = float64(events) / took.Seconds()
	}
	if events > 0 {
		t.CallsPerEvent = float64(t.APICalls) / float64(events)
	}
	return t
}

// of takes the calls from the whole of a measurement: a call in its window may
// serve an event outside it.
func (t *Throughput) of(whole Throughput) {
	t.APICalls, t.CallsPerEvent, t.Operations = whole.APICalls, whole.CallsPerEvent, whole.Operations
}

// Latency is how long senders waited for their answers, in milliseconds.
type Latency struct {
	P50 float64 `json:"p50_ms"`
	P99 float64 `json:"p99_ms"`
	Max float64 `json:"max_ms"`
}

// Cost is what the measured processes used. Zero: the system doesn't tell, or
// they share their process with others.
type Cost struct {
	CPU     float64 `json:"cpu_us_per_event"`
	Allocs  float64 `json:"allocs_per_event"`
	PeakMiB float64 `json:"peak_mib"` // resident memory, of the largest process
}

// cost is what the processes used between two readings.
func cost(events int, from, to Usage) Cost {
	c := Cost{PeakMiB: float64(to.Peak) / (1 << 20)}
	if events > 0 {
		c.CPU = float64((to.CPU - from.CPU).Microseconds()) / float64(events)
		c.Allocs = float64(to.Allocs-from.Allocs) / float64(events)
	}
	return c
}

// Row is one line of the table.
type Row struct {
	Name string `json:"name"`
	Throughput
	Latency // all zero: nobody waits for an answer
	Cost
}

// Memory is the bridge's resident memory in MiB; all zero where the system
// doesn't tell.
type Memory struct {
	Receive  float64 `json:"receive_peak_mib"`
	Backlog  float64 `json:"backlog_peak_mib"`
	Business float64 `json:"business_peak_mib"`
	Spooled  float64 `json:"spooled_peak_mib,omitempty"` // receiving while the org is away, and draining after
	Open     int     `json:"backlog_events"`
}

// Report is everything that was measured.
type Report struct {
	Table           []Row         `json:"table"`
	Receive         Row           `json:"receive"`
	Business        Row           `json:"business"`
	Lost            int           `json:"lost"` // accepted events without a business record at the end
	Effects         *Effects      `json:"effects"`
	Baseline        Row           `json:"baseline"`
	CallsRatio      float64       `json:"calls_ratio"`      // baseline / bridge
	ThroughputRatio float64       `json:"throughput_ratio"` // bridge / baseline
	Spooled         *Spooled      `json:"spooled,omitempty"`
	Bulk            []Row         `json:"bulk,omitempty"`
	Curves          *Curves       `json:"curves,omitempty"`
	Memory          Memory        `json:"memory"`
	StartSeconds    float64       `json:"start_seconds"` // slowest start
	Conditions      Conditions    `json:"conditions"`
	Requirements    []Requirement `json:"requirements"`
}

// Spooled is the part of a run with the spool. Without a redis-server it is the
// file alone.
type Spooled struct {
	Redis      *Outage `json:"redis,omitempty"`
	File       *Outage `json:"file,omitempty"`
	Bare       *Row    `json:"bare,omitempty"`
	WithoutWhy string  `json:"without_redis,omitempty"` // why nothing was measured with Redis
}

// Conditions are what the figures depend on.
type Conditions struct {
	CPUs       int      `json:"cpus"`
	Senders    int      `json:"senders"`
	LatencyMS  float64  `json:"org_latency_ms"`
	BodyBytes  int      `json:"body_bytes"`
	LoadBefore string   `json:"load_before,omitempty"` // of the machine; 1, 5, 15 minutes
	Notes      []string `json:"notes"`
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
