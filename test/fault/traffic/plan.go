package traffic

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// Config says what is to happen at the providers.
type Config struct {
	Events int
	Seed   uint64
	Prefix string // of every id and key, so that several plans fit into one org
}

// The mix: what real senders do, and a little more.
const (
	perObject  = 4    // events of one object, on average
	repeats    = 0.25 // share of deliveries that come again although they were taken
	sameTime   = 0.15 // share of events at the very time of the one before
	overtaking = 60   // how far deliveries get out of order, in places
)

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// Planned is a history and the deliveries that tell it.
type Planned struct {
	Events     []Event
	Deliveries []Delivery
}

// Plan draws histories of objects of all providers.
func Plan(c Config) Planned {
	random := rand.New(rand.NewPCG(c.Seed, uint64(c.Events)))
	var p Planned
	providers := Providers()
	for object := 0; len(p.Events) < c.Events; object++ {
		source := providers[object%len(providers)]
		n := min(1+random.IntN(2*perObject-1), c.Events-len(p.Events))
		p.Events = append(p.Events, history(c, source, object, n, random)...)
	}
	p.Deliveries = scatter(p.Events, random)
	return p
}

// Pays tells whether a payment ends as succeeded: then it has become so, in
// whatever order its events arrive.
func (p Planned) Pays() bool {
	last := map[string]Event{}
	for _, e := range p.Events {
		if before, known := last[e.Key]; !known || e.Later(before) {
			last[e.Key] = e
		}
	}
	for _, e := range last {
		if e.State == Succeeded {
			return true
		}
	}
	return false
}

// history is what happens to one object: time goes on or stands still, and a
// payment's state never goes back.
func history(c Config, source Provider, object, n int, random *rand.Rand) []Event {
	var events []Event
	at := epoch.Add(time.Duration(random.IntN(100_000)) * time.Second)
	states := []string{Pending, Succeeded, Refunded}
	state := 0
	for i := range n {
		if i > 0 && random.Float64() > sameTime {
			at = at.Add(time.Duration(1+random.IntN(600)) * time.Second)
		}
		own := fmt.Sprintf("%s%05dx%d", c.Prefix, object, i)
		e := Event{
			ID: source.id(own), own: own, source: source, Object: source.Object,
			Key: fmt.Sprintf("%s_%s%05d", source.Source, c.Prefix, object), At: at, Value: 100 + random.IntN(1_000_000),
		}
		if source.Source == "stripe" {
			state = min(state+random.IntN(2), len(states)-1)
			e.State = states[state]
		}
		events = append(events, e)
	}
	return events
}

// scatter puts the deliveries of all events, some of them several times, into
// an order in which they overtake each other.
func scatter(events []Event, random *rand.Rand) []Delivery {
	type placed struct {
		Delivery
		place float64
	}
	mixed := slices.Clone(events)
	random.Shuffle(len(mixed)/3, func(i, k int) { mixed[3*i], mixed[3*k] = mixed[3*k], mixed[3*i] })
	var all []placed
	for i, e := range mixed {
		place := float64(i) + overtaking*random.Float64()
		all = append(all, placed{Delivery{e}, place})
		for random.Float64() < repeats {
			all = append(all, placed{Delivery{e}, place + overtaking*random.Float64()})
		}
	}
	slices.SortStableFunc(all, func(a, b placed) int { return cmp.Compare(a.place, b.place) })
	deliveries := make([]Delivery, len(all))
	for i, p := range all {
		deliveries[i] = p.Delivery
	}
	return deliveries
}
