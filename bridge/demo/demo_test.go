package demo

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"sfbridge/bridge/app"
	"sfbridge/bridge/apply"
	"sfbridge/bridge/event"
	"sfbridge/bridge/poll"
	"sfbridge/bridge/receive"
	"sfbridge/bridge/stage"
	"sfbridge/bridge/verify"
	"sfbridge/salesforce"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// failing runs the demo with a small burst and gives the names of failed checks.
func failing(t *testing.T, seams app.Seams) (failed []string, report Report) {
	t.Helper()
	report, err := Run(t.Context(), Config{Events: 200, Latency: 2 * time.Millisecond, Patience: time.Minute, Seams: seams})
	require.NoError(t, err)
	require.Len(t, report.Checks, 9)
	for _, c := range report.Checks {
		if !c.OK {
			t.Log(c.Name, c.Detail)
			failed = append(failed, c.Name)
		}
	}
	return failed, report
}

func TestEveryCheckPasses(t *testing.T) {
	t.Parallel()
	failed, report := failing(t, app.Seams{})
	assert.Empty(t, failed)
	assert.True(t, report.OK())
	assert.Positive(t, report.APICalls)
	assert.Positive(t, report.CallsPerEvent)
	assert.Equal(t, report.Records[event.Object], 1+1+3+2+200+20+200+2, "every accepted event has one row")
}

// Each check is made to fail by breaking the part it watches, and no other
// check fails with it.
func TestABrokenPartFailsItsOwnCheckAndNoOther(t *testing.T) {
	t.Parallel()
	for check, seams := range map[string]app.Seams{
		"same_twice":    {Stager: forgetful("same_twice")},
		"ten_at_once":   {Stager: forgetful("ten_at_once")},
		"one_entity":    {Applier: orders("one_entity", func(order int64) int64 { return 2*begin*1000 - order })},
		"out_of_order":  {Applier: orders("out_of_order", func(order int64) int64 { return 2*begin*1000 - order })},
		"bad_row":       {Applier: spoilsMates},
		"lost_reply":    {Stager: givesUp("lost_reply")},
		"bad_signature": {Verifier: believesAll},
		"burst":         {Org: oneCallAnEvent("burst")},
		"replay":        {Org: neverReplays},
	} {
		t.Run(check, func(t *testing.T) {
			t.Parallel()
			failed, _ := failing(t, seams)
			assert.Equal(t, []string{check}, failed)
		})
	}
}

func of(e *event.Event, check string) bool { return ownedBy(e.ID, check) }

// forgetful is a stager that doesn't know an event again.
func forgetful(check string) func(receive.Stager) receive.Stager {
	var n atomic.Int64
	return wrapStager(func(next receive.Stager, ctx context.Context, requests []stage.Request) []stage.Answer {
		for i, r := range requests {
			if of(r.Event, check) {
				e := *r.Event
				e.ID = fmt.Sprint(e.ID, "_", n.Add(1))
				requests[i].Event = &e
			}
		}
		return next.Stage(ctx, requests)
	})
}

// givesUp is a stager that stages but answers that it couldn't.
func givesUp(check string) func(receive.Stager) receive.Stager {
	return wrapStager(func(next receive.Stager, ctx context.Context, requests []stage.Request) []stage.Answer {
		answers := next.Stage(ctx, requests)
		for i, r := range requests {
			if of(r.Event, check) {
				answers[i].Err = &stage.Unavailable{Reason: "the reply was lost"}
			}
		}
		return answers
	})
}

type stagerDouble struct {
	receive.Stager
	stage func(receive.Stager, context.Context, []stage.Request) []stage.Answer
}

func (d stagerDouble) Stage(ctx context.Context, requests []stage.Request) []stage.Answer {
	return d.stage(d.Stager, ctx, requests)
}

func wrapStager(f func(receive.Stager, context.Context, []stage.Request) []stage.Answer) func(receive.Stager) receive.Stager {
	return func(next receive.Stager) receive.Stager { return stagerDouble{next, f} }
}

