package bench

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Point is one setting of a curve and what it gave, in events a second.
type Point struct {
	X        float64 `json:"x"`
	Staged   float64 `json:"staged"`   // receive, staged in the org
	Spooled  float64 `json:"spooled"`  // receive while the org is away, in Redis, else in the file
	Drain    float64 `json:"drain"`    // out of that spool, when it is back
	Business float64 `json:"business"` // the whole way to the record
}

// Curve is how the rates grow with one setting, all others at their defaults.
type Curve struct {
	Name   string  `json:"name"` // of its file
	Title  string  `json:"title"`
	Unit   string  `json:"unit"` // of the setting
	Points []Point `json:"points"`
}

// Curves is a run of all of them.
type Curves struct {
	Curves     []Curve    `json:"curves"`
	Spool      string     `json:"spool"` // where the spooled events were
	Conditions Conditions `json:"conditions"`
}

// knob is a setting that a curve turns.
type knob struct {
	name, title, unit string
	values            []int
	turn              func(p *place, value int)
}

// place is where the knobs stand.
type place struct {
	setup
	latency time.Duration
}

func knobs(cfg Config) []knob {
	ms := int(cfg.Latency.Milliseconds())
	return []knob{
		{"batch", "Rows a call", "rows", []int{25, 50, 100, 200}, func(p *place, v int) { p.batch = v }},
		{"lanes", "Calls at once", "calls", []int{1, 2, 4, 8}, func(p *place, v int) { p.lanes = v }},
		{"latency", "Latency of the org", "ms", around(ms), func(p *place, v int) { p.latency = time.Duration(v) * time.Millisecond }},
		// With less latency one instance fills a small machine, and more can't show.
		{"instances", fmt.Sprintf("Instances that share a Redis, org latency %d ms", 4*ms), "instances", []int{1, 2, 4},
			func(p *place, v int) { p.instances, p.latency = v, 4*cfg.Latency }},
	}
}

// around are latencies a fifth and four times the usual one.
func around(ms int) []int { return []int{max(1, ms/5), ms, 4 * ms} }

// How long a point is measured. There are about a dozen of them, each with four
// figures.
const (
	pointWarmUp = time.Second
	pointWindow = 2500 * time.Millisecond
	pointOutage = 12_000 // events

	// Where calls are slow a point takes longer, in latencies: a batch needs several
	// calls one after the other to come to its records.
	warmUpCalls, windowCalls = 5, 12
)

// curves measures all curves in a world of their own.
func curves(ctx context.Context, cfg Config) (c *Curves, err error) {
	cfg.WarmUp, cfg.Window = min(cfg.WarmUp, pointWarmUp), min(cfg.Window, pointWindow)
	cfg.Outage = min(cfg.Outage, pointOutage)
	w, err := newWorld(cfg)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	server, found, err := w.startRedis(ctx)
	if err != nil {
		return nil, err
	}
	c = &Curves{Spool: "file", Conditions: conditions(cfg)}
	usual := place{latency: cfg.Latency}
	if found {
		defer func() { err = errors.Join(err, server.Stop()) }()
		c.Spool, usual.redis = "Redis", server.URL()
	}
	known := map[spot]Point{}
	for _, k := range knobs(cfg) {
		curve, err := w.curve(ctx, k, usual, known)
		if err != nil {
			return nil, fmt.Errorf("measuring the curve of %s: %w", k.name, err)
		}
		c.Curves = append(c.Curves, curve)
	}
	return c, nil
}

// spot is a place as it is compared: curves meet where all knobs stand as usual.
type spot struct {
	batch, lanes, instances int
	latency                 time.Duration
}

// curve turns one knob. What was measured before is known.
func (w *world) curve(ctx context.Context, k knob, usual place, known map[spot]Point) (Curve, error) {
	c := Curve{Name: k.name, Title: k.title, Unit: k.unit}
	for _, v := range k.values {
		at := usual
		k.turn(&at, v)
		at.setup = at.setup.withDefaults()
		here := spot{at.batch, at.lanes, at.instances, at.latency}
		p, done := known[here]
		if !done {
			w.cfg.Progress(fmt.Sprintf("curve: %s, %d %s", k.title, v, k.unit))
			var err error
			if p, err = w.point(ctx, at); err != nil {
				return c, fmt.Errorf("%d %s: %w", v, k.unit, err)
			}
			known[here] = p
		}
		p.X = float64(v)
		c.Points = append(c.Points, p)
	}
	return c, nil
}

// point measures all figures at one place.
func (w *world) point(ctx context.Context, at place) (p Point, err error) {
	if err := w.openOrg(at.latency); err != nil {
		return p, err
	}
	was := w.cfg
	defer func() { w.cfg = was }()
	w.cfg.WarmUp = max(was.WarmUp, warmUpCalls*at.latency)
	w.cfg.Window = max(was.Window, windowCalls*at.latency)
	receiving := at.setup
	receiving.roles = []string{"receive"}
	staged, err := w.with(ctx, receiving, func(f fleet) (Row, error) { return w.receive(ctx, "staged", f) })
	if err != nil {
		return p, err
	}
	business, err := w.with(ctx, at.setup, func(f fleet) (Row, error) {
		got, lost, err := w.business(ctx, way{"business", f, w.written})
		if err == nil && lost > 0 {
			err = fmt.Errorf("%d accepted events are no records", lost)
		}
		return got, err
	})
	if err != nil {
		return p, err
	}
	o, err := w.outage(ctx, "spool", at.setup, w.cfg.Outage)
	if err != nil {
		return p, err
	}
	return Point{
		Staged: staged.EventsPerSecond, Business: business.EventsPerSecond,
		Spooled: o.Receive.EventsPerSecond, Drain: o.Drain.EventsPerSecond,
	}, nil
}

// with runs bridges for one measurement and empties the org after it.
func (w *world) with(ctx context.Context, s setup, measure func(fleet) (Row, error)) (Row, error) {
	f, err := w.launch(ctx, s)
	if err != nil {
		return Row{}, err
	}
	got, err := measure(f)
	err = errors.Join(err, f.stop())
	w.org.Reset()
	return got, err
}
