package retain

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"

	"sfbridge/internal/lease"
	"sfbridge/internal/pause"
	"sfbridge/salesforce"
)

// Org is what retention needs of the Salesforce client.
type Org interface {
	Query(ctx context.Context, soql string) ([]salesforce.Record, error)
	QueryEach(ctx context.Context, soql string, fn func(salesforce.Record) error) error
	UpsertAll(ctx context.Context, keyField string, rows []salesforce.Row, allOrNone bool) ([]salesforce.SaveResult, error)
	Composite(ctx context.Context, subs []salesforce.Subrequest, allOrNone bool) ([]salesforce.Subresponse, error)
}

// Config holds what a Keeper needs; zero values mean the defaults named.
type Config struct {
	Org Org

	PayloadAfter time.Duration // from receipt and from the end of the work; needed
	RowAfter     time.Duration // likewise; needed, at least PayloadAfter
	ArchiveDir   string        // empty: nothing is archived

	Every  time.Duration // between two sweeps; 1 h
	Again  time.Duration // after a sweep that failed or yielded; 10 min
	Settle time.Duration // from a moved horizon to the deletion; 30 s

	// Leases keep the keepers of several processes off each other; nil: this
	// process has the only one. Two that share none are slower, never wrong:
	// each row is moved by its revision.
	Leases lease.Leases
	Owner  string // among the holders of leases

	// Yields says that the API budget has no room for retention. nil: never.
	Yields func() bool

	Log   *slog.Logger                                     // nil: discarded
	Now   func() time.Time                                 // nil: time.Now
	IntN  func(n int64) int64                              // 0 to n-1; nil: math/rand/v2
	Sleep func(ctx context.Context, d time.Duration) error // nil: a timer
}

func (c Config) withDefaults() Config {
	for v, to := range map[*time.Duration]time.Duration{&c.Every: time.Hour, &c.Again: 10 * time.Minute, &c.Settle: 30 * time.Second} {
		if *v == 0 {
			*v = to
		}
	}
	if c.Yields == nil {
		c.Yields = func() bool { return false }
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
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
	case c.Org == nil:
		return errors.New("retain: no Salesforce client")
	case c.PayloadAfter <= 0:
		return errors.New("retain: PayloadAfter is missing")
	case c.RowAfter < c.PayloadAfter:
		return errors.New("retain: RowAfter is shorter than PayloadAfter")
	case c.Leases != nil && c.Owner == "":
		return errors.New("retain: the owner of leases has no name")
	}
	return nil
}

// Keeper clears and deletes finished events.
type Keeper struct{ cfg Config }

// New checks the Config.
func New(c Config) (*Keeper, error) {
	c = c.withDefaults()
	if err := c.validate(); err != nil {
		return nil, err
	}
	return &Keeper{cfg: c}, nil
}
