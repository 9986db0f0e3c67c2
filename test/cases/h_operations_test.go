package cases_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/test/harness"
)

// Salesforce is down: the process is alive all the time, and ready only while
// a write can be made; the answers tell nothing of the inside.
func TestH03Health(t *testing.T) {
	t.Parallel()
	w := serveStaged(t, generic("shop", things))
	health := func(path string) (int, string) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.bridge.URL()+path, nil)
		require.NoError(t, err)
		r, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		defer r.Body.Close()
		var said struct{ Status string }
		require.NoError(t, json.NewDecoder(r.Body).Decode(&said))
		return r.StatusCode, said.Status
	}
	status, word := health("/readyz")
	assert.Equal(t, []any{200, "ready"}, []any{status, word})
	w.org.Plant(t, harness.Fault{"operation": "*", "fault": "html_503", "times": 0})
	w.status(w.send("shop", `{"id":"a"}`), http.StatusServiceUnavailable, "unavailable")
	status, word = health("/readyz")
	assert.Equal(t, []any{503, "unavailable"}, []any{status, word})
	status, word = health("/healthz")
	assert.Equal(t, []any{200, "alive"}, []any{status, word})
	w.org.ClearFaults(t)
	w.org.Eventually(t, "ready again", w.bridge.Readiness(http.StatusOK))
	w.accepted("shop", `{"id":"a"}`)
}

// Salesforce is down and the spool works: deliveries are taken and told so, the
// process stays ready, what waits is measured, and goes home by itself.
func TestH03TheSpoolBridgesAnOutage(t *testing.T) {
	t.Parallel()
	w := serve(t, generic("shop", things))
	w.org.Plant(t, harness.Fault{"operation": "*", "fault": "html_503", "times": 0})
	w.status(w.send("shop", `{"id":"a","object":"o1"}`), http.StatusAccepted, "spooled")
	w.status(w.send("shop", `{"id":"a","object":"o1"}`), http.StatusAccepted, "spooled")
	w.status(w.send("shop", `{"id":"b","object":"o2"}`), http.StatusAccepted, "spooled")
	w.org.Eventually(t, "ready", w.bridge.Readiness(http.StatusOK))
	assert.Equal(t, "3", w.metric("bridge_spool_depth"))
	w.bridge.Kill(t)
	w.bridge.Start(t)
	w.org.Eventually(t, "the spool is seen after a kill", func(context.Context) (bool, error) {
		return w.metric("bridge_spool_depth") == "3", nil
	})
	w.org.ClearFaults(t)
	w.org.Eventually(t, "the spool is empty", func(context.Context) (bool, error) {
		return w.metric("bridge_spool_depth") == "0", nil
	})
	rows := w.settled()
	w.completed(rows["shop:a"], "Created")
	w.completed(rows["shop:b"], "Created")
	assert.Equal(t, 2, w.org.Count(t, "SELECT COUNT() FROM Inbound_Event__c"), "one row an event")
}

// Every mistake of settings and mappings is told at once, by file, line and
// path, before anything runs.
func TestH05EveryMistakeAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "bridge.yaml", `listen: 127.0.0.1:0
pollr: {interval: 1s}
salesforce:
  login_url: https://acme.my.salesforce.com
  auth: {flow: client_credentials, client_id: c, client_secret: "${NOT_SET}"}
store: {dir: ./data}
mappings: [m/*.yaml]
`)
	write(t, dir, "good.yaml", `source: shop
provider: generic
secrets: ["${HOOK}"]
event: {id: $.id, type: $.type, volatile: ["$.a["]}
routes:
  - name: one
    records:
      - object: Thing__c
        extrenal_id: x
        fields:
          Title__c: $.title
          title__c: $.name
          Qty__c: {from: $.qty, as: numbre}
`)
	m := harness.Invoke(t, nil, "check", "--config", dir+"/bridge.yaml")
	assert.Equal(t, 1, m.Code)
	assert.Contains(t, m.Out+m.Err, "bridge.yaml:2:1: pollr")

	write(t, dir, "bridge.yaml", `listen: 127.0.0.1:0
salesforce:
  login_url: https://acme.my.salesforce.com
  auth: {flow: client_credentials, client_id: c, client_secret: "${NOT_SET}"}
store: {dir: ./data}
mappings: [good.yaml, empty.yaml]
`)
	write(t, dir, "empty.yaml", "")
	for _, command := range []string{"check", "serve"} {
		r := harness.Invoke(t, nil, command, "--config", dir+"/bridge.yaml")
		assert.Equal(t, 1, r.Code, command)
		for _, told := range []string{"good.yaml:4:", "volatile", "good.yaml:9:", "extrenal_id", "key", "good.yaml:12:", "title__c", "good.yaml:13:", "numbre", "empty.yaml"} {
			assert.Contains(t, r.Out+r.Err, told, command)
		}
	}
	unset := harness.Invoke(t, nil, "serve", "--config", dir+"/bridge.yaml")
	assert.Contains(t, unset.Err, "NOT_SET")
}

// What waits can be seen: due rows and their age, rows for people, calls by
// class, and the share of the day's calls.
func TestH07BacklogIsVisible(t *testing.T) {
	t.Parallel()
	w := prepare(t, func(c *harness.Config) { c.Only = []string{"process"} }, generic("shop", "unmatched: review\n"+`
routes:
  - name: all
    when: {type: known}
    records: [{object: Thing__c, key: {field: Ext__c, from: $.id}, fields: {Title__c: $.title}}]
`))
	w.staged("shop", `{"id":"a","type":"unknown"}`)
	w.bridge.Start(t)
	w.review(w.settled()["shop:a"], "UNMATCHED")
	w.bridge.Stop(t)
	w.staged("shop", `{"id":"b","type":"known"}`, `{"id":"c","type":"known"}`)
	w.org.Plant(t, harness.Fault{"operation": "collections_upsert", "fault": "unavailable", "times": 0})
	w.bridge.Start(t)
	w.rests(0)
	metrics := ours(w.bridge.Metrics(t))
	assert.Contains(t, metrics, "bridge_due_events 2")
	assert.Contains(t, metrics, "bridge_review_events 1")
	assert.Regexp(t, `bridge_oldest_due_seconds \d*\.\d*[1-9]`, metrics)
	assert.Regexp(t, `bridge_salesforce_calls_total\{class="unknown_outcome",operation="composite"\} [1-9]`, metrics)
	assert.Regexp(t, `bridge_salesforce_budget_used \d*\.?\d*[1-9]`, metrics)
	w.org.ClearFaults(t)
	w.settled()
}

// ours are the bridge's own metrics.
func ours(metrics string) string {
	var lines []string
	for line := range strings.Lines(metrics) {
		if strings.HasPrefix(line, "bridge_") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

// Before the first event there are zeros, not errors.
func TestH08NothingYet(t *testing.T) {
	t.Parallel()
	w := serve(t, generic("shop", things))
	metrics := ours(w.bridge.Metrics(t))
	for _, name := range []string{"bridge_due_events", "bridge_review_events", "bridge_oldest_due_seconds"} {
		assert.Contains(t, metrics, name+" 0\n")
	}
	list := harness.Invoke(t, w.bridge.Config.Environment(), "events", "--config", w.bridge.File())
	assert.Equal(t, 0, list.Code, list.Err)
	assert.NotContains(t, list.Out+list.Err, "rror")
}
