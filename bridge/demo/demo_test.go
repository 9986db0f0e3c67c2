package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
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
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// failing runs the demo with a small burst and gives the names of failed checks
// and scenes.
func failing(t *testing.T, seams app.Seams) (failed []string, report Report) {
	t.Helper()
	report, err := Run(t.Context(), Config{Events: 200, Latency: 2 * time.Millisecond, Patience: 2 * time.Minute, Seams: seams})
	require.NoError(t, err)
	require.Len(t, report.Checks, 9)
	require.Len(t, report.Scenes, 4)
	for _, c := range slices.Concat(report.Checks, report.Scenes) {
		if !c.OK {
			t.Log(c.Name, c.Detail)
			failed = append(failed, c.Name)
		}
	}
	return failed, report
}

func TestEveryCheckAndScenePasses(t *testing.T) {
	t.Parallel()
	failed, report := failing(t, app.Seams{})
	assert.Empty(t, failed)
	assert.True(t, report.OK())
	assert.Positive(t, report.APICalls)
	assert.Positive(t, report.CallsPerEvent)
	assert.Equal(t, 1+1+3+2+200+20+200+2+3+5+2+2, report.Records[event.Object], "every accepted event and repair has one row")
	assert.Equal(t, 1, report.Records[event.EffectObject], "one transition, one effect")
}

func TestAFailedSceneFailsTheDemo(t *testing.T) {
	t.Parallel()
	held, broken := []Check{{Name: "a", OK: true}}, []Check{{Name: "a", OK: true}, {Name: "b"}}
	assert.True(t, Report{Checks: held, Scenes: held}.OK())
	assert.False(t, Report{Checks: held, Scenes: broken}.OK())
	assert.False(t, Report{Checks: broken, Scenes: held}.OK())
	assert.False(t, Report{Checks: held}.OK(), "what was not played has not passed")
}

// What scripts read of the report.
func TestReportAsJSON(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(Report{
		Checks: []Check{{Name: "burst", OK: true, Detail: "fine"}}, Scenes: []Check{{Name: "effect_once"}},
		Records: map[string]int{"Payment__c": 2}, APICalls: 3, CallsPerEvent: 0.02, Seconds: 1.5,
	})
	require.NoError(t, err)
	assert.JSONEq(t, `{"checks":[{"name":"burst","ok":true,"detail":"fine"}],"scenes":[{"name":"effect_once","ok":false,"detail":""}],
		"records":{"Payment__c":2},"api_calls":3,"calls_per_event":0.02,"seconds":1.5}`, string(text))
	names := func(acts []act) (list []string) {
		for _, a := range acts {
			list = append(list, a.name)
		}
		return list
	}
	assert.Equal(t, []string{
		"same_twice", "ten_at_once", "one_entity", "out_of_order", "bad_row", "lost_reply", "bad_signature", "burst", "replay",
	}, names(checks))
	assert.Equal(t, []string{"effect_once", "drift_repaired", "conflict_accepted", "archive_restored"}, names(scenes))
}

// Each check and scene is made to fail by breaking the part it watches, and no
// other fails with it.
func TestABrokenPartFailsItsOwnCheckAndNoOther(t *testing.T) {
	t.Parallel()
	for check, seams := range map[string]app.Seams{
		"same_twice":        {Stager: forgetful("same_twice")},
		"ten_at_once":       {Stager: forgetful("ten_at_once")},
		"one_entity":        {Applier: orders(by("one_entity"), backwards)},
		"out_of_order":      {Applier: orders(by("out_of_order"), backwards)},
		"bad_row":           {Applier: spoilsMates},
		"lost_reply":        {Stager: givesUp("lost_reply")},
		"bad_signature":     {Verifier: believesAll},
		"burst":             {Org: oneCallAnEvent("burst")},
		"replay":            {Org: neverReplays("replay")},
		"effect_once":       {Org: seesNoState("effect_once")},
		"drift_repaired":    {Applier: orders(event.IsRepair, older)},
		"conflict_accepted": {Applier: orders(event.IsConflict, older)},
		"archive_restored":  {Org: restoresAnother},
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

// by chooses the events of a check by their ids.
func by(check string) func(id string) bool {
	return func(id string) bool { return ownedBy(id, check) }
}

func backwards(order int64) int64 { return 2*begin*1000 - order }
func older(order int64) int64     { return order - 1 }

// orders is an applier that reads the order of the chosen events wrongly.
func orders(chosen func(id string) bool, wrong func(int64) int64) func(poll.Applier) poll.Applier {
	return func(next poll.Applier) poll.Applier {
		return applierDouble(func(ctx context.Context, batch []*event.Event) (apply.Report, error) {
			for _, e := range batch {
				if chosen(e.ID) && e.Order != nil {
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
