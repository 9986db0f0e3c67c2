package property

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"sfbridge/salesforce/simorg/fault"
)

// Entries of a schedule that don't choose a request; see gate.step.
const (
	all      = -1
	wait     = -2
	waitTime = 300 * time.Millisecond
)

// A scenario is one whole case.
type scenario struct {
	Design   design
	Events   []snapshot
	Pieces   []piece
	Drained  bool // a piece is worked off before the next one is delivered
	Steady   bool // workers run on, else they look and rest by turns
	Unsure   []string
	Workers  int
	Lanes    int
	Batch    int
	PageSize int
	Latency  time.Duration
	Schedule []int
	Upsets   []upset
	Seed     uint64
}

// A piece is what is delivered at one time.
type piece struct {
	Faults []fault.Fault // planted before it
	Events []int         // by place in scenario.Events
	Then   time.Duration // until the next one
}

// An upset is a process that is stopped, or killed, at some request.
type upset struct {
	After  int // so many requests have passed the gate
	Worker int
	Kill   bool
}

// String tells the story of the case.
func (sc scenario) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nworkers %d lanes %d batch %d page %d latency %v drained %t steady %t unsure %v seed %d\n",
		sc.Design.yaml(), sc.Workers, sc.Lanes, sc.Batch, sc.PageSize, sc.Latency, sc.Drained, sc.Steady, sc.Unsure, sc.Seed)
	for i, s := range sc.Events {
		fmt.Fprintf(&b, "event %d: %s\n", i, s)
	}
	for i, p := range sc.Pieces {
		fmt.Fprintf(&b, "piece %d: events %v, then %v\n", i, p.Events, p.Then)
		for _, f := range p.Faults {
			fmt.Fprintf(&b, "  fault %+v\n", f)
		}
	}
	for _, u := range sc.Upsets {
		fmt.Fprintf(&b, "after %d requests: worker %d %s\n", u.After, u.Worker, map[bool]string{true: "is killed", false: "is stopped"}[u.Kill])
	}
	fmt.Fprintf(&b, "schedule %v\n", sc.Schedule)
	return b.String()
}

func (s snapshot) String() string {
	order := "none"
	if s.Order != nil {
		order = fmt.Sprint(*s.Order)
	}
	what := "set " + s.State
	switch {
	case s.Gone:
		what = "gone"
	case s.Parent:
		what = "customer"
	}
	if s.Flaw != sound {
		what += " (" + string(s.Flaw) + ")"
	}
	return fmt.Sprintf("%s of entity %d, order %s: %s, value %d", s.ID, s.Entity, order, what, s.Value)
}

// struckOut says whether an injected fault may send an event to Review.
func (sc scenario) struckOut() bool {
	return slices.ContainsFunc(sc.Pieces, func(p piece) bool {
		return slices.ContainsFunc(p.Faults, func(f fault.Fault) bool { return f.Kind == fault.Validation })
	})
}

// races is how often a row may lose a race for its key.
func (sc scenario) races() int {
	n := 0
	for _, p := range sc.Pieces {
		for _, f := range p.Faults {
			if f.Kind == fault.DuplicateRace {
				n += f.Times
			}
		}
	}
	return n
}
