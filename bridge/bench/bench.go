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

	// All measures besides: the spool on Redis and on a file, the drain after an
	// outage, a bare server that writes to Redis, and Bulk API 2.0.
	All    bool
	Curves bool   // how the rates grow with batch, lanes, latency and instances
	Outage int    // events that come while the org is away; 100,000
	Bare   Launch // how the bare server is run; in this process

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
	setDefault(&c.Outage, 100_000)
	if c.Launch == nil {
		c.Launch = Inside
	}
	if c.Bare == nil {
		c.Bare = BareInside
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
	if cfg.Curves {
		if r.Curves, err = curves(ctx, cfg); err != nil {
			return r, err
		}
	}
	r.StartSeconds = w.start.Seconds()
	r.Requirements = requirements(cfg, r)
	return r, nil
}

// step is one measurement of a run.
type step struct {
	name string
	run  func(context.Context, *Report) error
}

func (w *world) measure(ctx context.Context, r *Report) error {
	steps := []step{
		{"receive: staged in the org", w.measureReceive},
		{"backlog: memory while it is worked off", w.measureBacklog},
		{"business: the whole way to the record", w.measureBusiness},
		{"effects: the whole way, with one effect an event", w.measureEffects},
		{"baseline: three calls an event", w.measureBaseline},
	}
	if w.cfg.All {
		steps = append(steps,
			step{"spool: Redis, the org away and back", w.measureSpoolRedis},
			step{"spool: file, the org away and back", w.measureSpoolFile},
			step{"bulk: the same rows by Bulk API 2.0 and by collections", w.measureBulk},
		)
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
	if cfg.All {
		c.Notes = append(c.Notes,
			"spooled events come while the org answers nothing; the drain is measured from the moment it is back, with up to "+outageBackoff+" until it is noticed",
			"Redis runs with appendonly yes and appendfsync always on the same disk",
		)
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
