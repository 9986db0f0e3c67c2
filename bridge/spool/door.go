package spool

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"sfbridge/bridge/event"
	"sfbridge/bridge/stage"
)

// Ack says what has to be durable before a delivery is answered.
type Ack string

const (
	Auto    Ack = "auto"    // Salesforce within a time, else the spool
	Staged  Ack = "staged"  // Salesforce
	Spooled Ack = "spooled" // the spool; Salesforce when it takes nothing
)

// Stager is what the door needs of package stage.
type Stager interface {
	Stage(ctx context.Context, requests []stage.Request) []stage.Answer
	// Recall answers a duplicate that is known without a call.
	Recall(r stage.Request) (answer stage.Answer, found bool)
	// Down says whether Salesforce refused a write a moment ago.
	Down() bool
	Ready(ctx context.Context) error
}

// DoorConfig joins the durable paths.
type DoorConfig struct {
	Ack     Ack           // "": Auto
	Timeout time.Duration // how long Auto waits for Salesforce; 2 s
	Stager  Stager
	Engine  Engine
	// Backlog says whether events of a queue wait in the engine: later ones then
	// wait behind them. nil: never.
	Backlog func(queue string) bool
	// Appended is told of every queue that got entries. nil: nobody.
	Appended func(queue string, entries int)
	Log      *slog.Logger // nil: discarded
}

// Door makes events durable on the path that the settings ask for.
type Door struct{ cfg DoorConfig }

// readyShare bounds the look at the engine, so that time for Salesforce is left.
const readyShare = 700 * time.Millisecond

// NewDoor returns a door.
func NewDoor(cfg DoorConfig) *Door {
	if cfg.Ack == "" {
		cfg.Ack = Auto
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = 2 * time.Second
	}
	if cfg.Backlog == nil {
		cfg.Backlog = func(string) bool { return false }
	}
	if cfg.Appended == nil {
		cfg.Appended = func(string, int) {}
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Door{cfg}
}

// Stage makes the events durable. Answers stand at the place of their request.
func (d *Door) Stage(ctx context.Context, requests []stage.Request) []stage.Answer {
	switch d.cfg.Ack {
	case Staged:
		return d.cfg.Stager.Stage(ctx, requests)
	case Spooled:
		return d.spoolFirst(ctx, requests)
	default:
		return d.stageFirst(ctx, requests)
	}
}

// stageFirst stages what needs not wait behind others, and spools the rest and
// whatever was not staged in time.
func (d *Door) stageFirst(ctx context.Context, requests []stage.Request) []stage.Answer {
	answers := make([]stage.Answer, len(requests))
	direct, behind := d.split(requests)
	if len(direct) > 0 {
		within, cancel := context.WithTimeout(ctx, d.patience(ctx))
		for i, a := range d.cfg.Stager.Stage(within, pick(requests, direct)) {
			answers[direct[i]] = a
			if spoolable(a.Err) {
				behind = append(behind, direct[i])
			}
		}
		cancel()
	}
	d.spoolAt(ctx, requests, behind, answers)
	return answers
}

// split tells the places of the requests that may go to Salesforce at once from
// those that have to wait behind others, or for Salesforce to come back.
func (d *Door) split(requests []stage.Request) (direct, behind []int) {
	down := d.cfg.Stager.Down()
	for i, r := range requests {
		if down || d.cfg.Backlog(r.Event.HomeQueue) {
			behind = append(behind, i)
			continue
		}
		direct = append(direct, i)
	}
	return direct, behind
}

// patience leaves a third of a short deadline for the spool.
func (d *Door) patience(ctx context.Context) time.Duration {
	if deadline, ok := ctx.Deadline(); ok {
		return min(d.cfg.Timeout, time.Until(deadline)*2/3)
	}
	return d.cfg.Timeout
}

// spoolable says whether an event that wasn't staged may wait in the spool: one
// that is too large for Salesforce would wait for ever.
func spoolable(err error) bool { return err != nil && !errors.Is(err, event.ErrTooLarge) }

// spoolFirst spools everything, and stages what the engine doesn't take.
func (d *Door) spoolFirst(ctx context.Context, requests []stage.Request) []stage.Answer {
	answers := make([]stage.Answer, len(requests))
	all := make([]int, len(requests))
	for i := range all {
		all[i] = i
	}
	within, cancel := context.WithTimeout(ctx, d.patience(ctx))
	d.spoolAt(within, requests, all, answers)
	cancel()
	var left []int
	for i, a := range answers {
		if spoolable(a.Err) {
			left = append(left, i)
		}
	}
	if len(left) > 0 {
		for i, a := range d.cfg.Stager.Stage(ctx, pick(requests, left)) {
			answers[left[i]] = a
		}
	}
	return answers
}

func pick(requests []stage.Request, places []int) []stage.Request {
	some := make([]stage.Request, len(places))
	for i, p := range places {
		some[i] = requests[p]
	}
	return some
}

// spoolAt spools the requests at the places and writes their answers. An event
// that Salesforce is known to hold already is a duplicate, not an entry.
func (d *Door) spoolAt(ctx context.Context, requests []stage.Request, places []int, answers []stage.Answer) {
	var entries []Entry
	var spooled []int
	for _, p := range places {
		r := requests[p]
		if a, found := d.cfg.Stager.Recall(r); found {
			answers[p] = a
			continue
		}
		entry, err := encodeWithin(r)
		if err != nil {
			answers[p] = stage.Answer{EventID: r.Event.ID, Err: err}
			continue
		}
		entries, spooled = append(entries, entry), append(spooled, p)
	}
	if len(entries) == 0 {
		return
	}
	err := d.cfg.Engine.Append(ctx, entries)
	if err != nil {
		d.cfg.Log.Error("the spool takes no events", "error", err)
	}
	for _, p := range spooled {
		answers[p] = spoolAnswer(requests[p], answers[p], err)
	}
	if err == nil {
		for _, e := range entries {
			d.cfg.Appended(e.Queue, 1)
		}
	}
}

// encodeWithin refuses what Salesforce could never hold.
func encodeWithin(r stage.Request) (Entry, error) {
	if len(r.Event.Payload) > event.MaxPayload {
		return Entry{}, event.ErrTooLarge
	}
	return Encode(r)
}

// spoolAnswer is the answer after an append; it keeps what Salesforce said of
// the event before, for its hint when to come again.
func spoolAnswer(r stage.Request, before stage.Answer, err error) stage.Answer {
	if err == nil {
		return stage.Answer{EventID: r.Event.ID, Status: stage.Spooled}
	}
	failed := &stage.Unavailable{Reason: "the spool takes no events", Cause: err}
	var first *stage.Unavailable
	if errors.As(before.Err, &first) {
		failed.RetryAfter, failed.Alarm = first.RetryAfter, first.Alarm
		failed.Cause = errors.Join(first, err)
	}
	return stage.Answer{EventID: r.Event.ID, Err: failed}
}

// Ready says whether some durable path takes a write.
func (d *Door) Ready(ctx context.Context) error {
	if d.cfg.Ack == Staged {
		return d.cfg.Stager.Ready(ctx)
	}
	within, cancel := context.WithTimeout(ctx, readyShare)
	spoolErr := d.cfg.Engine.Ready(within)
	cancel()
	if spoolErr == nil {
		return nil
	}
	if err := d.cfg.Stager.Ready(ctx); err != nil {
		return fmt.Errorf("neither spool nor Salesforce takes a write: %w", errors.Join(spoolErr, err))
	}
	return nil
}
