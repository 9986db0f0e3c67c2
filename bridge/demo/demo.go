package demo

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"sfbridge/bridge/app"
)

// Config says how to run the demo; zero values mean the defaults named.
type Config struct {
	Events   int           // of the burst; 2,000
	Latency  time.Duration // of every call to the simulated org; 100 ms
	Patience time.Duration // how long a check waits for what must come; 1 min
	Token    string        // of the console; empty: a new random one
	Seams    app.Seams     // parts to replace
	Log      *slog.Logger  // nil: discarded
	Started  func(Check)   // told when a check or scene begins; nil: nobody
	Done     func(Check)   // told when it ends; nil: nobody

	outside func(http.Handler) http.Handler // wraps the provider and the receiver of effects; nil: as they are
}

func (c Config) withDefaults() Config {
	if c.Events <= 0 {
		c.Events = 2000
	}
	if c.Latency <= 0 {
		c.Latency = 100 * time.Millisecond
	}
	if c.Patience <= 0 {
		c.Patience = time.Minute
	}
	if c.Token == "" {
		c.Token = rand.Text()
	}
	if c.outside == nil {
		c.outside = func(h http.Handler) http.Handler { return h }
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	for _, hook := range []*func(Check){&c.Started, &c.Done} {
		if *hook == nil {
			*hook = func(Check) {}
		}
	}
	return c
}

// Check is one promise, or one scene, and whether it held.
type Check struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
}

// Report is what the demo saw.
type Report struct {
	Checks        []Check        `json:"checks"`
	Scenes        []Check        `json:"scenes"`  // what comes after a record is written
	Records       map[string]int `json:"records"` // rows by object at the end
	APICalls      int            `json:"api_calls"`
	CallsPerEvent float64        `json:"calls_per_event"` // of the burst
	Seconds       float64        `json:"seconds"`
}

// OK says whether every check and every scene passed.
func (r Report) OK() bool {
	failed := func(c Check) bool { return !c.OK }
	return len(r.Checks) > 0 && len(r.Scenes) > 0 && !slices.ContainsFunc(r.Checks, failed) && !slices.ContainsFunc(r.Scenes, failed)
}

// Demo is a running org and bridge.
type Demo struct {
	cfg   Config
	world *world
}

// Start brings up the org and the bridge.
func Start(ctx context.Context, cfg Config) (*Demo, error) {
	cfg = cfg.withDefaults()
	w, err := newWorld(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return &Demo{cfg: cfg, world: w}, nil
}

// URL is where deliveries for the source "stripe" go, OrgURL the simulated
// org, Secret what deliveries are signed with.
func (d *Demo) URL() string    { return d.world.bridge.URL() + "/webhooks/stripe" }
func (d *Demo) OrgURL() string { return d.world.org.URL() }
func (d *Demo) Secret() string { return secret }

// ConsoleURL is the operators' page, which asks for Token.
func (d *Demo) ConsoleURL() string { return d.world.bridge.ConsoleURL() }
func (d *Demo) Token() string      { return d.cfg.Token }

// Run plays the checks and then the scenes, one after the other. Its error is a
// failure to run them; what they found is in the report.
func (d *Demo) Run(ctx context.Context) (r Report, err error) {
	begun := time.Now()
	if r.Checks, err = d.play(ctx, checks); err != nil {
		return r, err
	}
	if r.Scenes, err = d.play(ctx, scenes); err != nil {
		return r, err
	}
	stats := d.world.org.Stats()
	r.Records, r.APICalls, r.CallsPerEvent = stats.Rows, stats.APICalls.Total, d.world.callsPerEvent
	r.Seconds = time.Since(begun).Seconds()
	return r, nil
}

func (d *Demo) play(ctx context.Context, acts []act) ([]Check, error) {
	var list []Check
	for _, a := range acts {
		d.cfg.Started(Check{Name: a.name})
		found := Check{Name: a.name}
		detail, err := a.play(ctx, d.world)
		found.OK, found.Detail = err == nil, detail
		if err != nil {
			found.Detail = err.Error()
		}
		if ctx.Err() != nil {
			return list, ctx.Err()
		}
		list = append(list, found)
		d.cfg.Done(found)
	}
	return list, nil
}

// Close stops the bridge and the org.
func (d *Demo) Close() error { return d.world.close() }

// Run starts, plays and closes.
func Run(ctx context.Context, cfg Config) (Report, error) {
	d, err := Start(ctx, cfg)
	if err != nil {
		return Report{}, err
	}
	r, err := d.Run(ctx)
	return r, errors.Join(err, d.Close())
}
