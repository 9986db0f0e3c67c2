package truth_test

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/test/harness"
)

// report is what bridge reconcile prints, as far as it matters here.
type report struct {
	Sweeps []struct {
		Source, Problem                    string
		Finished                           bool
		Objects, Missing, Different, Pages int
		Repaired                           int `json:"repaired_objects"`
		Drift                              []struct{ Kind, Key, Repair string }
	}
}

func once(t *testing.T, c harness.Config, b *harness.Bridge, args ...string) (report, harness.Result) {
	t.Helper()
	r := harness.Invoke(t, c.Environment(), append([]string{"reconcile", "--once", "--config", b.File()}, args...)...)
	var out report
	if r.Out != "" {
		require.NoError(t, json.Unmarshal([]byte(r.Out), &out), r.Out)
	}
	return out, r
}

func wrong(t *testing.T, org *harness.Org, b *harness.Bridge) {
	t.Helper()
	deliver(t, b, "evt_1", charge{"ch_1", 12.5, "Pending", start})
	deliver(t, b, "evt_2", charge{"ch_2", 7, "Succeeded", start})
	org.Settle(t)
	require.Equal(t, 2, org.Count(t, "SELECT COUNT() FROM Payment__c"))
}

// TestDriftIsFoundAndRepaired: one event got lost, one never came. The command
// finds both and stages them; the service applies them; a second look finds
// nothing.
func TestDriftIsFoundAndRepaired(t *testing.T) {
	t.Parallel()
	org := harness.StartOrg(t, "--samples")
	s := newShop(t, charge{"ch_1", 12.5, "Succeeded", start + 60}, charge{"ch_2", 7, "Succeeded", start}, charge{"ch_3", 1.25, "Pending", start})
	c := config(org, s, true)
	c.Only = []string{"receive", "process"}
	b := harness.StartBridge(t, c)
	wrong(t, org, b)

	found, r := once(t, c, b)
	require.Equal(t, 0, r.Code, "all of it is under repair: %s%s", r.Out, r.Err)
	require.Len(t, found.Sweeps, 1)
	sweep := found.Sweeps[0]
	assert.True(t, sweep.Finished, sweep.Problem)
	assert.Equal(t, []int{3, 2, 1, 1, 2}, []int{sweep.Objects, sweep.Pages, sweep.Missing, sweep.Different, sweep.Repaired})
	org.Settle(t)
	rows := org.Query(t, "SELECT Stripe_Charge_Id__c, Amount__c, Status__c, Source_Event__c FROM Payment__c ORDER BY Stripe_Charge_Id__c")
	require.Len(t, rows, 3)
	assert.Equal(t, "Succeeded", rows[0]["Status__c"])
	assert.Equal(t, sweep.Drift[0].Repair, rows[0]["Source_Event__c"])
	assert.Equal(t, "Pending", rows[2]["Status__c"])
	assert.Equal(t, 2, org.Count(t, "SELECT COUNT() FROM Inbound_Event__c WHERE Event_Id__c LIKE 'shop:reconcile:%' AND Status__c = 'Completed'"))

	again, r := once(t, c, b, "--source", "shop")
	require.Equal(t, 0, r.Code, r.Out)
	assert.Zero(t, again.Sweeps[0].Missing+again.Sweeps[0].Different)
	assert.NotContains(t, r.Out+r.Err, "shop-key")
}

// TestExitCodes: a cron job can tell what it has to do.
func TestExitCodes(t *testing.T) {
	t.Parallel()
	org := harness.StartOrg(t, "--samples")
	s := newShop(t, charge{"ch_9", 1, "Pending", start})
	c := config(org, s, false)
	c.Only = []string{"receive"}
	b := harness.StartBridge(t, c)
	found, r := once(t, c, b)
	assert.Equal(t, 1, r.Code, "something is left for a person")
	assert.Equal(t, "missing", found.Sweeps[0].Drift[0].Kind)
	_, r = once(t, c, b, "--source", "none")
	assert.Equal(t, 2, r.Code)
	assert.Equal(t, 2, harness.Invoke(t, c.Environment(), "reconcile", "--config", b.File()).Code)
	s.Close()
	found, r = once(t, c, b)
	assert.Equal(t, 1, r.Code)
	assert.Contains(t, found.Sweeps[0].Problem, "does not answer")
}

