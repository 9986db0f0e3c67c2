package realinput_test

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/test/harness"
)

//go:embed testdata/stripe.yaml
var stripeMapping string

const (
	stripeSecret = "whsec_real_input"
	stripeMock   = "github.com/stripe/stripe-mock@v0.203.0"
	stripeEpoch  = 1721954000 // of the first event, in seconds
)

// fixtures are the resources of Stripe's own mock server, by name.
func fixtures(t *testing.T) map[string]json.RawMessage {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", stripeMock)
	cmd.Dir = t.TempDir() // outside this module, whose requirements must not change
	out, err := cmd.Output()
	if err != nil && os.Getenv("CI") != "true" {
		t.Skipf("this test needs the Go module %s; get it with: go mod download %s", stripeMock, stripeMock)
	}
	require.NoError(t, err, "go mod download %s: %s", stripeMock, out)
	var module struct{ Dir string }
	require.NoError(t, json.Unmarshal(out, &module))
	data, err := os.ReadFile(filepath.Join(module.Dir, "embedded", "openapi", "fixtures3.json"))
	require.NoError(t, err)
	var file struct{ Resources map[string]json.RawMessage }
	require.NoError(t, json.Unmarshal(data, &file))
	require.Greater(t, len(file.Resources), 100, "the whole file")
	return file.Resources
}

// stripeDeliveries wraps every fixture as the events of its life.
func stripeDeliveries(t *testing.T) []delivery {
	t.Helper()
	resources := fixtures(t)
	names := make([]string, 0, len(resources))
	for name := range resources {
		names = append(names, name)
	}
	slices.Sort(names)
	var list []delivery
	for _, name := range names {
		kinds := []string{name + ".created", name + ".updated"}
		if kind, deleted := strings.CutPrefix(name, "deleted_"); deleted {
			kinds = []string{kind + ".deleted"}
		}
		for _, kind := range kinds {
			list = append(list, stripeEvent(t, len(list), kind, resources[name]))
		}
	}
	return list
}

// stripeEvent is the event that Stripe would send. What is deleted is deleted
// after all else; ids don't follow the time.
func stripeEvent(t *testing.T, n int, kind string, resource json.RawMessage) delivery {
	t.Helper()
	id := fmt.Sprintf("evt_%04d", (n*7919)%10000)
	created := stripeEpoch + n
	if strings.HasSuffix(kind, ".deleted") {
		created += 100000
	}
	body := fmt.Appendf(nil, `{
  "id": %q, "object": "event", "api_version": "2024-06-20", "created": %d, "livemode": false, "pending_webhooks": 1,
  "type": %q, "request": {"id": null, "idempotency_key": null}, "data": {"object": %s}
}`, id, created, kind, resource)
	return delivery{
		name: kind, source: "stripe", id: id, event: "stripe:" + id, body: body,
		fact: stripeFact(kind, int64(created)*1000, decode(t, body)),
	}
}

var stripeMapped = []string{"customer", "deleted_customer", "charge", "payment_intent", "invoice"}

func stripeFact(kind string, order int64, d tree) *fact {
	object, action, _ := cutLast(kind, ".")
	f := &fact{eventType: kind, order: order, deletes: action == "deleted"}
	switch {
	case object == "customer":
		f.writes = []write{{"Customer__c", "Stripe_Customer_Id__c", d.text("data.object.id"),
			d.fields(map[string]string{"Email__c": "data.object.email"}, nil)}}
	case slices.Contains([]string{"charge", "payment_intent", "invoice"}, object) && action != "deleted":
		f.writes = append([]write{payment(object, d)}, lines(object, d)...)
	default:
		return nil
	}
	f.entity = d.text("data.object.id")
	return f
}

func cutLast(text, sep string) (before, after string, found bool) {
	at := strings.LastIndex(text, sep)
	if at < 0 {
		return text, "", false
	}
	return text[:at], text[at+len(sep):], true
}

var (
	stripeStatus = map[string]reader{
		"charge":         asWord(map[string]string{"pending": "Pending", "succeeded": "Succeeded", "failed": "Failed"}, "unknown"),
		"payment_intent": asWord(map[string]string{"succeeded": "Succeeded", "canceled": "Failed"}, "Pending"),
		"invoice":        asWord(map[string]string{"paid": "Succeeded", "void": "Failed", "uncollectible": "Failed"}, "Pending"),
	}
	stripeAmount = map[string]string{"charge": "amount", "payment_intent": "amount", "invoice": "total"}
	stripeOrigin = map[string]string{"charge": "Stripe charge", "payment_intent": "Stripe intent", "invoice": "Stripe invoice"}
)

func payment(object string, d tree) write {
	fields := d.fields(map[string]string{
		"Amount__c": "data.object." + stripeAmount[object], "Currency__c": "data.object.currency", "Status__c": "data.object.status",
		"Paid_At__c": "data.object.created", "Note__c": "data.object.description",
	}, map[string]reader{
		"Amount__c": asHundredths, "Status__c": stripeStatus[object], "Paid_At__c": asUnix,
		"Currency__c": func(v any) any { return strings.ToUpper(v.(string)) },
	})
	fields["Origin__c"] = stripeOrigin[object]
	return write{"Payment__c", "Stripe_Charge_Id__c", d.text("data.object.id"), fields}
}

// lines are the lines of an invoice, under the payment of the same event.
func lines(object string, d tree) []write {
	list, _ := mustGet(d, "data.object.lines.data").([]any)
	if object != "invoice" {
		return nil
	}
	out := make([]write, len(list))
	for i, item := range list {
		line := tree{d.t, item}
		fields := line.fields(map[string]string{"Qty__c": "quantity", "Amount__c": "amount"}, map[string]reader{"Qty__c": asNumber, "Amount__c": asHundredths})
		fields["Payment__r.Stripe_Charge_Id__c"] = d.text("data.object.id")
		out[i] = write{"Payment_Line__c", "Line_Key__c", d.text("data.object.id") + "/" + line.text("id"), fields}
	}
	return out
}

// Every resource that Stripe's mock server knows is received as events; the
// mapped kinds end as records with their parents, the rest leaves no trace.
func TestStripe(t *testing.T) {
	t.Parallel()
	harness.NeedClients(t)
	list := stripeDeliveries(t)
	org := harness.StartOrg(t, "--samples")
	config := harness.Config{
		Name: "receiver", Org: org, Only: []string{"receive"},
		Mappings: map[string]string{"stripe.yaml": stripeMapping}, Env: map[string]string{"STRIPE_SECRET": stripeSecret},
	}
	receiver := harness.StartBridge(t, config)
	stripe := signer{"stripe", stripeSecret}
	require.Len(t, mapped(list), 2*len(stripeMapped)-1, "created and updated of each, and one deleted")
	refuse(t, receiver, stripe, list)
	deliver(t, receiver, stripe, list, "accepted")
	assert.Equal(t, len(mapped(list)), org.Count(t, "SELECT COUNT() FROM Inbound_Event__c WHERE Status__c = 'Received'"))
	deliver(t, receiver, stripe, list, "duplicate")

	config.Name, config.Only = "processor", []string{"process"}
	harness.StartBridge(t, config)
	org.Settle(t)
	o := newOracle()
	for _, d := range oldestFirst(list) {
		o.apply(d)
	}
	checkEvents(t, org, list, o.outcomes)
	o.checkRecords(t, org, "Customer__c", "Payment__c", "Payment_Line__c")
}
