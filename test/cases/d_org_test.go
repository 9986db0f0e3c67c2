package cases_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/test/harness"
)

// rests waits for the poller's word that it rests, from a mark of the log on.
func (w world) rests(mark int) string {
	w.Helper()
	line, ok := w.bridge.Log().Wait(harness.Patient(w), mark, "the poller rests")
	require.True(w, ok)
	return line
}

// answering has the next call that matches answered by the test.
func (w world) answering(match func(*harness.Call) bool, status int, contentType, body string) func() {
	w.Helper()
	call := w.wire.Trap(match)
	return func() {
		w.Helper()
		call(w).Reply(harness.Answer{Status: status, Header: http.Header{"Content-Type": {contentType}}, Body: []byte(body)})
	}
}

// The day's calls are used up: no new login, a long rest, no attempt charged;
// when calls are there again all goes on. Too many calls at once is the same
// with a short rest.
func TestD02CallsUsedUp(t *testing.T) {
	t.Parallel()
	for fault, long := range map[string]bool{"limit": true, "concurrent_limit": false} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			w := prepare(t, func(c *harness.Config) { overWire(t)(c); c.Only = []string{"process"} }, generic("shop", things))
			w.staged("shop", `{"id":"a"}`, `{"id":"b"}`)
			w.org.Plant(t, harness.Fault{"operation": "collections_upsert", "fault": fault, "times": 2})
			w.bridge.Start(t)
			line := w.rests(0)
			assert.Contains(t, line, `"class":"limit"`)
			assert.Len(t, w.wire.Calls(harness.Logins), 1, "no new login")
			if long {
				assert.Contains(t, w.bridge.Metrics(t), "bridge_due_events 2")
				w.bridge.Stop(t) // the rest takes minutes
				w.org.ClearFaults(t)
				w.bridge.Start(t)
			}
			for _, row := range w.settled() {
				w.completed(row, "Created")
				assert.Zero(t, attempts(t, row))
			}
		})
	}
}

// A session that ends in the middle costs one login, and no event an attempt.
func TestD03ExpiredSession(t *testing.T) {
	t.Parallel()
	w := prepare(t, overWire(t), generic("shop", things))
	w.bridge.Start(t)
	w.accepted("shop", `{"id":"a"}`)
	w.settled()
	before := len(w.wire.Calls(harness.Logins))
	w.org.Plant(t, harness.Fault{"operation": "collections_upsert", "fault": "expire_session"})
	w.accepted("shop", `{"id":"b"}`)
	row := w.settled()["shop:b"]
	w.completed(row, "Created")
	assert.Zero(t, attempts(t, row))
	assert.Len(t, w.wire.Calls(harness.Logins), before+1)
}

// Of five rows one is refused and one is locked: three are done at once, the
// refused one is a person's, the locked one is tried again.
func TestD04RowsThatFail(t *testing.T) {
	t.Parallel()
	w := prepare(t, func(c *harness.Config) { c.Only = []string{"process"} }, generic("shop", things))
	w.staged("shop", `{"id":"a"}`, `{"id":"b"}`, `{"id":"c"}`, `{"id":"d"}`, `{"id":"e"}`)
	w.org.Plant(t, harness.Fault{"operation": "collections_upsert", "key": "b", "fault": "validation", "times": 0},
		harness.Fault{"operation": "collections_upsert", "key": "d", "fault": "lock_row", "times": 3})
	w.bridge.Start(t)
	rows := w.settled()
	w.review(rows["shop:b"], "FIELD_CUSTOM_VALIDATION_EXCEPTION")
	for _, id := range []string{"a", "c", "d", "e"} {
		w.completed(rows["shop:"+id], "Created")
		assert.Zero(t, attempts(t, rows["shop:"+id]))
	}
}

