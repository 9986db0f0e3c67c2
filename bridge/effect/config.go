package effect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"sfbridge/bridge/event"
	"sfbridge/bridge/outbound"
	"sfbridge/internal/pause"
	"sfbridge/salesforce"
)

// Org is what the worker needs of the Salesforce client.
type Org interface {
	Query(ctx context.Context, soql string) ([]salesforce.Record, error)
	Composite(ctx context.Context, subs []salesforce.Subrequest, allOrNone bool) ([]salesforce.Subresponse, error)
	Graph(ctx context.Context, graphs []salesforce.Graph) ([]salesforce.GraphResult, error)
	InsertAll(ctx context.Context, rows []salesforce.Row, allOrNone bool) ([]salesforce.SaveResult, error)
	UpsertAll(ctx context.Context, keyField string, rows []salesforce.Row, allOrNone bool) ([]salesforce.SaveResult, error)
	UpdateAll(ctx context.Context, rows []salesforce.Row, allOrNone bool) ([]salesforce.SaveResult, error)
}

// HTTP makes guarded requests.
type HTTP interface {
	Do(ctx context.Context, r outbound.Request) (outbound.Response, error)
}

// Target is where the posts of an effect go.
type Target struct {
	URL string
	Key []byte // of the signature; nil: requests are not signed
}

// Targets knows the effects of the mappings as they stand now.
type Targets interface {
	EffectTarget(source, effect string) (Target, bool)
}

// Leases keep two workers off one queue.
type Leases interface {
	Acquire(ctx context.Context, owner string, names []string, ttl time.Duration) (held []string, err error)
	Release(ctx context.Context, owner string, names []string) error
}

// Metrics is told what the worker does.
type Metrics interface {
	// Effect is one try of an effect: done, retryable or review.
	Effect(result string)
	// Event is one event that was moved on: its outcome when it is completed,
	// else the status it was moved to.
	Event(source, outcome string)
}

// Config joins the parts of a worker and sets its pace. Org, Targets, HTTP,
// Leases and Owner must be set; zero values of the rest mean the defaults named
// with the fields.
type Config struct {
	Org     Org
	Targets Targets
	HTTP    HTTP
	Leases  Leases
	Metrics Metrics
	Log     *slog.Logger // default: discards

	// Owner names this process among the holders of leases, and Who in the
	// history of rows; default "bridge".
	Owner, Who string
	// Queues are the queues to work on; default B00 to B15 and O00 to O15.
	Queues []string

	// Interval is the longest time that new rows gather; default 2s.
	Interval time.Duration
	// Idle is the pause between due queries when nothing happens; default 2m.
	Idle time.Duration
	// MaxAttempts is how often an effect may fail until a person must look;
	// default 12.
	MaxAttempts int
	// Backoff is between the tries of an effect, and after failed calls to
	// Salesforce; default 2s up to 15m.
	Backoff event.Backoff
	// Senders is the most requests at once; default 16.
	Senders int
	// BatchTimeout bounds the work on one batch, also while stopping; default 2m.
	BatchTimeout time.Duration

	// DailyBudget is the share of the org's daily calls above which less urgent
	// work yields; default 0.8.
	DailyBudget float64
	// Usage is the org's daily count of API calls; default: not known.
	Usage func() salesforce.Usage
	// Looked tells other processes that this one has looked at what is due in
	// every queue; default: nobody.
	Looked func()

	Now    func() time.Time    // default time.Now
	Random func() float64      // 0 to 1; default math/rand
	IntN   func(n int64) int64 // 0 to n-1; default math/rand
	Sleep  func(ctx context.Context, d time.Duration) error
}

// Bounds that are not settings.
const (
	maxRows      = 200              // effects of one batch
	maxLanes     = 4                // batches at once
	pageLimit    = 2000             // rows of a due query: one page
	leaseTTL     = 30 * time.Second // how long a killed process blocks its queues
	releaseLimit = 5 * time.Second  // for giving leases back
	yieldPause   = 15 * time.Minute // between looks whether effects still have to yield
	maxPause     = 24 * time.Hour   // of a pause that a receiver asks for
	shortAnswer  = 1000             // UTF-16 units of an answer that are kept
)

func (c Config) withDefaults() Config {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Metrics == nil {
		c.Metrics = noMetrics{}
	}
	if len(c.Queues) == 0 {
		for _, kind := range []event.ProcessorKind{event.ByBridge, event.ByOrg} {
			for n := range event.Queues {
				c.Queues = append(c.Queues, event.QueueName(kind, n))
			}
		}
	}
	c.Who = cmp.Or(c.Who, "bridge")
	c.Interval = cmp.Or(c.Interval, 2*time.Second)
	c.Idle = cmp.Or(c.Idle, 2*time.Minute)
	c.MaxAttempts = cmp.Or(c.MaxAttempts, 12)
	c.Backoff.Base = cmp.Or(c.Backoff.Base, 2*time.Second)
	c.Backoff.Max = cmp.Or(c.Backoff.Max, 15*time.Minute)
	c.Senders = cmp.Or(c.Senders, 16)
	c.BatchTimeout = cmp.Or(c.BatchTimeout, 2*time.Minute)
	c.DailyBudget = cmp.Or(c.DailyBudget, 0.8)
	if c.Usage == nil {
		c.Usage = func() salesforce.Usage { return salesforce.Usage{} }
	}
	if c.Looked == nil {
		c.Looked = func() {}
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Random == nil {
		c.Random = rand.Float64
	}
	if c.IntN == nil {
		c.IntN = rand.Int64N
	}
	if c.Sleep == nil {
		c.Sleep = pause.For
	}
	return c
}

// validate reports every problem of the Config at once.
func (c Config) validate() error {
	var problems []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			problems = append(problems, fmt.Errorf("effects: "+format, args...))
		}
	}
	check(c.Org != nil, "no Salesforce client")
	check(c.Targets != nil, "no targets")
	check(c.HTTP != nil, "no HTTP client")
	check(c.Leases != nil, "no leases")
	check(c.Owner != "", "no owner name for leases")
	check(c.Interval > 0, "the interval %s is not positive", c.Interval)
	check(c.Idle >= c.Interval, "idle %s is shorter than interval %s", c.Idle, c.Interval)
	check(c.MaxAttempts >= 1, "%d attempts: want at least 1", c.MaxAttempts)
	check(c.Senders >= 1, "%d senders: want at least 1", c.Senders)
	return errors.Join(problems...)
}

type noMetrics struct{}

func (noMetrics) Effect(string)     {}
func (noMetrics) Event(_, _ string) {}
