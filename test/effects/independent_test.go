package effects_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/test/harness"
)

// threeEffects is the mapping with two more effects of the same transition.
const threeEffects = mapping + `      - name: notice
        when: {object: Payment__c, field: Status__c, to: [Succeeded]}
        post: {url: "${NOTICE_URL}", body: {charge: $.charge}}
      - name: line
        when: {object: Payment__c, field: Status__c, to: [Succeeded]}
        salesforce: {object: Payment_Line__c, key: {field: Line_Key__c, from: $.charge}, fields: {Qty__c: {value: 1}}}
`

// door stands before the receiver and breaks requests of a path off.
type door struct {
	*httptest.Server
	mu     sync.Mutex
	inside http.Handler
	path   string // whose requests are broken off; "": none
	after  bool   // only after the receiver has had them
}

func newDoor(t *testing.T) *door {
	t.Helper()
	d := &door{}
	d.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d.mu.Lock()
		inside, broken, after := d.inside, d.path == r.URL.Path, d.after
		d.mu.Unlock()
		if broken && !after {
			panic(http.ErrAbortHandler)
		}
		answer := httptest.NewRecorder()
		inside.ServeHTTP(answer, r)
		if broken {
			panic(http.ErrAbortHandler)
		}
		w.WriteHeader(answer.Code)
	}))
	t.Cleanup(d.Close)
	return d
}

func (d *door) breaks(path string, after bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.path, d.after = path, after
}

// Of three effects of one transition each in turn fails, before its request is
// there and after it. The others are sent and recorded once; the process dies,
// what failed is mended, and only that is tried again. The record is not written
// again.
func TestEachEffectFailsByItself(t *testing.T) {
	t.Parallel()
	for _, failing := range []string{"receipt", "notice", "line"} {
		for when, after := range map[string]bool{"before its send": false, "after its send": true} {
			t.Run(failing+" "+when, func(t *testing.T) {
				t.Parallel()
				d := newDoor(t)
				w := newWorld(t, func(c *harness.Config) {
					c.Mappings = map[string]string{"shop.yaml": threeEffects}
					c.Env["RECEIPT_URL"], c.Env["NOTICE_URL"] = d.URL+"/receipt", d.URL+"/notice"
					c.Outbound = fmt.Sprintf("{allow: [%q]}", strings.TrimPrefix(d.URL, "http://"))
					c.Poller = "{interval: 100ms, idle: 300ms, max_attempts: 1000, backoff: {base: 100ms, max: 300ms}}"
				})
				d.mu.Lock()
				d.inside = w.receiver.Config.Handler
				d.mu.Unlock()
				fail(t, w, d, failing, after)
				w.deliver("e1", "ch_1", "Succeeded", 1)
				w.org.Eventually(t, "the others are not done", func(context.Context) (bool, error) {
					return w.org.Count(t, "SELECT COUNT() FROM Outbound_Effect__c WHERE Status__c = 'Done'") == 2, nil
				})
				require.Equal(t, 1, w.org.Count(t, "SELECT COUNT() FROM Outbound_Effect__c WHERE Status__c IN ('Ready', 'Retryable') AND Name__c = '"+failing+"'"))
				written := w.org.Query(t, "SELECT LastModifiedDate FROM Payment__c")[0]
				w.bridge.Kill(t)
				d.breaks("", false)
				w.org.ClearFaults(t)
				w.bridge.Start(t)
				w.settle()
				w.recorded("shop:e1:receipt:ch_1", "shop:e1:notice:ch_1", "shop:e1:line:ch_1")
				assert.Equal(t, written, w.org.Query(t, "SELECT LastModifiedDate FROM Payment__c")[0])
				assert.Equal(t, 1, w.org.Count(t, "SELECT COUNT() FROM Payment_Line__c"))
				for key, n := range w.receiver.keys() {
					again := after && strings.Contains(key, ":"+failing+":")
					assert.Equal(t, again, n > 1, "%s came %d times", key, n)
				}
				assert.Len(t, w.receiver.keys(), 2, "every try under the same key")
				w.bridge.Stop(t)
			})
		}
	}
}

// fail has one effect fail until it is mended.
func fail(t *testing.T, w *world, d *door, effect string, after bool) {
	t.Helper()
	if effect != "line" {
		d.breaks("/"+effect, after)
		return
	}
	drop := map[bool]string{false: "drop_before", true: "drop_after"}[after]
	w.org.Plant(t, harness.Fault{"operation": "collections_upsert", "object": "Payment_Line__c", "fault": drop, "times": 0})
}
