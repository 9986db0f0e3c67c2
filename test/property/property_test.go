package property

import (
	"flag"
	"os"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sfbridge/salesforce/simorg/fault"
)

// TestMain says how many cases there are, fewer where the race detector makes
// them slow, and asks for no files of failed ones: the story and the seed are
// printed. Flags that are given decide, and -short takes a fifth.
func TestMain(m *testing.M) {
	flag.Parse()
	given := map[string]bool{}
	flag.Visit(func(f *flag.Flag) { given[f.Name] = true })
	for name, value := range map[string]string{"rapid.checks": cases, "rapid.nofailfile": "true"} {
		if given[name] {
			continue
		}
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// The oracle itself: a permitted history ends the same in whatever order and
// pieces it is worked off.
func TestOracleKeepsThePromise(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		d := drawDesign(rt, true)
		events := newTeller(rt, d).permitted()
		straight := newOracle(d)
		straight.work(events)
		pieces := newOracle(d)
		sc := scenario{Design: d, Events: events, Pieces: drawPieces(rt, len(events))}
		for _, p := range sc.Pieces {
			pieces.work(sc.of(p))
		}
		j := judge{sc: sc}
		j.records(straight.records(), sight{records: pieces.records()})
		if said := j.report(sight{}); said != "" {
			rt.Fatal(said)
		}
	})
}

func TestPermittedHistoriesEndTheSame(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		d := drawDesign(rt, true)
		sc := scenario{Design: d, Events: newTeller(rt, d).permitted()}
		sc.Pieces = drawPieces(rt, len(sc.Events))
		kinds := passing()
		if d.Customer != parentCustomer { // a payment waits a day for a customer that is in Review
			kinds = append(kinds, fault.Validation)
		}
		sc = drawWorld(rt, sc, kinds)
		o := play(t, sc)
		j := judge{sc: sc}
		if o.err != nil {
			j.say("%v", o.err)
		} else {
			j.permitted(o)
		}
		if said := j.report(o.last); said != "" {
			rt.Fatal(said)
		}
	})
}

// permitted judges the end of a history whose steps are permitted: what a fault
// sent to Review is missing at first, and made good by its replay.
func (j *judge) permitted(o observed) {
	j.settled(o.first)
	j.settled(o.last)
	if len(j.problems) > 0 {
		return
	}
	without, with := newOracle(j.sc.Design), newOracle(j.sc.Design)
	with.work(j.sc.Events)
	without.work(slices.DeleteFunc(slices.Clone(j.sc.Events), func(e snapshot) bool {
		r := o.first.events[e.eventID()][0]
		return r.status == "Review" && r.code == faultedCode && j.sc.struckOut()
	}))
	j.records(without.records(), o.first)
	j.records(with.records(), o.last)
	for _, e := range j.sc.Events {
		j.ended(e, o.last.events[e.eventID()][0])
	}
	j.effects(o.last)
	if !j.sc.struckOut() {
		j.outcomes(o.last)
		j.uncharged(o.last)
	}
}

// ended asks that a sound event is completed and that no other was written.
func (j *judge) ended(e snapshot, r staged) {
	review, written := r.status == "Review", r.outcome == "Created" || r.outcome == "Updated"
	if e.Flaw == sound && review || e.Flaw != sound && written || e.Flaw == unmappable && !review {
		j.say("%s is %s %s %s", e.ID, r.status, r.outcome, r.code)
	}
}

// of are the events of a piece.
func (sc scenario) of(p piece) []snapshot {
	var events []snapshot
	for _, n := range p.Events {
		events = append(events, sc.Events[n])
	}
	return events
}

func TestEveryDecisionIsTheOracles(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		d := drawDesign(rt, rapid.Bool().Draw(rt, "guarded"))
		d = d.withoutParent()
		sc := scenario{Design: d, Events: newTeller(rt, d).arbitrary(), Drained: true}
		sc.Pieces = drawPieces(rt, len(sc.Events))
		sc = drawWorld(rt, sc, passing())
		judgeDrained(t, rt, sc)
	})
}

// judgeDrained plays a case piece by piece, and the oracle with it.
func judgeDrained(t *testing.T, rt *rapid.T, sc scenario) (observed, *oracle) {
	o := play(t, sc)
	j := judge{sc: sc}
	truth := newOracle(sc.Design)
	for _, p := range sc.Pieces {
		truth.work(sc.of(p))
	}
	if o.err != nil {
		j.say("%v", o.err)
	} else {
		j.settled(o.first)
	}
	if len(j.problems) == 0 {
		j.records(truth.records(), o.first)
		j.decisions(truth, o.first)
		j.uncharged(o.first)
	}
	if said := j.report(o.first); said != "" {
		rt.Fatal(said)
	}
	return o, truth
}

// Whatever else comes, an event whose state can't be reached from any of its
// object's ends in Review, or is Stale, and leaves no trace in the records.
func TestEventOutsideAllowChangesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		d := drawDesign(rt, true)
		d.Deletes = false // after a delete any state may come first
		d = d.withoutParent()
		for len(d.Allow) == 0 {
			d.Allow = drawAllow(rt)
		}
		sc := scenario{Design: d, Events: newTeller(rt, d).permitted(), Drained: true}
		for n := range sc.Events {
			sc.Events[n].Flaw = sound
		}
		first := firstOf(sc.Events)
		outsider := drawOutsider(rt, d, sc.Events)
		sc.Events = append(sc.Events, outsider)
		sc.Pieces = append([]piece{{Events: first}}, drawPieces(rt, len(sc.Events))...)
		sc = drawWorld(rt, sc, passing())
		o, truth := judgeDrained(t, rt, sc)
		without := newOracle(d)
		without.work(sc.Events[:len(sc.Events)-1])
		j := judge{sc: sc}
		j.records(without.records(), o.first)
		if v := truth.verdict[outsider.ID]; v != stale && v != refused {
			j.say("the outsider is %s", v)
		}
		if said := j.report(o.first); said != "" {
			rt.Fatal(said)
		}
	})
}

// firstOf are the events that begin with a state for every object.
func firstOf(events []snapshot) []int {
	var first []int
	begun := map[int]bool{}
	for n, e := range events {
		if !begun[e.Entity] {
			begun[e.Entity] = true
			first = append(first, n)
		}
	}
	return first
}

// Where the org reads the prior value of a record before it waits for its lock,
// records that several objects share are kept right by more than the rule on
// them.
func TestSharedRecordsUnderConcurrency(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		d := design{Guarded: true, Customer: sharedCustomer, CustomerOrdered: true}
		sc := scenario{Design: d, Events: newTeller(rt, d).permitted()}
		sc.Pieces = drawPieces(rt, len(sc.Events))
		sc = drawWorld(rt, sc, passing())
		sc.Workers, sc.Latency, sc.Unsure = 2, 40*time.Millisecond, []string{"priorvalue-unlocked"}
		o := play(t, sc)
		j := judge{sc: sc}
		if o.err != nil {
			j.say("%v", o.err)
		} else {
			j.permitted(o)
		}
		if said := j.report(o.last); said != "" {
			rt.Fatal(said)
		}
	})
}
