package plan

import (
	"math"
	"slices"
)

// Edition is what an org's edition allows.
type Edition struct {
	Name            string
	Calls           int // API calls in 24 hours
	CallsPerLicense int // more for each user license
	StorageMB       float64
	StoragePerUser  float64 // MB more for each user license
}

// Editions are those that the plan knows, the smallest first.
func Editions() []Edition {
	return []Edition{
		{Name: "developer", Calls: 15_000, StorageMB: 5},
		{Name: "enterprise", Calls: 100_000, CallsPerLicense: 1000, StorageMB: 10 * 1024, StoragePerUser: 20},
		{Name: "unlimited", Calls: 100_000, CallsPerLicense: 5000, StorageMB: 10 * 1024, StoragePerUser: 20},
	}
}

// EditionNames lists them.
func EditionNames() []string {
	var names []string
	for _, e := range Editions() {
		names = append(names, e.Name)
	}
	return names
}

// What Salesforce says.
const rowKB = 2 // of storage for a row of a custom object, whatever its fields

// What was measured, or is held by the benchmark, on two CPUs.
const (
	fullBatch     = 0.025  // calls an event at full batches; one object, no effect
	perEffect     = 0.015  // more for each effect
	perObject     = 0.01   // more for each further object
	idleCalls     = 3000   // a day, without a single event
	aloneCalls    = 5.0    // of an event that comes alone
	pacedCalls    = 5760   // a day, of polling that shares queries: four a minute
	perProcess    = 1000.0 // events/s to the record that a process is planned with, half of what it does
	redisEntry    = 500    // bytes of an event in Redis beside its payload
	redisPerByte  = 1.2    // bytes in Redis for a byte of payload
	secondsPerDay = 86_400
)

// Cost is what an event costs when so many come in a second, evenly.
type Cost struct {
	PerSecond float64 `json:"per_second"`
	Calls     float64 `json:"calls"`
	Staging   float64 `json:"staging"` // of these, the calls that stage it
}

// Costs was measured with the service as it comes, org latency 100 ms, one
// object an event and no effects. Events that come one by one can't share calls;
// the more come at once, the more share one. Of several measurements at a rate
// the dearest is given.
func Costs() []Cost {
	return []Cost{
		{0.2, aloneCalls, 1}, {1, aloneCalls, 1}, {5, 4.9, 1}, {7, 1.14, 0.85}, {9, 0.83, 0.61}, {11.6, 0.7, 0.52},
		{20, 0.44, 0.34}, {30, 0.31, 0.25}, {60, 0.18, 0.15}, {100, 0.11, 0.086}, {300, 0.044, 0.028}, {1000, fullBatch, 0.007},
	}
}

// costAt is what an event costs at a rate: between two measured ones on the
// straight line of the logarithms, outside them as at the nearest.
func costAt(rate float64) Cost {
	costs := Costs()
	i, _ := slices.BinarySearchFunc(costs, rate, func(c Cost, r float64) int {
		if c.PerSecond < r {
			return -1
		}
		return 1
	})
	switch {
	case i == 0:
		return costs[0]
	case i == len(costs):
		return costs[i-1]
	}
	low, high := costs[i-1], costs[i]
	part := math.Log(rate/low.PerSecond) / math.Log(high.PerSecond/low.PerSecond)
	between := func(low, high float64) float64 { return low * math.Pow(high/low, part) }
	return Cost{rate, between(low.Calls, high.Calls), between(low.Staging, high.Staging)}
}

// Figure is one number that the plan rests on.
type Figure struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
	From  string  `json:"from"`
}

// Figures lists them all but the editions and the costs.
func Figures() []Figure {
	const published, measured, held = "published by Salesforce", "measured", "kept by the benchmark"
	return []Figure{
		{"storage of a row", rowKB, "KB", published},
		{"calls of an event at full batches", fullBatch, "calls", held},
		{"more for each effect", perEffect, "calls", held},
		{"more for each further object", perObject, "calls", held},
		{"calls of an event that comes alone", aloneCalls, "calls", measured},
		{"calls of polling when calls get few", pacedCalls, "a day, at most", "four a minute (poller.idle)"},
		{"calls of an idle deployment", idleCalls, "a day, at most", held},
		{"rate that a process is planned with", perProcess, "events/s", "half of what was measured"},
		{"an event in Redis beside its payload", redisEntry, "bytes", measured},
		{"a byte of payload in Redis", redisPerByte, "bytes", measured},
	}
}
