package poll

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"sfbridge/bridge/apply"
	"sfbridge/bridge/event"
	"sfbridge/salesforce"
)

// Org is what the poller needs of the Salesforce client.
type Org interface {
	Composite(ctx context.Context, subs []salesforce.Subrequest, allOrNone bool) ([]salesforce.Subresponse, error)
	Query(ctx context.Context, soql string) ([]salesforce.Record, error)
	QueryEach(ctx context.Context, soql string, fn func(salesforce.Record) error) error
	UpdateAll(ctx context.Context, rows []salesforce.Row, allOrNone bool) ([]salesforce.SaveResult, error)
}

// Applier brings a batch of events home. An error is that of a call that failed
// as a whole; the report then still tells what was settled before.
type Applier interface {
	Apply(ctx context.Context, batch []*event.Event) (apply.Report, error)
}

// Journal remembers over a crash which rows are in work.
type Journal interface {
	Begin(ids []string) error
	Done(ids []string) error
	// Crashes is how often a process died while it worked on the row.
	Crashes(id string) int
	// Suspects are the rows for which Crashes is not zero.
	Suspects() map[string]int
}

// Metrics is told what the poller sees. The zero Config has none.
type Metrics interface {
	// Due is the number of rows that are due and when the oldest of them was
	// received; zero: none is known.
	Due(events int, oldest time.Time)
	// Review is the number of rows that wait for a person.
	Review(events int)
	// Event is one event that was moved on: its outcome when it is completed,
	// else the status it was moved to.
	Event(source, outcome string)
}

// Config joins the parts of a poller and sets its pace. Zero values mean the
// defaults named with the fields.
type Config struct {
	Org     Org
	Applier Applier
	Journal Journal
	Leases  Leases
	Metrics Metrics
	Log     *slog.Logger // default: discards

	// Owner names this process among the holders of leases.
	Owner string
	// Queues are the queues to work on; default B00 to B15. Members that share the
	// leases hold about as many each.
	Queues []string
	// LeaseTTL is how long a process that is killed or stands still keeps its
	// queues from the others; default 30s.
	LeaseTTL time.Duration

	// Interval is the longest time rows gather while events keep coming, and
	// the pause before work that was left is tried again; default 2s. Where much
	// of the day's calls is used, both may come to Idle.
	Interval time.Duration
	// Idle is the pause between due queries when nothing happens; default 60s.
	Idle time.Duration
	// Batch is the most events of one transaction, at most 200; default 200.
	Batch int
	// Lanes is the most batches in work at once; default 4.
	Lanes int
	// Backoff is the pause after failed calls; default 2s up to 15m.
	Backoff event.Backoff

	// DailyBudget is the share of the org's daily calls above which less urgent
	// work yields; default 0.8.
	DailyBudget float64
	// Usage is the org's daily count of API calls; default: not known.
	Usage func() salesforce.Usage

	// Staging says whether more rows are on their way into the org, so that full
	// batches are worth waiting for; default: never.
	Staging func() bool

	// Looked tells the other processes that this one has looked at what is due in
	// their queues too, and how many rows it has found by queue. nil: there are no
	// others, or they look for themselves.
	Looked func(found map[string]int)

	// CallTimeout bounds one query; default 2m.
	CallTimeout time.Duration
	// BatchTimeout bounds the work on one batch; default 5m.
	BatchTimeout time.Duration
	// StopWait bounds it once the poller is to stop; default 6s. What is broken
	// off then is released: the rows are as due as before.
	StopWait time.Duration

	Now    func() time.Time    // default time.Now
	Random func() float64      // 0 to 1; default math/rand
	IntN   func(n int64) int64 // 0 to n-1; default math/rand
}

// Bounds that are not settings.
const (
	maxBatch      = 200
	maxPayload    = 8 << 20               // bytes a lane holds at once
	maxShare      = 4                     // transactions whose payloads are read by one query
	quiet         = 50 * time.Millisecond // staging that pauses this long has come to an end
	reviewEvery   = 10 * time.Minute      // between counts of what waits for a person
	releaseLimit  = 5 * time.Second       // for giving leases back
	objectsBudget = 80_000                // bytes of the object ids of one query; it may have 100,000 characters
	pageLimit     = 2000                  // rows of a due query: one page
	yieldPause    = 15 * time.Minute      // between looks whether polling still has to yield
	knownLimit    = 10 * pageLimit        // due rows kept in memory
)

func (c Config) withDefaults() Config {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Metrics == nil {
		c.Metrics = noMetrics{}
	}
	if len(c.Queues) == 0 {
		for n := range event.Queues {
			c.Queues = append(c.Queues, event.QueueName(event.ByBridge, n))
		}
	}
	c.Interval = cmp.Or(c.Interval, 2*time.Second)
	c.Idle = cmp.Or(c.Idle, time.Minute)
	c.Batch = cmp.Or(c.Batch, maxBatch)
	c.Lanes = cmp.Or(c.Lanes, 4)
	c.Backoff.Base = cmp.Or(c.Backoff.Base, 2*time.Second)
	c.Backoff.Max = cmp.Or(c.Backoff.Max, 15*time.Minute)
	c.DailyBudget = cmp.Or(c.DailyBudget, 0.8)
	c.LeaseTTL = cmp.Or(c.LeaseTTL, 30*time.Second)
	c.CallTimeout = cmp.Or(c.CallTimeout, 2*time.Minute)
	c.BatchTimeout = cmp.Or(c.BatchTimeout, 5*time.Minute)
	c.StopWait = cmp.Or(c.StopWait, 6*time.Second)
	if c.Usage == nil {
		c.Usage = func() salesforce.Usage { return salesforce.Usage{} }
	}
	if c.Staging == nil {
		c.Staging = func() bool { return false }
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
	return c
}

// validate reports every problem of the Config at once.
func (c Config) validate() error {
	var problems []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			problems = append(problems, fmt.Errorf(format, args...))
		}
	}
	check(c.Org != nil, "poller: no Salesforce client")
	check(c.Applier != nil, "poller: no applier")
	check(c.Journal != nil, "poller: no journal")
	check(c.Leases != nil, "poller: no leases")
	check(c.Owner != "", "poller: no owner name for leases")
	check(c.Interval > 0, "poller.interval: %s is not positive", c.Interval)
	check(c.Idle >= c.Interval, "poller.idle: %s is shorter than poller.interval %s", c.Idle, c.Interval)
	check(c.Batch >= 1 && c.Batch <= maxBatch, "poller.batch: %d is not within 1 to %d", c.Batch, maxBatch)
	check(c.Lanes >= 1 && c.Lanes <= event.Queues, "poller.lanes: %d is not within 1 to %d", c.Lanes, event.Queues)
	check(c.Backoff.Base > 0 && c.Backoff.Max >= c.Backoff.Base,
		"poller.backoff: base %s and max %s: want 0 < base <= max", c.Backoff.Base, c.Backoff.Max)
	check(c.DailyBudget > 0 && c.DailyBudget <= 1, "salesforce.daily_budget: %v is not within 0 to 1", c.DailyBudget)
	return errors.Join(problems...)
}

type noMetrics struct{}

func (noMetrics) Due(int, time.Time) {}
func (noMetrics) Review(int)         {}
func (noMetrics) Event(_, _ string)  {}
