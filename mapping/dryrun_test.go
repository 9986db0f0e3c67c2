package mapping

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sfbridge/mapping/path"
)

const examples = "../config/examples/"

// The examples load, without a warning, and give the records of
// testdata/examples for the events there.
func TestExamples(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		mapping, kind string
		order         int64
	}{
		"stripe_charge":   {"stripe", "charge.succeeded", 1767225600000},
		"stripe_refund":   {"stripe", "charge.refunded", 1767225700000},
		"stripe_customer": {"stripe", "customer.updated", 1767225600000},
		"stripe_invoice":  {"stripe", "invoice.paid", 1767225600000},
		"github_issue":    {"github", "issues.opened", 1767225600000},
		"shopify_order":   {"shopify", "orders/updated", 1767225600000},
		"hubspot_contact": {"hubspot", "contact.propertyChange", 1767225600123},
		"sendgrid_bounce": {"sendgrid", "bounce", 1767225600000},
		"sendgrid_click":  {"sendgrid", "click", 1767225601000},
		"erp_order":       {"erp", "order.changed", 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, err := Load(examples + c.mapping + ".yaml")
			require.NoError(t, err)
			assert.Empty(t, f.Warnings())
			data, err := os.ReadFile("testdata/examples/" + name + ".json")
			require.NoError(t, err)
			event, err := path.DecodeJSON(data)
			require.NoError(t, err)
			report := f.DryRun([]DryEvent{{
				Input: Input{EventID: f.Source + ":1", Type: c.kind, Order: &c.order, Scope: path.Scope{
					Event: event, Outer: path.Delivery{Header: map[string][]string{"X-Shopify-Shop-Domain": {"acme.myshopify.com"}}},
				}},
				ObjectID: "object-1",
				Hash:     strings.Repeat("0", 64),
			}})
			assert.False(t, report.Review())
			golden(t, "testdata/examples/"+name+".want", printed(t, report))
		})
	}
}

// printed is a report as the command prints it.
func printed(t *testing.T, report DryReport) string {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	require.NoError(t, e.Encode(report))
	return b.String()
}

// The Stripe example writes only columns that the sample objects have.
func TestExampleFitsTheSamples(t *testing.T) {
	t.Parallel()
	const objects = "../apex/samples/"
	f, err := Load(examples + "stripe.yaml")
	require.NoError(t, err)
	for _, r := range f.Routes {
		for _, target := range r.Targets() {
			columns := []string{target.KeyField, target.Order.Field, target.Order.Event, target.Order.Prior}
			for _, field := range target.Fields {
				columns = append(columns, field.Column)
			}
			for _, column := range columns {
				found, err := filepath.Glob(objects + "*/default/objects/" + target.Object + "/fields/" + column + ".field-meta.xml")
				require.NoError(t, err)
				assert.Len(t, found, 1, "%s.%s", target.Object, column)
			}
		}
	}
}

func TestDryRunOutcomes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "s.json"), []byte(`{"required":["x"]}`), 0o600))
	text := `source: shop
provider: shopify
unmatched: UNMATCHED
routes:
  - {name: skip, when: {type: skip}, ignore: true}
  - {name: strict, when: {type: strict}, schema: s.json, records: [{object: A__c, key: {field: E__c, from: $.id}, fields: {B__c: $.b}}]}
  - {name: go, when: {type: go}, records: [{object: A__c, key: {field: E__c, from: $.id}, fields: {B__c: {from: $.b, as: integer}}}]}
`
	for _, unmatched := range []string{"review", "ignore"} {
		f, err := Parse(filepath.Join(dir, "shop.yaml"), []byte(strings.Replace(text, "UNMATCHED", unmatched, 1)))
		require.NoError(t, err)
		var events []DryEvent
		for _, kind := range []string{"skip", "strict", "go", "other"} {
			in := input(t, `{"id":"1","b":"x"}`)
			in.Type = kind
			events = append(events, DryEvent{Input: in, ObjectID: "o", Hash: "h"})
		}
		fine := input(t, `{"id":"1","b":"2"}`)
		fine.Type = "go"
		unknown := Input{Scope: fine.Scope}
		events = append(events, DryEvent{Input: fine}, DryEvent{Input: unknown, Reason: "the event has no id"})
		report := f.DryRun(events)
		assert.True(t, report.Review())
		golden(t, "testdata/dryrun_"+unmatched+".want", printed(t, report))
	}
	empty := (&File{}).DryRun(nil)
	assert.False(t, empty.Review())
	assert.JSONEq(t, `{"events":[]}`, printed(t, empty))
}

// A dry run ends where the service would: an effect that can't be built sends
// its event to review, records and all.
func TestDryRunJudgesEffects(t *testing.T) {
	t.Parallel()
	f, err := Parse("m.yaml", []byte(`
source: shop
provider: generic
secrets: ["${S}"]
event: {id: $.id, type: $.type}
routes:
  - records: [{object: A__c, key: {field: K__c, from: $.id}, fields: {S__c: $.s}}]
    effects:
      - {name: log, when: {object: A__c, field: S__c, to: [done]}, salesforce: {object: L__c, key: {field: K__c, from: $.log}, fields: {X__c: $.id}}}
`))
	require.NoError(t, err)
	for payload, want := range map[string]DryOutcome{
		`{"id":"1","s":"open"}`:            DryApply,
		`{"id":"1","s":"done","log":"l1"}`: DryApply,
		`{"id":"1","s":"done"}`:            DryReview,
	} {
		got := f.DryRun([]DryEvent{{Input: input(t, payload)}}).Events[0]
		assert.Equal(t, want, got.Outcome, payload)
		if want == DryReview {
			assert.Empty(t, got.Records)
			require.Len(t, got.Errors, 1)
			assert.Equal(t, "K__c", *got.Errors[0].Field)
			assert.Equal(t, "is missing", got.Errors[0].Reason)
		}
	}
}
