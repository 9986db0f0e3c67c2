package operate_test

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/test/harness"
)

const adminToken = "adm1n-t0ken"

// seenOnPage is what page.mjs prints.
type seenOnPage struct {
	Hidden                                             bool
	Overview, Review, Events, Event, Conflict, Current string
	Replayed, BadAddress, ShownTime                    string
	BadTime, Times                                     []string
	NothingToDo                                        bool
	Accepted, Counted, Discarded                       string
	Forced, AfterLateCount                             string
	Effects                                            string `json:"Side effects"`
	Drift, Sources, Spool                              string
	WithoutReason, Markup, Kept                        int
	Left                                               []any
	Requests, Errors                                   []string
}

// nasty is what a sender would like the page to run.
const nasty = `</pre><script>throw 1</script><img src=x onerror=throw/1>`

// shownTime is how the page writes times.
const shownTime = `^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$`

// The operators' page is driven as a person would, on a running bridge whose
// events are full of markup.
func TestTheOperatorsPage(t *testing.T) {
	t.Parallel()
	clients := harness.NeedNode(t, "operate")
	w := newWorld(t, func(c *harness.Config) {
		c.Admin, c.Env["ADMIN"] = `{listen: 127.0.0.1:0, token: "${ADMIN}"}`, adminToken
	})
	note, err := json.Marshal(nasty)
	require.NoError(t, err)
	payload := func(id, kind, amount string) string {
		return `{"id":"` + id + `","type":"` + kind + `","version":1,"charge":"ch_1","at":1767225600,"amount":` + amount +
			`,"digits":12345678901234567890,"note":` + string(note) + `}`
	}
	w.deliver(charge("evt_0", -1, "3"))
	w.deliver(payload("evt/1 a", "charge", "12.50"))
	w.deliver(payload("evt/1 a", "charge", "12.50"))
	w.org.Settle(t)
	_, conflict := w.deliver(payload("evt/1 a", "charge", "99.10"))
	_, another := w.deliver(payload("evt/1 a", "charge", "77.70"))
	w.deliver(payload("evt_2", "<b onclick=x>", "1"))
	w.deliver(payload("evt_3", "charge", `"<i>"`))
	w.org.Settle(t)

	page := drivePage(t, clients, w, conflict)
	assert.Empty(t, page.Errors)
	assert.True(t, page.Hidden, "nothing is shown before somebody has signed in")
	assert.Contains(t, page.Overview, "4wait for a person")
	for _, part := range []string{"4 events wait for a person", "UNMATCHED", "<b onclick=x>", "CONFLICT", "FIELD"} {
		assert.Contains(t, page.Review, part)
	}
	assert.Contains(t, page.Events, "shop:evt_2")
	assert.Contains(t, page.Event, `"digits": 12345678901234567890`, "digits are those that came")
	assert.Contains(t, page.Event, nasty)
	assert.Contains(t, page.Event, "Received → Completed by bridge")
	assert.Contains(t, page.Event, conflict)
	assert.Contains(t, page.Conflict, "$.amount12.5099.10")
	assert.Contains(t, page.Conflict, another, "the other conflict")
	assert.Equal(t, "Events", page.Current)
	assert.Zero(t, page.Markup, "what came is text")
	assert.Zero(t, page.WithoutReason, "accepting needs a reason")
	assert.Equal(t, "accept: 1 done.", page.Accepted)
	assert.NotEqual(t, "2 events", page.Forced, "completed ones too")
	assert.Equal(t, page.Forced, page.AfterLateCount, "a late answer doesn't replace a newer one")
	assert.Contains(t, page.Counted, "1 events to discard")
	assert.Equal(t, "discard: 1 done.", page.Discarded)
	assert.Equal(t, "replay: 1 done.", page.Replayed, "asked for once, a completed event is replayed")
	assert.Contains(t, page.BadAddress, "since is not a time")
	assert.Contains(t, page.BadAddress, "Provider's object", "the form stays")
	require.Len(t, page.BadTime, 2)
	assert.Equal(t, "#/events?since=yesterday", page.BadTime[0])
	assert.Contains(t, page.BadTime[1], "Write a time like")
	assert.Regexp(t, shownTime, page.ShownTime+" UTC")
	assert.NotEmpty(t, page.Times)
	for _, at := range page.Times {
		assert.Regexp(t, shownTime, at)
	}
	assert.True(t, page.NothingToDo, "what changes nothing can't be confirmed")
	assert.Contains(t, page.Drift, "No source is compared with its provider")
	assert.Contains(t, page.Sources, "/webhooks/shop")
	assert.Contains(t, page.Spool, "None.")
	assert.Zero(t, page.Kept, "nothing outlives the tab")
	require.Len(t, page.Left, 2)
	assert.Contains(t, page.Left[0], "Sign in")
	assert.Zero(t, page.Left[1])
	for _, r := range page.Requests {
		assert.NotContains(t, r, adminToken)
	}

	w.org.Settle(t)
	w.ends(conflict, "Completed", "Updated")
	assert.Contains(t, w.event(conflict)["History__c"], "Review -> Received by Žofia: accept: the shop has confirmed it")
	assert.Equal(t, "99.1 <nil> "+conflict, w.payment())
	w.ends("shop:evt_2", "Completed", "Discarded")
	w.ends("shop:evt_0", "Completed", "Stale")
	logged := w.bridge.Log().String()
	assert.Contains(t, logged, `"msg":"admin action","action":"discard","by":"Žofia"`)
	assert.NotContains(t, logged, adminToken)
}

// What the page reads without a bridge: digits are kept, times are understood.
func TestThePageReads(t *testing.T) {
	t.Parallel()
	for _, script := range []string{"json.mjs", "when.mjs"} {
		out, err := harness.NeedNode(t, "operate").Run(t, harness.Command{
			Args: []string{"node", script}, Env: []string{"PAGE=" + filepath.Join(harness.Root(t), "bridge", "console", "page")}})
		require.NoError(t, err)
		assert.JSONEq(t, `[]`, string(out), script)
	}
}

func drivePage(t *testing.T, clients harness.Clients, w *world, conflict string) seenOnPage {
	t.Helper()
	answer, err := http.Get(w.bridge.AdminURL() + "/console")
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusOK, answer.StatusCode)
	out, err := clients.Run(t, harness.Command{Args: []string{"node", "page.mjs"}, Env: []string{
		"BASE=" + w.bridge.AdminURL(), "TOKEN=" + adminToken, "PAGE=" + filepath.Join(harness.Root(t), "bridge", "console", "page"),
		"EVENT=shop:evt/1 a", "CONFLICT=" + conflict, "EARLIER=shop:evt_0",
	}})
	require.NoError(t, err)
	var page seenOnPage
	require.NoError(t, json.Unmarshal(out, &page))
	return page
}
