package reconcile

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"sfbridge/bridge/event"
	"sfbridge/bridge/identify"
	"sfbridge/bridge/outbound"
	"sfbridge/internal/lease"
	"sfbridge/internal/pause"
	"sfbridge/mapping"
	"sfbridge/salesforce"
)

// Org is what is asked of Salesforce.
type Org interface {
	Query(ctx context.Context, soql string) ([]salesforce.Record, error)
	QueryEach(ctx context.Context, soql string, fn func(salesforce.Record) error) error
	UpdateAll(ctx context.Context, rows []salesforce.Row, allOrNone bool) ([]salesforce.SaveResult, error)
	Describe(ctx context.Context, object string) (*salesforce.Object, error)
}

// HTTP makes guarded requests.
type HTTP interface {
	Do(ctx context.Context, r outbound.Request) (outbound.Response, error)
}

// Maker makes events of listed objects.
type Maker interface {
	Make(l identify.Listed) (identify.Identified, error)
}

// Notes keep how far a sweep has come.
type Notes interface {
	Get(name string) ([]byte, error)
	Put(name string, text []byte) error
}

// Journal is what processes were working on when they died; nil where this
// process has none.
type Journal interface {
	Suspects() map[string]int
	Done(rows []string) error
}

// Metrics are told of drift.
type Metrics interface {
	Drift(source, kind string, n int)
}

// Comparison is one list of a source.
type Comparison struct {
	Mapping *mapping.File
	Plan    *mapping.Reconcile
	Maker   Maker
}

// name tells comparisons apart, in notes and leases.
func (c Comparison) name() string { return "reconcile:" + c.Mapping.Source + ":" + c.Plan.Type }

// Config joins what a Reconciler needs.
type Config struct {
	Org  Org
	HTTP HTTP
	// Comparisons lists what is to be compared, as the mappings stand now.
	Comparisons func() []Comparison
	// Credential fills in the references of a source's Authorization header.
	Credential func(source, auth string) (string, bool)
	// Stage makes events durable; one error an event, nil for one that is.
	Stage   func(ctx context.Context, events []*event.Event) []error
	Notes   Notes
	Journal Journal
	Leases  lease.Leases // keep two processes from making one sweep
	Owner   string       // among the holders of leases
	Metrics Metrics      // nil: nobody

	Rate        float64 // pages a second; 2
	Share       float64 // of the org's daily calls that this work may use; 0.05
	DailyBudget float64 // share of the daily calls above which it rests
	Usage       func() salesforce.Usage
	Young       time.Duration // what is younger is no drift; 10 min
	Stuck       time.Duration // a row that is due for longer is stuck; 1 h
	Look        time.Duration // between looks at the schedule; 1 min

	Log   *slog.Logger // nil: discarded
	Now   func() time.Time
	IntN  func(n int64) int64
	Sleep func(ctx context.Context, d time.Duration) error
}

func (c Config) withDefaults() Config {
	for field, value := range map[*time.Duration]time.Duration{&c.Young: 10 * time.Minute, &c.Stuck: time.Hour, &c.Look: time.Minute} {
		if *field == 0 {
			*field = value
		}
	}
	if c.Rate == 0 {
		c.Rate = 2
	}
	if c.Share == 0 {
		c.Share = 0.05
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Metrics == nil {
		c.Metrics = nobody{}
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.IntN == nil {
		c.IntN = rand.Int64N
	}
	if c.Sleep == nil {
		c.Sleep = pause.For
	}
	return c
}

func (c Config) validate() error {
	switch {
	case c.Org == nil, c.HTTP == nil, c.Comparisons == nil, c.Credential == nil, c.Stage == nil, c.Notes == nil, c.Leases == nil, c.Usage == nil:
		return errors.New("reconcile: a part is missing")
	case c.Rate < 0, c.Share < 0, c.Share > 1:
		return errors.New("reconcile: a rate or share that can't be")
	case c.Owner == "":
		return errors.New("reconcile: the owner of leases has no name")
	}
	return nil
}

type nobody struct{}

func (nobody) Drift(string, string, int) {}

// Reconciler compares and heals. It is safe for concurrent use.
type Reconciler struct {
	cfg    Config
	org    *meter // Config.Org, counted
	pace   *rate.Limiter
	shapes shapes

	mu    sync.Mutex
	last  map[string]Sweep     // by the name of the comparison
	tried map[string]time.Time // when the last try ended
	rows  *Rows                // of the last look
}

// New checks the Config.
func New(cfg Config) (*Reconciler, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	m := &meter{Org: cfg.Org, now: cfg.Now}
	return &Reconciler{
		cfg: cfg, org: m, pace: rate.NewLimiter(rate.Limit(cfg.Rate), 1), shapes: shapes{org: m, known: map[string]shape{}},
		last: map[string]Sweep{}, tried: map[string]time.Time{},
	}, nil
}
