package stage

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/event"
	"sfbridge/salesforce"
)

func TestEventsFromBeforeTheHorizonGoToReview(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	tests := []struct {
		name    string
		horizon map[string]time.Duration // ago, by queue
		change  func(*event.Event)
		ago     time.Duration // the event
		code    string
		asked   int
	}{
		{"older", map[string]time.Duration{"B03": 90 * day}, nil, 91 * day, event.CodeTooOld, 1},
		{"as old", map[string]time.Duration{"B03": 90 * day}, nil, 90 * day, "", 1},
		{"younger", map[string]time.Duration{"B03": 90 * day}, nil, 89 * day, "", 1},
		{"nothing was deleted", nil, nil, 91 * day, "", 1},
		{"another queue's", map[string]time.Duration{"B04": 90 * day}, nil, 91 * day, "", 1},
		{"the other processor's", map[string]time.Duration{"O03": 90 * day}, nil, 91 * day, event.CodeTooOld, 1},
		{"of the org's", map[string]time.Duration{"B03": 90 * day}, func(e *event.Event) { e.HomeQueue = "O03" }, 91 * day, event.CodeTooOld, 1},
		{"fresh, no call", map[string]time.Duration{"B03": 0}, nil, 29 * time.Minute, "", 0},
		{"without a time", map[string]time.Duration{"B03": 0}, func(e *event.Event) { e.SourceTime = time.Time{} }, 91 * day, "", 0},
		{"a repair", map[string]time.Duration{"B03": 0}, func(e *event.Event) { e.ID = "stripe:reconcile:ch_1:1:2" }, 91 * day, "", 0},
		{"in review anyway", map[string]time.Duration{"B03": 0}, func(e *event.Event) { e.Status, e.ErrorCode = event.Review, event.CodeSchema }, 91 * day, event.CodeSchema, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				org, s := setup(t, nil)
				org.horizons = map[string]time.Time{}
				for queue, ago := range tt.horizon {
					org.horizons[queue] = time.Now().Add(-ago)
				}
				e := newEvent("evt_1", "aa")
				e.HomeQueue, e.SourceTime = "B03", time.Now().Add(-tt.ago)
				if tt.change != nil {
					tt.change(e)
				}
				answer := s.Stage(t.Context(), requests(e))[0]
				assert.Equal(t, Answer{EventID: e.ID, Status: Accepted}, answer)
				row := org.rows[e.ID]
				assert.Equal(t, tt.code, row.String(event.FieldErrorCode))
				if tt.code == event.CodeTooOld {
					assert.Equal(t, "Review", row.String(event.FieldStatus))
					assert.Empty(t, row.String(event.FieldQueue))
					assert.Contains(t, row.String(event.FieldHistory), "rows received up to")
				}
				assert.Equal(t, tt.asked, org.asked)
				require.NoError(t, s.Close(t.Context()))
			})
		})
	}
}

func TestOldEventsStagedTogetherAreScreenedToo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		org, s := setup(t, nil)
		e := newEvent("evt_1", "aa")
		e.SourceTime = time.Now().Add(-time.Hour)
		org.horizons = map[string]time.Time{e.HomeQueue: time.Now()}
		assert.Equal(t, Accepted, s.StageTogether(t.Context(), requests(e))[0].Status)
		assert.Equal(t, event.CodeTooOld, org.rows[e.ID].String(event.FieldErrorCode))
		require.NoError(t, s.Close(t.Context()))
	})
}

func TestHorizonsAreAskedForOnceInAWhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		org, s := setup(t, nil)
		org.latency = time.Second
		old := func(n int) []*event.Event {
			var events []*event.Event
			for i := range 50 {
				e := newEvent(string(rune('a'+n))+string(rune('a'+i)), "aa")
				e.SourceTime = time.Now().Add(-100 * time.Hour)
				events = append(events, e)
			}
			return events
		}
		stageAll(s, old(0))
		assert.Equal(t, 1, org.asked, "all wait for one answer")
		stageAll(s, old(1))
		assert.Equal(t, 1, org.asked)
		time.Sleep(horizonsFor)
		e := old(2)[0]
		org.horizons = map[string]time.Time{e.HomeQueue: time.Now()}
		s.Stage(t.Context(), requests(e))
		assert.Equal(t, 2, org.asked)
		assert.Equal(t, event.CodeTooOld, org.rows[e.ID].String(event.FieldErrorCode), "a moved horizon is seen in time")
		s.Stage(t.Context(), requests(e))
		assert.Equal(t, 2, org.asked, "a known event needs no horizon")
		require.NoError(t, s.Close(t.Context()))
	})
}

func TestOldEventsWaitForAnOrgThatCantBeAsked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		org, s := setup(t, nil)
		org.away = errors.New("away")
		e := newEvent("evt_1", "aa")
		e.SourceTime = time.Now().Add(-time.Hour)
		fresh := newEvent("evt_2", "aa")
		fresh.SourceTime = time.Now()
		answers := s.Stage(t.Context(), requests(e, fresh))
		var unavailable *Unavailable
		assert.ErrorAs(t, answers[0].Err, &unavailable)
		assert.ErrorIs(t, answers[0].Err, org.away)
		assert.Equal(t, Accepted, answers[1].Status)

		org.latency, org.away = time.Minute, nil
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		assert.ErrorIs(t, s.Stage(ctx, requests(e))[0].Err, context.DeadlineExceeded)
		time.Sleep(time.Minute)
		require.NoError(t, s.Close(t.Context()))
	})
}

// An org that is away and one that refuses are different work for a person.
func TestUnknownHorizonsSayWhy(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]*salesforce.Error{
		"Salesforce can't be reached":                      {Op: "query", Fault: salesforce.Fault{Class: salesforce.ClassRetryable}},
		"Salesforce does not say which events are too old": {Op: "query", Status: 400, Fault: salesforce.Fault{Class: salesforce.ClassConfiguration}},
	} {
		var u *Unavailable
		require.ErrorAs(t, unknownHorizons(err), &u)
		assert.Equal(t, want, u.Reason)
	}
}