// Keys with every character that an address treats as its own are one record
// each, when it is made and when it is changed.
func TestD06SpecialKeys(t *testing.T) {
	t.Parallel()
	specialKeys(t, "INV/2026/001", "a+b@ex.test", "50% off #1?", "名前 1", "shop:order:98765:v4", "A/../B", "..", ".", `quote'"\`, "a%2Fb", "a&b=c")
}

// Keys that end like a file name too.
func TestD07KeysWithDots(t *testing.T) {
	t.Parallel()
	specialKeys(t, "kim@example.inc", "report.pdf", "x.json")
}

func specialKeys(t *testing.T, keys ...string) {
	t.Helper()
	w := serve(t, generic("shop", strings.Replace(things, "$.id", "$.key", 1)))
	for round, outcome := range []string{"Created", "Updated"} {
		for i, key := range keys {
			text, err := json.Marshal(key)
			require.NoError(t, err)
			w.accepted("shop", fmt.Sprintf(`{"id":"%d-%d","key":%s,"title":"round %d"}`, round, i, text, round))
			w.completed(w.settled()[fmt.Sprintf("shop:%d-%d", round, i)], outcome)
		}
	}
	found := w.records("Thing__c", "Ext__c", "Title__c")
	assert.Len(t, found, len(keys))
	for _, key := range keys {
		assert.Equal(t, "round 1", found[key]["Title__c"], key)
	}
}

// Whatever shape an error comes in, it is told in a few words and tried again.
func TestD09ErrorShapes(t *testing.T) {
	t.Parallel()
	for name, shape := range map[string][2]string{
		"list":      {"application/json", `[{"errorCode":"SERVER_UNAVAILABLE","message":"m","fields":["A"]}]`},
		"oauth":     {"application/json", `{"error":"server_error","error_description":"d"}`},
		"gateway":   {"application/json", `{"status":503,"message":"m","code":"bad"}`},
		"xml":       {"application/xml", `<Errors><Error><errorCode>X</errorCode><message>m</message></Error></Errors>`},
		"empty":     {"application/json", ``},
		"nothing":   {"application/json", `[]`},
		"text":      {"application/json", `"text"`},
		"soap":      {"text/xml", `<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/"><soapenv:Body><soapenv:Fault><faultcode>f</faultcode><faultstring>s</faultstring></soapenv:Fault></soapenv:Body></soapenv:Envelope>`},
		"long html": {"text/html", "<html><body>" + repeat("Bad gateway. ", 400) + "</body></html>"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := prepare(t, func(c *harness.Config) { overWire(t)(c); c.Only = []string{"process"} }, generic("shop", things))
			w.staged("shop", `{"id":"a"}`)
			answer := w.answering(harness.Commits, http.StatusServiceUnavailable, shape[0], shape[1])
			w.bridge.Start(t)
			answer()
			row := w.settled()["shop:a"]
			w.completed(row, "Created")
			assert.Zero(t, attempts(t, row))
			for _, line := range w.bridge.Log().Lines(0) {
				assert.Less(t, len(line), 1500, "an error is told in a few words")
				assert.NotContains(t, line, "invalid character", "no decoder's error")
			}
		})
	}
}

// Two hundred long keys of many bytes are found without an address that is too
// long, and never more than 200 rows go in a call; the switch allOrNone stands
// in the body.
func TestD11ManyLongKeys(t *testing.T) {
	t.Parallel()
	w := prepare(t, overWire(t), `source: shop
provider: generic
secrets: ["${HOOK}"]
event: {id: $.id, type: $.type, split: "$[*]"}
routes:
  - name: all
    records: [{object: Thing__c, key: {field: Ext__c, from: $.key}, fields: {Title__c: $.id}}]
`)
	w.bridge.Start(t)
	const events = 201
	for _, round := range []string{"a", "b"} {
		var batch []string
		for i := range events {
			batch = append(batch, fmt.Sprintf(`{"id":"%s%d","key":"%s%d"}`, round, i, repeat("名", 80), i))
		}
		w.accepted("shop", "["+strings.Join(batch, ",")+"]")
		w.settled()
	}
	assert.Equal(t, events, w.org.Count(t, "SELECT COUNT() FROM Inbound_Event__c WHERE Outcome__c = 'Updated'"))
	assert.Equal(t, events, w.org.Count(t, "SELECT COUNT() FROM Thing__c"))
	for _, c := range w.wire.Calls(func(*harness.Call) bool { return true }) {
		assert.Less(t, len(c.Path), 16<<10)
		assert.NotContains(t, c.Path, "allOrNone")
	}
	for _, c := range w.wire.Calls(harness.Stages) {
		var sent struct {
			AllOrNone *bool
			Records   []any
		}
		require.NoError(t, json.Unmarshal(c.Body, &sent))
		assert.NotNil(t, sent.AllOrNone)
		assert.LessOrEqual(t, len(sent.Records), 200)
		assert.NotEmpty(t, sent.Records)
	}
}

// A key field that the org doesn't have stops its route and says so; the
// events stay due until the mapping is right, other routes go on.
func TestD17MissingKeyField(t *testing.T) {
	t.Parallel()
	broken := strings.Replace(things, "Ext__c", "Typo__c", 1)
	w := prepare(t, nil, generic("broken", broken), generic("shop", things))
	w.bridge.Start(t)
	w.accepted("broken", `{"id":"a"}`)
	line, ok := w.bridge.Log().Wait(harness.Patient(t), 0, "route paused")
	require.True(t, ok)
	assert.Contains(t, line, "Typo__c")
	assert.Contains(t, line, "Thing__c")
	w.accepted("shop", `{"id":"b"}`)
	w.org.Eventually(t, "the other route must go on", func(context.Context) (bool, error) {
		return w.events()["shop:b"]["Status__c"] == "Completed", nil
	})
	row := w.events()["broken:a"]
	assert.Contains(t, []any{"Received", "Retryable"}, row["Status__c"])
	assert.Zero(t, attempts(t, row))

	checked := harness.Invoke(t, w.bridge.Config.Environment(), "check", "--org", "--config", w.bridge.File())
	assert.Equal(t, 1, checked.Code)
	assert.Contains(t, checked.Out+checked.Err, "Typo__c")

	w.bridge.Stop(t)
	write(t, w.bridge.Config.Dir+"/mappings", "m0.yaml", generic("broken", things))
	w.bridge.Start(t)
	w.completed(w.settled()["broken:a"], "Created")
}
