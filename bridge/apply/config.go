package apply

import (
	"context"
	"fmt"
	"time"

	"sfbridge/bridge/event"
	"sfbridge/mapping"
	"sfbridge/salesforce"
)

// Org is what apply needs of the Salesforce client.
type Org interface {
	// Query reads every row of a query.
	Query(ctx context.Context, soql string) ([]salesforce.Record, error)
	// QueryFrom reads the pages after a first one, whose Next it is given.
	QueryFrom(ctx context.Context, next string) ([]salesforce.Record, error)
	Composite(ctx context.Context, subs []salesforce.Subrequest, allOrNone bool) ([]salesforce.Subresponse, error)
	Graph(ctx context.Context, graphs []salesforce.Graph) ([]salesforce.GraphResult, error)
	UpdateAll(ctx context.Context, rows []salesforce.Row, allOrNone bool) ([]salesforce.SaveResult, error)
	Describe(ctx context.Context, object string) (*salesforce.Object, error)
}

// Mappings gives the mapping of a source as it stands now.
type Mappings interface {
	Mapping(source string) (*mapping.File, bool)
}

// Config makes an Applier. Org, Mappings, Now, Intn, Float and Sleep must be
// set; zero values of the rest stand for what their comments say.
type Config struct {
	Org      Org
	Mappings Mappings
	// Authority loads what events are only hints to; nil: events are taken as
	// they are.
	Authority Authority

	MaxAttempts int           // failures of an event itself until a person must look; 12
	ParentWait  time.Duration // how long a missing parent costs no attempt; 24h
	LockGrace   time.Duration // how long row locks cost no attempt; 1h
	Backoff     event.Backoff // between attempts; 2s to 15m
	RoutePause  time.Duration // rest of a route whose configuration is refused; 1m
	DescribeFor time.Duration // how long an object's describe is trusted; 1h

	Who string // in the history of rows; "bridge"

	// Outbox is told how many rows of the outbox have become due; may be nil.
	Outbox func(rows int)

	Now   func() time.Time
	Intn  func(n int64) int64 // 0 to n-1; safe for concurrent use
	Float func() float64      // 0 to 1; safe for concurrent use
	Sleep func(ctx context.Context, d time.Duration) error
}

func (c Config) withDefaults() Config {
	if c.MaxAttempts == 0 {
		c.MaxAttempts = 12
	}
	setDuration(&c.ParentWait, 24*time.Hour)
	setDuration(&c.LockGrace, time.Hour)
	setDuration(&c.Backoff.Base, 2*time.Second)
	setDuration(&c.Backoff.Max, 15*time.Minute)
	setDuration(&c.RoutePause, time.Minute)
	setDuration(&c.DescribeFor, time.Hour)
	if c.Outbox == nil {
		c.Outbox = func(int) {}
	}
	if c.Who == "" {
		c.Who = "bridge"
	}
	return c
}

func setDuration(d *time.Duration, standard time.Duration) {
	if *d == 0 {
		*d = standard
	}
}

func (c Config) validate() error {
	missing := ""
	switch {
	case c.Org == nil:
		missing = "Org"
	case c.Mappings == nil:
		missing = "Mappings"
	case c.Now == nil:
		missing = "Now"
	case c.Intn == nil || c.Float == nil:
		missing = "Intn and Float"
	case c.Sleep == nil:
		missing = "Sleep"
	}
	if missing != "" {
		return fmt.Errorf("apply: %s must be set", missing)
	}
	if c.MaxAttempts < 1 {
		return fmt.Errorf("apply: MaxAttempts is %d: want at least 1", c.MaxAttempts)
	}
	return nil
}
