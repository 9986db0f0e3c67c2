package realinput_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sfbridge/test/harness"
)

// standardSecret is 32 bytes in the form that the standard prescribes.
const standardSecret = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="

// standardSources are the mappings of GitHub's and Stripe's payloads for
// senders that sign as Standard Webhooks prescribes. Which object an event is
// about is said by the mapping: one source for each kind of object.
var standardSources = map[string]string{
	"hub-issues": `{type: "{header.X-GitHub-Event}.{$.action}", object: $.issue.id, order: {from: $.issue.updated_at, as: rfc3339}}`,
	"hub-pulls":  `{type: "{header.X-GitHub-Event}.{$.action}", object: $.pull_request.id, order: {from: $.pull_request.updated_at, as: rfc3339}}`,
	"hub-checks": `{type: "{header.X-GitHub-Event}.{$.action}", object: $.check_run.id, order: {first: [$.check_run.completed_at, $.check_run.started_at], as: rfc3339}}`,
	"pay":        `{type: $.type, object: $.data.object.id, order: {from: $.created, as: unix_s}}`,
}

// standardMapping takes the routes of a provider's mapping for another source.
func standardMapping(source string) string {
	from := githubMapping
	if source == "pay" {
		from = stripeMapping
	}
	_, routes, _ := strings.Cut(from, "unmatched:")
	return "source: " + source + "\nprovider: standard-webhooks\nsecrets: [\"${STANDARD_SECRET}\"]\nevent: " +
		standardSources[source] + "\nunmatched:" + routes
}

// standardSource is where a delivery goes; what is mapped nowhere goes to one
// of them all the same.
func standardSource(d delivery) string {
	if d.source == "stripe" {
		return "pay"
	}
	if d.fact != nil {
		switch d.fact.writes[0].object {
		case "Pull_Request__c":
			return "hub-pulls"
		case "Check_Run__c":
			return "hub-checks"
		}
	}
	return "hub-issues"
}

// The same payloads, signed by the reference library of Standard Webhooks. Here
// the latest event of every object comes first and is done when all the others
// come: each of those is stale and changes nothing.
func TestStandardWebhooks(t *testing.T) {
	t.Parallel()
	var list []delivery
	for _, d := range append(githubDeliveries(t), stripeDeliveries(t)...) {
		d.source = standardSource(d)
		d.id = "msg_" + strings.ReplaceAll(d.id, "-", "")
		d.event = d.source + ":" + d.id
		list = append(list, d)
	}
	org := harness.StartOrg(t, "--samples", "--metadata", "testdata/objects")
	mappings := map[string]string{}
	for source := range standardSources {
		mappings[source+".yaml"] = standardMapping(source)
	}
	bridge := harness.StartBridge(t, harness.Config{Org: org, Mappings: mappings, Env: map[string]string{"STANDARD_SECRET": standardSecret}})
	latest, rest := newest(list)
	require.NotEmpty(t, latest)
	standard := signer{"standard-webhooks", standardSecret}
	refuse(t, bridge, standard, list)
	deliver(t, bridge, standard, latest, "accepted")
	org.Settle(t)
	deliver(t, bridge, standard, rest, "accepted")
	org.Settle(t)
	o := newOracle()
	for _, d := range append(oldestFirst(latest), oldestFirst(rest)...) {
		o.apply(d)
	}
	checkEvents(t, org, list, o.outcomes)
	o.checkRecords(t, org, "Issue__c", "Pull_Request__c", "Check_Run__c", "Customer__c", "Payment__c", "Payment_Line__c")
}
