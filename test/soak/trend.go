package soak

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// Sample is the state of the service at one time, and its traffic since the
// sample before.
type Sample struct {
	At         time.Duration // since the start
	RSS        float64       // MiB
	Heap       float64       // MiB, in use
	Goroutines float64
	Files      float64
	P50, P99   float64 // of answers, in ms
	Accepted   int
	Refused    int // answered, but with no 2xx
	Unanswered int
	Calls      int // of the org
	Faults     int // planted
}

// Series is one figure that has to stay flat. It may grow over the whole run by
// a share of its median, or by so many units where that is more.
type Series struct {
	Name, Unit string
	Value      func(Sample) float64
	Share      float64
	Units      float64
}

// Flat are the figures that a soak judges.
func Flat() []Series {
	return []Series{
		{"memory (RSS)", "MiB", func(s Sample) float64 { return s.RSS }, 0.10, 10},
		{"goroutines", "", func(s Sample) float64 { return s.Goroutines }, 0.10, 40},
		{"open files", "", func(s Sample) float64 { return s.Files }, 0.10, 20},
		{"latency, median", "ms", func(s Sample) float64 { return s.P50 }, 0.25, 25},
	}
}

// Trend is what became of one series.
type Trend struct {
	Series
	Median  float64
	PerHour float64 // slope
	Growth  float64 // over the time judged
	Allowed float64
}

// Flat says whether it has grown no more than allowed.
func (t Trend) Flat() bool { return t.Growth <= t.Allowed }

// What is not judged: the first fifth of a run, and the events until the service's
// memory of confirmed keys is full, which has a fixed size. minSamples is the
// least that can be judged.
const (
	warmEvents = 100_000
	minSamples = 10
)

// Judge looks at the samples after the warm-up.
func Judge(samples []Sample, series []Series) ([]Trend, error) {
	samples = samples[max(len(samples)/5, warm(samples)):]
	if len(samples) < minSamples {
		return nil, fmt.Errorf("%d samples after the first fifth of the run and %d events, want at least %d: run longer", len(samples), warmEvents, minSamples)
	}
	span := samples[len(samples)-1].At - samples[0].At
	var trends []Trend
	for _, s := range series {
		var values []float64
		for _, sample := range samples {
			values = append(values, s.Value(sample))
		}
		slope := slope(samples, values)
		t := Trend{Series: s, Median: median(values), PerHour: slope, Growth: slope * span.Hours()}
		t.Allowed = max(s.Units, s.Share*t.Median)
		trends = append(trends, t)
	}
	return trends, nil
}

// warm is how many samples it takes until so many events have come.
func warm(samples []Sample) int {
	events := 0
	for i, s := range samples {
		if events += s.Accepted; events >= warmEvents {
			return i + 1
		}
	}
	return len(samples)
}

// slope is the median of the slopes between all pairs of samples, an hour.
func slope(samples []Sample, values []float64) float64 {
	var slopes []float64
	for i := range samples {
		for k := range i {
			if hours := (samples[i].At - samples[k].At).Hours(); hours > 0 {
				slopes = append(slopes, (values[i]-values[k])/hours)
			}
		}
	}
	return median(slopes)
}

func median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}
