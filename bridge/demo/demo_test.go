package demo

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"sfbridge/bridge/app"
	"sfbridge/bridge/event"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// quick is a demo with a small burst on a fast org. Its patience is for machines
// that are busy with much else.
func quick(seams app.Seams) Config {
	return Config{Events: 200, Latency: 2 * time.Millisecond, Patience: 2 * time.Minute, Seams: seams}
}

// failing plays acts and gives the names of those that failed.
func failing(t *testing.T, cfg Config, names ...string) (failed []string) {
	t.Helper()
	d, err := Start(t.Context(), cfg)
	require.NoError(t, err)
	defer func() { assert.NoError(t, d.Close()) }()
	var acts []act
	for _, a := range slices.Concat(checks, scenes) {
		if slices.Contains(names, a.name) {
			acts = append(acts, a)
		}
	}
	require.Len(t, acts, len(names))
	played, err := d.play(t.Context(), acts)
	require.NoError(t, err)
	return failedOf(t, played)
}

func failedOf(t *testing.T, played []Check) (failed []string) {
	t.Helper()
	for _, c := range played {
		if !c.OK {
			t.Log(c.Name, c.Detail)
			failed = append(failed, c.Name)
		}
	}
	return failed
}

func TestEveryCheckAndScenePasses(t *testing.T) {
	t.Parallel()
	report, err := Run(t.Context(), quick(app.Seams{Stager: together("burst", 200)}))
	require.NoError(t, err)
	assert.Len(t, report.Checks, 9)
	assert.Len(t, report.Scenes, 4)
	assert.Empty(t, failedOf(t, slices.Concat(report.Checks, report.Scenes)))
	assert.True(t, report.OK())
	assert.Positive(t, report.APICalls)
	assert.Positive(t, report.CallsPerEvent)
	assert.Equal(t, 1+1+3+2+200+20+200+2+3+5+2+2, report.Records[event.Object], "every accepted event and repair has one row")
	assert.Equal(t, 1, report.Records[event.EffectObject], "one transition, one effect")
}

// The console of a demo that is kept up.
func TestTheConsoleOpensWithTheTokenThatIsTold(t *testing.T) {
	t.Parallel()
	d, err := Start(t.Context(), quick(app.Seams{}))
	require.NoError(t, err)
	defer func() { assert.NoError(t, d.Close()) }()
	client := newClient(time.Minute)
	defer client.CloseIdleConnections()
	get := func(url, token string) int {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer "+token)
		reply, err := client.Do(r)
		require.NoError(t, err)
		require.NoError(t, reply.Body.Close())
		return reply.StatusCode
	}
	assert.Equal(t, http.StatusOK, get(d.ConsoleURL(), ""))
	events := strings.TrimSuffix(d.ConsoleURL(), "/console") + "/admin/v1/events"
	assert.Equal(t, http.StatusOK, get(events, d.Token()))
	assert.Equal(t, http.StatusUnauthorized, get(events, d.Token()+"x"))
	assert.NotEqual(t, Config{}.withDefaults().Token, Config{}.withDefaults().Token, "each demo has its own")
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