type applierDouble func(ctx context.Context, batch []*event.Event) (apply.Report, error)

func (d applierDouble) Apply(ctx context.Context, batch []*event.Event) (apply.Report, error) {
	return d(ctx, batch)
}

// orders is an applier that reads the order of events wrongly.
func orders(check string, wrong func(int64) int64) func(poll.Applier) poll.Applier {
	return func(next poll.Applier) poll.Applier {
		return applierDouble(func(ctx context.Context, batch []*event.Event) (apply.Report, error) {
			for _, e := range batch {
				if of(e, check) && e.Order != nil {
					order := wrong(*e.Order)
					e.Order = &order
				}
			}
			return next.Apply(ctx, batch)
		})
	}
}

// spoilsMates is an applier in which one bad row harms the rest of its batch.
func spoilsMates(next poll.Applier) poll.Applier {
	return applierDouble(func(ctx context.Context, batch []*event.Event) (apply.Report, error) {
		var bad []byte
		for _, e := range batch {
			if of(e, "bad_row") && bytes.Contains(e.Payload, []byte("9000000000000000000")) {
				bad = e.Payload
			}
		}
		for _, e := range batch {
			if bad != nil && of(e, "bad_row") {
				number := strings.TrimPrefix(e.ID, "stripe:evt_bad_row_")
				e.Payload = bytes.ReplaceAll(bad, []byte("ch_bad_row_117"), []byte("ch_bad_row_"+number))
			}
		}
		return next.Apply(ctx, batch)
	})
}

type believer struct{ receive.Verifier }

func (b believer) Verify(r verify.Request) verify.Result {
	result := b.Verifier.Verify(r)
	result.Valid, result.Reason, result.Trust = true, verify.OK, verify.SignedBody
	return result
}

func believesAll(_ string, v receive.Verifier) receive.Verifier { return believer{v} }

type orgDouble struct {
	app.Org
	insert func(app.Org, context.Context, []salesforce.Row) ([]salesforce.SaveResult, error)
	update func(app.Org, context.Context, []salesforce.Row) ([]salesforce.SaveResult, error)
}

func (d orgDouble) InsertAll(ctx context.Context, rows []salesforce.Row, allOrNone bool) ([]salesforce.SaveResult, error) {
	if d.insert != nil {
		return d.insert(d.Org, ctx, rows)
	}
	return d.Org.InsertAll(ctx, rows, allOrNone)
}

func (d orgDouble) UpdateAll(ctx context.Context, rows []salesforce.Row, allOrNone bool) ([]salesforce.SaveResult, error) {
	if d.update != nil {
		return d.update(d.Org, ctx, rows)
	}
	return d.Org.UpdateAll(ctx, rows, allOrNone)
}

// oneCallAnEvent is an org client that doesn't batch.
func oneCallAnEvent(check string) func(app.Org) app.Org {
	return func(next app.Org) app.Org {
		return orgDouble{Org: next, insert: func(next app.Org, ctx context.Context, rows []salesforce.Row) ([]salesforce.SaveResult, error) {
			if !ownedBy(fmt.Sprint(rows[0].Fields[event.FieldID]), check) {
				return next.InsertAll(ctx, rows, false)
			}
			var results []salesforce.SaveResult
			for _, r := range rows {
				one, err := next.InsertAll(ctx, []salesforce.Row{r}, false)
				if err != nil {
					return nil, err
				}
				results = append(results, one...)
			}
			return results, nil
		}}
	}
}

// neverReplays is an org client that loses what makes a row due again.
func neverReplays(next app.Org) app.Org {
	return orgDouble{Org: next, update: func(next app.Org, ctx context.Context, rows []salesforce.Row) ([]salesforce.SaveResult, error) {
		if rows[0].Fields[event.FieldStatus] != string(event.Received) {
			return next.UpdateAll(ctx, rows, false)
		}
		results := make([]salesforce.SaveResult, len(rows))
		for i, r := range rows {
			results[i] = salesforce.SaveResult{ID: r.ID, Success: true}
		}
		return results, nil
	}}
}
