// Package operate is what a person does with staged events: list and group
// them, read the story of one, replay, discard, and accept conflicts.
//
//	desk, err := operate.New(operate.Config{Org: client})
//	events, err := desk.List(ctx, operate.Filter{Status: []event.Status{event.Review}, Limit: 100})
//	e, err := desk.Show(ctx, "stripe:evt_1")
//	report, err := desk.Replay(ctx, operate.Order{Filter: filter, Who: "ada", Reason: "mapping fixed"})
//
//	report, err = desk.Discard(ctx, operate.Order{Filter: filter, Who: "ada", Reason: "a test of the shop's"})
//	report, err = desk.Accept(ctx, operate.Order{Filter: filter, Who: "ada", Reason: "the shop has confirmed it"})
//
// A replay makes events of Review due again (with Force those of Completed
// too), under their own event ids: they are decided anew and win only against
// themselves and what is older. To accept a conflict row is to replay it: it wins
// against an event of equal order. A discard ends an event without applying it,
// and with it those of its effects that are not delivered yet. Every action goes page by page, and a row
// that it has moved is no longer chosen, so one that was broken off is resumed
// by starting it again.
package operate

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"

	"sfbridge/salesforce"
)

// Org is what the desk needs of the Salesforce client.
type Org interface {
	Query(ctx context.Context, soql string) ([]salesforce.Record, error)
	UpdateAll(ctx context.Context, rows []salesforce.Row, allOrNone bool) ([]salesforce.SaveResult, error)
	Graph(ctx context.Context, graphs []salesforce.Graph) ([]salesforce.GraphResult, error)
}

// Config joins the parts of a desk.
type Config struct {
	Org Org
	Log *slog.Logger // default: discards

	// Rate is the most events moved a second; 0: no bound.
	Rate float64
	// Wake is told how many rows are due again; nil where no poller runs in
	// this process.
	Wake func(rows int)
	// WakeEffects is told how many rows of the outbox are ready again; nil where
	// no effect worker runs in this process.
	WakeEffects func(rows int)

	Now  func() time.Time    // default time.Now
	IntN func(n int64) int64 // 0 to n-1; default math/rand
}

// Desk lists, shows and moves events.
type Desk struct{ cfg Config }

// New checks the Config.
func New(c Config) (*Desk, error) {
	if c.Org == nil {
		return nil, errors.New("operate: no Salesforce client")
	}
	if c.Rate < 0 {
		return nil, errors.New("operate: a negative rate")
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Wake == nil {
		c.Wake = func(int) {}
	}
	if c.WakeEffects == nil {
		c.WakeEffects = func(int) {}
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.IntN == nil {
		c.IntN = rand.Int64N
	}
	return &Desk{cfg: c}, nil
}
