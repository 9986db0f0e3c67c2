package plan

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Load is what is to be planned for.
type Load struct {
	EventsPerDay  float64 `json:"events_per_day"`
	Burst         float64 `json:"burst"`   // peak rate / mean rate
	Objects       int     `json:"objects"` // that an event writes
	Effects       float64 `json:"effects"` // of an event
	RetentionDays int     `json:"retention_days"`
	PayloadBytes  int     `json:"payload_bytes"`
	Licenses      int     `json:"licenses"` // user licenses of the org
	Budget        float64 `json:"daily_budget"`
	Edition       string  `json:"edition,omitempty"` // empty: all
}

// The most that can be planned for, so that a slip is noticed.
const (
	maxEvents   = 1e9
	maxBurst    = 10_000
	maxObjects  = 20
	maxEffects  = 20
	maxDays     = 3650
	maxPayload  = 131_072 // larger ones have rows of their own
	maxLicenses = 1_000_000
)

// Check reports everything that can't be planned for, by the flag's name.
func (l Load) Check() error {
	var problems []error
	within := func(flag string, value, low, high float64) {
		if !(value >= low && value <= high) {
			problems = append(problems, fmt.Errorf("--%s %v: give a number from %v to %v", flag, value, low, high))
		}
	}
	within("events-per-day", l.EventsPerDay, 1, maxEvents)
	within("burst", l.Burst, 1, maxBurst)
	within("objects", float64(l.Objects), 1, maxObjects)
	within("effects", l.Effects, 0, maxEffects)
	within("retention-days", float64(l.RetentionDays), 1, maxDays)
	within("payload", float64(l.PayloadBytes), 1, maxPayload)
	within("licenses", float64(l.Licenses), 0, maxLicenses)
	within("budget", l.Budget, 0.01, 1)
	if l.Edition != "" && !slices.Contains(EditionNames(), l.Edition) {
		problems = append(problems, fmt.Errorf("--edition %q: one of %s", l.Edition, strings.Join(EditionNames(), ", ")))
	}
	return errors.Join(problems...)
}

// Report is a plan.
type Report struct {
	Load      Load      `json:"load"`
	PerSecond float64   `json:"events_per_second"`
	Peak      float64   `json:"peak_per_second"`
	Calls     Calls     `json:"api_calls"`
	Storage   Storage   `json:"storage"`
	Redis     Redis     `json:"redis"`
	Processes int       `json:"processes"`
	Editions  []Verdict `json:"editions"`
	Figures   []Figure  `json:"figures"`
	Costs     []Cost    `json:"costs"`
}

// Calls are API calls. Events that come evenly over the day share the fewest
// calls, so a day costs something between even and full batches. Paced is even
// when half of the budget is used and polling begins to wait: events then share
// all calls as full batches do, but those that stage them.
type Calls struct {
	EvenPerEvent float64 `json:"even_per_event"`
	EvenPerDay   float64 `json:"even_per_day"`
	PacedPerDay  float64 `json:"paced_per_day"`
	FullPerEvent float64 `json:"full_batches_per_event"`
	FullPerDay   float64 `json:"full_batches_per_day"`
}

// Storage is what the bridge's own rows take once retention deletes as many as
// come. The business records are yours to add.
type Storage struct {
	Rows float64 `json:"rows"`
	MB   float64 `json:"mb"`
}

// Redis is what an hour without Salesforce adds to the spool.
type Redis struct {
	MBPerHour     float64 `json:"mb_per_hour"`
	MBPerPeakHour float64 `json:"mb_per_peak_hour"`
}

// Verdict is the plan against an edition.
type Verdict struct {
	Edition       string  `json:"edition"`
	CallLimit     int     `json:"call_limit"`
	EvenShare     float64 `json:"even_share"`
	PacedShare    float64 `json:"paced_share"`
	FullShare     float64 `json:"full_batches_share"`
	StorageMB     float64 `json:"storage_mb"`
	StorageShare  float64 `json:"storage_share"`
	RetentionDays float64 `json:"longest_retention_days"`
	Fits          string  `json:"fits"`
}

// What a Verdict says.
const (
	FitsYes     = "yes"
	FitsPaced   = "yes, later" // events that come one by one are applied up to a minute later
	FitsBatches = "in bursts"  // not when events come evenly, one by one
	FitsCalls   = "no: calls"
	FitsStorage = "no: storage"
)

// Make plans.
func Make(l Load) (Report, error) {
	if err := l.Check(); err != nil {
		return Report{}, err
	}
	r := Report{Load: l, PerSecond: l.EventsPerDay / secondsPerDay, Figures: Figures(), Costs: Costs()}
	r.Peak = r.PerSecond * l.Burst
	more := perEffect*l.Effects + perObject*float64(l.Objects-1)
	cost := costAt(r.PerSecond)
	// What is beside one object costs as much more as a batch is emptier.
	beside := more * cost.Calls / fullBatch
	r.Calls = Calls{EvenPerEvent: cost.Calls + beside, FullPerEvent: fullBatch + more}
	r.Calls.EvenPerDay = l.EventsPerDay*r.Calls.EvenPerEvent + idleCalls
	r.Calls.PacedPerDay = min(r.Calls.EvenPerDay, l.EventsPerDay*(cost.Staging+fullBatch+beside)+pacedCalls+idleCalls)
	r.Calls.FullPerDay = l.EventsPerDay*r.Calls.FullPerEvent + idleCalls
	r.Storage.Rows = l.EventsPerDay * (1 + l.Effects) * float64(l.RetentionDays)
	r.Storage.MB = r.Storage.Rows * rowKB / 1024
	entry := redisEntry + redisPerByte*float64(l.PayloadBytes)
	r.Redis.MBPerHour = 3600 * r.PerSecond * entry / (1 << 20)
	r.Redis.MBPerPeakHour = r.Redis.MBPerHour * l.Burst
	r.Processes = max(1, int(math.Ceil(r.Peak/perProcess)))
	for _, e := range Editions() {
		if l.Edition == "" || l.Edition == e.Name {
			r.Editions = append(r.Editions, r.against(e))
		}
	}
	return r, nil
}

func (r Report) against(e Edition) Verdict {
	users := r.Load.Licenses
	v := Verdict{
		Edition: e.Name, CallLimit: e.Calls + e.CallsPerLicense*users,
		StorageMB: e.StorageMB + e.StoragePerUser*float64(users),
	}
	v.EvenShare = r.Calls.EvenPerDay / float64(v.CallLimit)
	v.PacedShare = r.Calls.PacedPerDay / float64(v.CallLimit)
	v.FullShare = r.Calls.FullPerDay / float64(v.CallLimit)
	v.StorageShare = r.Storage.MB / v.StorageMB
	v.RetentionDays = float64(r.Load.RetentionDays) / v.StorageShare
	switch {
	case v.FullShare > r.Load.Budget:
		v.Fits = FitsCalls
	case v.StorageShare > 1:
		v.Fits = FitsStorage
	case v.PacedShare > r.Load.Budget:
		v.Fits = FitsBatches
	case v.EvenShare > r.Load.Budget:
		v.Fits = FitsPaced
	default:
		v.Fits = FitsYes
	}
	return v
}
