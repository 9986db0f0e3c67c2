package providers

import (
	"context"
	"encoding/base64"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/bridge/provider"
	"sfbridge/bridge/trial"
	"sfbridge/bridge/verify"
	"sfbridge/test/harness"
)

// samples are deliveries for presets whose events need more than an id. The
// others are content with the one under "".
var samples = map[string]string{
	"":                  `{"id":"e1","event_id":"e1","type":"t","event":"t","event_ts":1,"created_at":"2026-01-05T04:30:30Z","generatedDateTime":"2026-01-05T04:30:30Z","data":{"envelopeId":"1"},"payload":{"uri":"u","object":{"uuid":"1"}},"webhookTimestamp":1}`,
	"asana":             `{"events":[{"action":"added","resource":{"gid":"1"}}]}`,
	"cloudevents":       `{"specversion":"1.0","id":"1","source":"/a","type":"t"}`,
	"hubspot":           `[{"eventId":1,"portalId":1,"subscriptionId":1,"occurredAt":1,"objectId":1}]`,
	"adyen":             `{"type":"t","timestamp":"2026-01-05T04:30:30Z","data":{"id":"1"}}`,
	"mailgun":           `{"event-data":{"id":"e1"}}`,
	"xero":              `{"events":[{"tenantId":"t","resourceId":"1","eventType":"U","eventDateUtc":"2025-10-09T08:53:20"}]}`,
	"gocardless":        `{"events":[{"id":"EV1"}]}`,
	"okta":              `{"data":{"events":[{"uuid":"1"}]}}`,
	"auth0":             `[{"log_id":"1"}]`,
	"coinbase-commerce": `{"event":{"id":"1"}}`,
	"meta":              `{"entry":[{"id":"W","changes":[{"field":"messages","value":{"messages":[{"id":"wamid.1"}]}}]}]}`,
	"monday":            `{"event":{"triggerUuid":"1"}}`,
	"dropbox":           `{"list_folder":{"accounts":["dbid:A"]}}`,
	"twilio":            "MessageSid=SM1&MessageStatus=sent",
	"mollie-classic":    "id=tr_1",
	"braintree":         `<notification><timestamp type="datetime">2026-01-05T04:30:30Z</timestamp><kind>check</kind></notification>`,
	"salesforce":        outbound("04l1"),
}

// TestSendForEveryPresetThroughTheRoute: what bridge send makes of a body is
// taken as one event, and the same again adds none.
func TestSendForEveryPresetThroughTheRoute(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	catalog, err := provider.Load()
	require.NoError(t, err)
	secrets := map[string]string{
		"standard-webhooks": "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=", "svix": "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=",
		"gitlab": "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=", "adyen": "00ff", "chargebee": "user:pass", "braintree": "public:private",
		"salesforce": "00D000000000062EAA", "mollie-classic": "-",
	}
	var names []string
	for _, name := range catalog.Names() {
		preset, err := catalog.Preset(name)
		require.NoError(t, err)
		if preset.Fetches || preset.Rules[0].Kind == verify.KindECDSA {
			continue // only the provider has the key
		}
		names = append(names, name)
		if secrets[name] == "" {
			secrets[name] = "secret-of-" + name
		}
		list := []string{secrets[name]}
		if preset.Unsigned() {
			list = nil
		}
		more := map[string]string{"meta": "params: {verify_token: x}", "generic": "event: {id: $.id, type: $.type}"}[name]
		w.source(name, name, list, more)
	}
	w.start()
	for _, name := range names {
		preset, err := catalog.Preset(name)
		require.NoError(t, err)
		body, ok := samples[name]
		if !ok {
			body = samples[""]
		}
		report, err := trial.Sender{
			URL: w.url(name), Preset: preset, Secret: secrets[name], Body: []byte(body), Times: 2, Now: w.clock, Client: &w.client,
		}.Run(t.Context())
		require.NoError(t, err, name)
		assert.Equal(t, 2, report.Accepted, "%s: %s", name, report.First.Answer)
		assert.Len(t, w.stager.taken(), 1, name)
	}
	assert.Greater(t, len(names), 40)
}

// TestOutboundMessagesBecomeRecords the whole way: XML in, records out.
func TestOutboundMessagesBecomeRecords(t *testing.T) {
	t.Parallel()
	const mapping = `
source: crm
provider: salesforce
secrets: ["${ORG_ID}"]
routes:
  - name: contact
    when: {type: Contact}
    records:
      - object: Customer__c
        key: {field: Stripe_Customer_Id__c, template: "crm-{$.Notification.sObject.Id}"}
        fields: {Email__c: $.Notification.sObject.Email}
`
	org := harness.StartOrg(t, "--samples")
	bridge := harness.StartBridge(t, harness.Config{Org: org, Mappings: map[string]string{"crm.yaml": mapping},
		Env: map[string]string{"ORG_ID": "00D000000000062EAA"}})
	body := strings.ReplaceAll(outbound("04l1"), "<sf:LastName>Ünal &amp; Co</sf:LastName>", "<sf:Email>ada@example.com</sf:Email>")
	file := filepath.Join(t.TempDir(), "message.xml")
	require.NoError(t, os.WriteFile(file, []byte(body), 0o600))
	r := harness.Invoke(t, nil, "send", "--url", bridge.URL()+"/webhooks/crm", "--provider", "salesforce", "--secret", "00D000000000062EAA", "--body", file)
	require.Equal(t, 0, r.Code, r.Out+r.Err)
	assert.Contains(t, r.Out, "<Ack>true</Ack>")
	org.Eventually(t, "the contact has not come", func(context.Context) (bool, error) {
		return org.Count(t, "SELECT Id FROM Customer__c WHERE Stripe_Customer_Id__c = 'crm-0031' AND Email__c = 'ada@example.com'") == 1, nil
	})
}

// TestBraintreeIsStoredAsXML, taken out of its form.
func TestBraintreeIsStoredAsXML(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.source("bt", "braintree", []string{"public:private"}, "")
	w.start()
	catalog, err := provider.Load()
	require.NoError(t, err)
	preset, err := catalog.Preset("braintree")
	require.NoError(t, err)
	xml := `<notification><timestamp type="datetime">2026-01-05T04:30:30Z</timestamp><kind>subscription_canceled</kind><subject><subscription><id>s1</id></subscription></subject></notification>`
	_, err = trial.Sender{URL: w.url("bt"), Preset: preset, Secret: "public:private", Body: []byte(xml), Now: time.Now, Client: http.DefaultClient}.Run(t.Context())
	require.NoError(t, err)
	rows := w.stager.taken()
	require.Len(t, rows, 1)
	assert.Equal(t, xml, string(rows[0].Payload))
	assert.Equal(t, "s1", rows[0].ObjectID)
	assert.NotContains(t, string(rows[0].Payload), base64.StdEncoding.EncodeToString([]byte("notification")))
}