// TestTheServiceComparesBySchedule and tells of it: in the admin API and in its
// metrics.
func TestTheServiceComparesBySchedule(t *testing.T) {
	t.Parallel()
	org := harness.StartOrg(t, "--samples")
	s := newShop(t, charge{"ch_1", 12.5, "Pending", start})
	b := harness.StartBridge(t, config(org, s, true))
	org.Eventually(t, "the charge was not repaired", func(context.Context) (bool, error) {
		return org.Count(t, "SELECT COUNT() FROM Payment__c WHERE Stripe_Charge_Id__c = 'ch_1'") == 1, nil
	})
	org.Eventually(t, "the sweep does not show", func(context.Context) (bool, error) {
		var drift struct {
			Drift []struct {
				Source  string
				Missing int
			}
		}
		require.Equal(t, http.StatusOK, admin(t, b, "GET", "/drift", "", &drift))
		return len(drift.Drift) == 1 && drift.Drift[0].Source == "shop" && drift.Drift[0].Missing == 1, nil
	})
	assert.Contains(t, b.Metrics(t), `bridge_drift_total{kind="missing",source="shop"} 1`)
}

// TestOperatorsOverHTTP: what the admin API shows and moves is what is there.
func TestOperatorsOverHTTP(t *testing.T) {
	t.Parallel()
	org := harness.StartOrg(t, "--samples")
	s := newShop(t)
	c := config(org, s, false)
	c.Only = []string{"receive", "process"}
	b := harness.StartBridge(t, c)
	deliver(t, b, "evt_1", charge{"ch_1", 12.5, "Broken", start})
	deliver(t, b, "evt/2", charge{"ch_2", 1, "Broken", start})
	deliver(t, b, "evt_3", charge{"ch_3", 1, "Pending", start})
	org.Settle(t)

	var page struct {
		Events []struct {
			EventID string `json:"event_id"`
			Status  string
		}
		Next *string
	}
	require.Equal(t, 200, admin(t, b, "GET", "/events?status=review&limit=1", "", &page))
	require.Len(t, page.Events, 1)
	require.NotNil(t, page.Next)
	first := page.Events[0].EventID
	require.Equal(t, 200, admin(t, b, "GET", "/events?status=review&limit=1&cursor="+*page.Next, "", &page))
	assert.NotEqual(t, first, page.Events[0].EventID)
	assert.Nil(t, page.Next)

	var story struct {
		Payload map[string]any
		History []string
	}
	require.Equal(t, 200, admin(t, b, "GET", "/events/shop:evt%2F2", "", &story))
	assert.Equal(t, "evt/2", story.Payload["id"])
	assert.Equal(t, 400, admin(t, b, "POST", "/events/shop:evt%2F2/discard", `{}`, nil), "a reason is needed")
	assert.Equal(t, 200, admin(t, b, "POST", "/events/shop:evt%2F2/discard", `{"reason":"a test of the shop's"}`, nil))
	assert.Equal(t, 409, admin(t, b, "POST", "/events/shop:evt%2F2/discard", `{"reason":"twice"}`, nil))
	assert.Equal(t, 404, admin(t, b, "POST", "/events/shop:none/replay", ``, nil))
	require.Equal(t, 200, admin(t, b, "GET", "/events/shop:evt%2F2/history", "", &story))
	assert.Contains(t, story.History[len(story.History)-1], "Review -> Completed by ada: discard: a test of the shop's")
	assert.Equal(t, 1, org.Count(t, "SELECT COUNT() FROM Inbound_Event__c WHERE Outcome__c = 'Discarded'"))

	var done struct{ Matched, Done int }
	require.Equal(t, 200, admin(t, b, "POST", "/replay", `{"filter":{"source":"shop","status":["review"]},"dry_run":true}`, &done))
	assert.Equal(t, 1, done.Matched)
	assert.Zero(t, done.Done)
	require.Equal(t, 200, admin(t, b, "POST", "/replay", `{"filter":{"source":"shop","status":["review"]},"reason":"again"}`, &done))
	assert.Equal(t, 1, done.Done)
	org.Settle(t)
	assert.Equal(t, 1, org.Count(t, "SELECT COUNT() FROM Inbound_Event__c WHERE Status__c = 'Review' AND Replay_Count__c = 1"), "it fails as before")

	var sources struct{ Sources []map[string]any }
	require.Equal(t, 200, admin(t, b, "GET", "/sources", "", &sources))
	assert.Equal(t, "shop", sources.Sources[0]["source"])
	var stats struct{ Stats map[string]any }
	require.Equal(t, 200, admin(t, b, "GET", "/stats", "", &stats))
	assert.Contains(t, stats.Stats, "bridge_deliveries_total")
	assert.Contains(t, stats.Stats, "bridge_stage_seconds_count")
	require.Equal(t, 200, admin(t, b, "GET", "/effects", "", nil))

	reply, err := http.Get(b.URL() + "/admin/v1/events") //nolint:noctx // a test of the route
	require.NoError(t, err)
	require.NoError(t, reply.Body.Close())
	assert.Equal(t, 404, reply.StatusCode, "not where providers come")
	reply, err = http.Get(b.AdminURL() + "/admin/v1/events") //nolint:noctx // a test of the token
	require.NoError(t, err)
	require.NoError(t, reply.Body.Close())
	assert.Equal(t, 401, reply.StatusCode)
}
