package operate_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/test/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

const secret = "shop-secret"

// mappingV1 knows the first version of the shop's payloads, mappingV2 the second
// one too, and maps one more field.
const (
	head = `source: shop
provider: generic
secrets: ["${SHOP_SECRET}"]
event: {id: $.id, type: $.type, object: $.charge, order: {from: $.at, as: unix_s}}
routes:
`
	routeV1 = `  - name: charge-v1
    when: {type: charge, $.version: 1}
    records:
      - object: Payment__c
        key: {field: Stripe_Charge_Id__c, from: $.charge}
        order: true
        fields: {Amount__c: {from: $.amount, as: number}%s}
`
	routeV2 = `  - name: charge-v2
    when: {type: charge, $.version: 2}
    records:
      - object: Payment__c
        key: {field: Stripe_Charge_Id__c, from: $.charge}
        order: true
        fields: {Amount__c: {from: $.money.value, as: number}, Note__c: $.note}
`
)

func mappingV1() string { return head + fmt.Sprintf(routeV1, "") }
func mappingV2() string { return head + fmt.Sprintf(routeV1, ", Note__c: $.note") + routeV2 }

// world is an org and a bridge.
type world struct {
	t      *testing.T
	org    *harness.Org
	bridge *harness.Bridge
}

func newWorld(t *testing.T, change ...func(*harness.Config)) *world {
	t.Helper()
	w := &world{t: t, org: harness.StartOrg(t, "--samples")}
	c := harness.Config{
		Org: w.org, Only: []string{"receive", "process"}, Mappings: map[string]string{"shop.yaml": mappingV1()},
		Env: map[string]string{"SHOP_SECRET": secret}, Retention: "{payload_after: 30d, row_after: 90d, archive_dir: archive}",
	}
	for _, f := range change {
		f(&c)
	}
	w.bridge = harness.StartBridge(t, c)
	return w
}

// deliver sends a body and gives what the sender is told.
func (w *world) deliver(body string) (status, eventID string) {
	w.t.Helper()
	header := http.Header{"X-Signature": {harness.HMACHex(secret, []byte(body))}, "Content-Type": {"application/json"}}
	answer, err := w.bridge.Post(w.t.Context(), "shop", header, []byte(body))
	require.NoError(w.t, err)
	require.True(w.t, answer.OK(), "%d: %s", answer.Status, answer.Body)
	var said struct {
		Status  string
		EventID string `json:"event_id"`
	}
	require.NoError(w.t, json.Unmarshal(answer.Body, &said))
	return said.Status, said.EventID
}

// charge is a payload of version 1.
func charge(id string, at int, amount string) string {
	return fmt.Sprintf(`{"id":%q,"type":"charge","version":1,"charge":"ch_1","at":%d,"amount":%s,"note":"n %s"}`, id, 1767225600+at, amount, id)
}

// run runs a command on the settings of the bridge.
func (w *world) run(command string, args ...string) harness.Result {
	w.t.Helper()
	r := harness.Invoke(w.t, append(w.bridge.Config.Environment(), "USER=ada"), append([]string{command, "--config", w.bridge.File()}, args...)...)
	require.Zero(w.t, r.Code, "%s: %s%s", command, r.Out, r.Err)
	return r
}

// report runs a command and reads the numbers it prints.
func (w *world) report(command string, args ...string) map[string]any {
	w.t.Helper()
	var report map[string]any
	require.NoError(w.t, json.Unmarshal([]byte(w.run(command, args...).Out), &report))
	return report
}

// event reads a row; nil when there is none.
func (w *world) event(id string) harness.Row {
	w.t.Helper()
	rows := w.org.Query(w.t, "SELECT Id, Status__c, Outcome__c, Error_Code__c, Mapping_Version__c, History__c, Payload__c, Home_Queue__c, Revision__c"+
		" FROM Inbound_Event__c WHERE Event_Id__c = '"+id+"'")
	if len(rows) == 0 {
		return nil
	}
	return rows[0]
}

// ends holds an event to where it ended.
func (w *world) ends(id, status, outcome string) {
	w.t.Helper()
	e := w.event(id)
	require.NotNil(w.t, e, id)
	assert.Equal(w.t, status, e["Status__c"], "%v", e)
	assert.Equal(w.t, outcome, e["Outcome__c"], "%v", e)
}

// payment is what the record shows.
func (w *world) payment() string {
	w.t.Helper()
	rows := w.org.Query(w.t, "SELECT Amount__c, Note__c, Source_Event__c FROM Payment__c")
	require.Len(w.t, rows, 1)
	return fmt.Sprintf("%v %v %v", rows[0]["Amount__c"], rows[0]["Note__c"], rows[0]["Source_Event__c"])
}

func (w *world) patch(path string, fields map[string]any) {
	w.t.Helper()
	path = "/services/data/v" + harness.APIVersion + "/sobjects/" + path
	require.NoError(w.t, w.org.Call(w.t.Context(), harness.Request{Method: http.MethodPatch, Path: path, Body: fields}))
}

// age makes an event as old as a time, and has its queue's horizon be there
// already, so that retention need not wait for receivers.
func (w *world) age(id, at string) {
	w.t.Helper()
	e := w.event(id)
	w.patch("Inbound_Event__c/"+e["Id"].(string), map[string]any{"Received_At__c": at, "Processed_At__c": at})
	w.patch("Bridge_Queue__c/Name__c/"+url.PathEscape(e["Home_Queue__c"].(string)), map[string]any{"Horizon__c": at})
}

// remap changes the mapping and starts the bridge with it.
func (w *world) remap(text string) {
	w.t.Helper()
	w.bridge.Stop(w.t)
	require.NoError(w.t, os.WriteFile(filepath.Join(w.bridge.Config.Dir, "mappings", "shop.yaml"), []byte(text), 0o600))
	w.bridge.Start(w.t)
}
