package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"
)

// Config says what to measure; zero values mean the defaults named.
type Config struct {
	Events  int           // most events of one measurement; 60,000
	Senders int           // deliveries under way at once; 512
	Latency time.Duration // of every call to the org; 100 ms
	Window  time.Duration // how long each measurement lasts; 8 s
	WarmUp  time.Duration // before each measurement; 2 s
	Workers int           // of the baseline; 16

	Launch   Launch       // how the bridge is run; in this process
	Progress func(string) // told what is measured next; nil: nobody
}

func (c Config) withDefaults() Config {
	setDefault(&c.Events, 60_000)
	setDefault(&c.Senders, 512)
	setDefault(&c.Latency, 100*time.Millisecond)
	setDefault(&c.Window, 8*time.Second)
	setDefault(&c.WarmUp, 2*time.Second)
	setDefault(&c.Workers, 16)
	if c.Launch == nil {
		c.Launch = Inside
	}
	if c.Progress == nil {
		c.Progress = func(string) {}
	}
	return c
}

func setDefault[T int | time.Duration](field *T, value T) {
	if *field <= 0 {
		*field = value
	}
}

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

// Latency is how long senders waited for their answers, in milliseconds.
type Latency struct {
	P50 float64 `json:"p50_ms"`
	P99 float64 `json:"p99_ms"`
	Max float64 `json:"max_ms"`
}

// Memory is the bridge's resident memory in MiB; all zero where the system
// doesn't tell.
type Memory struct {
	Receive  float64 `json:"receive_peak_mib"`
	Backlog  float64 `json:"backlog_peak_mib"`
	Business float64 `json:"business_peak_mib"`
	Open     int     `json:"backlog_events"`
}

// Report is everything that was measured.
type Report struct {
	Receive         Throughput    `json:"receive"`
	Latency         Latency       `json:"receive_latency"`
	Business        Throughput    `json:"business"`
	Lost            int           `json:"lost"` // accepted events without a business record at the end
	Baseline        Throughput    `json:"baseline"`
	CallsRatio      float64       `json:"calls_ratio"`      // baseline / bridge
	ThroughputRatio float64       `json:"throughput_ratio"` // bridge / baseline
	Memory          Memory        `json:"memory"`
	StartSeconds    float64       `json:"start_seconds"` // slowest start
	Conditions      Conditions    `json:"conditions"`
	Requirements    []Requirement `json:"requirements"`
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

// Run measures and reports. Its error is a failure to measure.
func Run(ctx context.Context, cfg Config) (Report, error) {
	cfg = cfg.withDefaults()
	w, err := newWorld(cfg)
	if err != nil {
		return Report{}, err
	}
	r := Report{Conditions: conditions(cfg)}
	err = w.measure(ctx, &r)
	if err = errors.Join(err, w.close()); err != nil {
		return r, err
	}
	if r.Business.APICalls > 0 {
		r.CallsRatio = r.Baseline.CallsPerEvent / r.Business.CallsPerEvent
	}
	if r.Baseline.Events > 0 {
		r.ThroughputRatio = r.Business.EventsPerSecond / r.Baseline.EventsPerSecond
	}
	r.Requirements = requirements(cfg, r)
	return r, nil
}

func (w *world) measure(ctx context.Context, r *Report) error {
	steps := []struct {
		name string
		run  func(context.Context, *Report) error
	}{
		{"receive: staged in the org", w.measureReceive},
		{"backlog: memory while it is worked off", w.measureBacklog},
		{"business: the whole way to the record", w.measureBusiness},
		{"baseline: three calls an event", w.measureBaseline},
	}
	for _, s := range steps {
		w.cfg.Progress(s.name)
		if err := s.run(ctx, r); err != nil {
			return fmt.Errorf("measuring %s: %w", s.name, err)
		}
	}
	return nil
}

func conditions(cfg Config) Conditions {
	c := Conditions{
		CPUs: runtime.GOMAXPROCS(0), Senders: cfg.Senders, LatencyMS: milliseconds(cfg.Latency),
		BodyBytes: len(delivery{n: 1}.body()), LoadBefore: load(),
		Notes: []string{
			"bridge, senders and simulated org share these CPUs",
			fmt.Sprintf("the first %s of each measurement are warm-up and not counted", cfg.WarmUp),
			"calls to the business record are counted from the first event to the last record",
			"every event is a charge of its own: one record each",
		},
	}
	return c
}

// load is the machine's load where the system tells it.
func load() string {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	var one, five, fifteen string
	if _, err := fmt.Sscan(string(data), &one, &five, &fifteen); err != nil {
		return ""
	}
	return one + " " + five + " " + fifteen
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
