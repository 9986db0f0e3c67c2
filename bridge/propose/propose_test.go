package propose_test

import (
	"context"
	"encoding/json"
	"flag"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"sfbridge/bridge/propose"
	"sfbridge/mapping"
	"sfbridge/mapping/path"
	"sfbridge/salesforce"
)

var update = flag.Bool("update", false, "write the golden files")

// fakeOrg describes what it holds.
type fakeOrg map[string]*salesforce.Object

func (o fakeOrg) Describe(_ context.Context, name string) (*salesforce.Object, error) {
	if found, ok := o[name]; ok {
		return found, nil
	}
	return nil, &salesforce.Error{Status: http.StatusNotFound, Fault: salesforce.Fault{Class: salesforce.ClassConfiguration}}
}

func field(name, kind string) salesforce.Field {
	return salesforce.Field{Name: name, Type: kind, Createable: true, Updateable: true, Nillable: true, Custom: true, Length: 255}
}

func org() fakeOrg {
	key := field("Stripe_Charge_Id__c", "string")
	key.ExternalID, key.Unique = true, true
	other := field("Erp_Id__c", "string")
	other.ExternalID, other.Unique = true, true
	status := field("State__c", "picklist")
	status.PicklistValues = []salesforce.PicklistValue{{Value: "Succeeded", Active: true}, {Value: "Failed", Active: true}}
	buyer := field("Customer__c", "reference")
	buyer.ReferenceTo, buyer.RelationshipName = []string{"Buyer__c"}, "Customer__r"
	shop := field("Shop__c", "reference")
	shop.ReferenceTo, shop.RelationshipName = []string{"Shop__c"}, "Shop__r"
	required := field("Region__c", "string")
	required.Nillable = false
	short := field("Currency__c", "string")
	short.Length = 3
	number := field("Name", "string")
	number.AutoNumber, number.Createable = true, false
	buyerKey := field("Stripe_Id__c", "string")
	buyerKey.ExternalID, buyerKey.Unique = true, true
	return fakeOrg{
		"Payment__c": {Name: "Payment__c", Fields: []salesforce.Field{
			number, other, key, status, buyer, shop, required, short,
			field("Amount__c", "currency"), field("Note__c", "textarea"), field("Created_On__c", "date"), field("Paid__c", "boolean"),
			field("Lines__c", "double"), field("Tags__c", "multipicklist"), field("Attempts__c", "int"),
			field("Source_Order__c", "double"), field("Source_Event__c", "string"), field("Source_Prior__c", "string"),
		}},
		"Buyer__c": {Name: "Buyer__c", Fields: []salesforce.Field{buyerKey}},
	}
}

func decode(t require.TestingT, payload string) any {
	v, err := path.DecodeJSON([]byte(payload))
	require.NoError(t, err)
	return v
}

func charges(t *testing.T) []propose.Sample {
	t.Helper()
	const head = `{"id":"evt","created":1767225600,"data":{"object":{"id":"ID",`
	one := head + `"amount":1250,"currency":"usd","status":"succeeded","created":1767225600,"description":null,"customer":"cus_1","shop":"s1",` +
		`"paid":true,"lines":[{"id":1}],"tags":["a"],"attempts":2,"rate":1.5,"e-mail":"a@b.example","note's":"x","mixed":1,"on":"2026-01-05","at":"2026-01-05T10:00:00Z"}}}`
	two := head + `"amount":7,"currency":"eur","status":"disputed","created":1767225601,"description":"text","mixed":"2","nested":{"deep":{"deeper":1},"total_price":"12.50"}}}}`
	samples := []propose.Sample{}
	for id, payload := range map[string]string{"ch_1": one, "ch_2": two} {
		samples = append(samples, propose.Sample{Type: "charge." + id, ObjectID: id, Ordered: true,
			Value: decode(t, string(json.RawMessage(replaceID(payload, id))))})
	}
	return samples
}

func replaceID(payload, id string) string {
	const mark = `"id":"ID"`
	for i := 0; i+len(mark) <= len(payload); i++ {
		if payload[i:i+len(mark)] == mark {
			return payload[:i] + `"id":"` + id + `"` + payload[i+len(mark):]
		}
	}
	return payload
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := "testdata/" + name
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o600))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(want), got)
}

func TestDraftFromPayloadsAlone(t *testing.T) {
	t.Parallel()
	samples := charges(t)
	draft, err := propose.Draft(t.Context(), propose.Config{Head: propose.Head("stripe", nil, nil), Vendor: "stripe", Object: "Payment__c", Samples: samples})
	require.NoError(t, err)
	golden(t, "offline.yaml", draft.Text)
	assert.Contains(t, draft.Decisions, "key: the external ID field of Payment__c")
	assert.Len(t, draft.Decisions, strings.Count(draft.Text, "# decide: "), "every mark in the draft is counted")

	samples[0], samples[1] = samples[1], samples[0]
	again, err := propose.Draft(t.Context(), propose.Config{Head: propose.Head("stripe", nil, nil), Vendor: "stripe", Object: "Payment__c", Samples: samples})
	require.NoError(t, err)
	assert.Equal(t, draft.Text, again.Text)
}

func TestDraftFitsTheOrg(t *testing.T) {
	t.Parallel()
	cfg := propose.Config{Head: propose.Head("stripe", nil, nil), Vendor: "stripe", Object: "Payment__c", Samples: charges(t), Org: org()}
	draft, err := propose.Draft(t.Context(), cfg)
	require.NoError(t, err)
	golden(t, "online.yaml", draft.Text)
	assert.Contains(t, draft.Decisions, "Region__c: required (string); no value was found for it")
	assert.Len(t, draft.Decisions, strings.Count(draft.Text, "# decide: "), "those in comments too")

	cfg.Object = "Nothing__c"
	_, err = propose.Draft(t.Context(), cfg)
	assert.EqualError(t, err, "the org has no Nothing__c, or this user can't see it")
	_, err = propose.Draft(t.Context(), propose.Config{})
	assert.ErrorContains(t, err, "give a payload")
}

func TestHeadGuessesWhatAProviderLeavesOpen(t *testing.T) {
	t.Parallel()
	payload := decode(t, `{"uuid":"u1","topic":"order.paid","created_at":"2026-01-05T10:00:00Z","a":{"order":{"id":7}},"order":{"id":8}}`)
	assert.Equal(t, `source: generic   # decide: the last part of POST /webhooks/generic
provider: generic
secrets: ["${GENERIC_SECRET}"]   # decide: where the secret comes from
event:
  id: $.uuid   # decide: what tells this event from all others, the same when it is sent again
  type: $.topic   # decide: what happened
  object: $.order.id   # decide: the provider's object that the event is about
  order: {from: $.created_at, as: rfc3339}   # decide: what orders the events of one object
`, propose.Head("generic", []string{"id", "type"}, payload))
	assert.NotContains(t, propose.Head("stripe", nil, payload), "event:")
}

// Whatever the samples hold, the draft loads.
func TestEveryDraftLoads(t *testing.T) {
	t.Parallel()
	name := rapid.OneOf(rapid.SampledFrom([]string{"id", "created_at", "amount", "currency", "a b", "x'y", `q"z`, "[0]", "ключ", "", "{brace}", "true", "#", "a: b", "total"}), rapid.String())
	leaf := rapid.OneOf(rapid.Just[any](nil), rapid.Just[any](true), rapid.Just[any](json.Number("1767225600")), rapid.Just[any](json.Number("1.5e3")),
		rapid.Map(rapid.String(), func(s string) any { return s }), rapid.Just[any]([]any{"a"}), rapid.Just[any]([]any{map[string]any{}}), rapid.Just[any](map[string]any{"id": "x", "b": nil}))
	rapid.Check(t, func(t *rapid.T) {
		object := map[string]any{}
		for k, v := range rapid.MapOf(name, leaf).Draw(t, "object") {
			object[k] = v
		}
		id := rapid.SampledFrom([]string{"", "x", "17"}).Draw(t, "id")
		object["id"] = id
		sample := propose.Sample{Type: rapid.String().Draw(t, "type"), ObjectID: id, Ordered: rapid.Bool().Draw(t, "ordered"), Value: map[string]any{"object": object}}
		required := rapid.SampledFrom([][]string{nil, {"id", "type"}}).Draw(t, "required")
		vendor := "stripe"
		if required != nil {
			vendor = "generic"
		}
		cfg := propose.Config{Head: propose.Head(vendor, required, object), Vendor: vendor, Object: "Payment__c", Samples: []propose.Sample{sample}}
		if rapid.Bool().Draw(t, "org") {
			cfg.Org = org()
		}
		draft, err := propose.Draft(context.Background(), cfg)
		if err != nil {
			t.Fatalf("%v\n%s", err, draft.Text)
		}
		if _, err := mapping.Parse("m.yaml", []byte(draft.Text)); err != nil {
			t.Fatal(err)
		}
	})
}

// Without an object in the events, the key is the likeliest member and a
// person's to decide.
func TestDraftOfEventsThatNameNoObject(t *testing.T) {
	t.Parallel()
	for payload, key := range map[string]string{
		`{"action":"opened","issue":{"node_id":"I_1","number":7}}`:    "$.issue.node_id",
		`{"a":{"id":"inner"},"id":"outer","number":7}`:                "$.id",
		`{"action":"opened","issue":{"title":"t"},"repository":null}`: "$.id",
	} {
		draft, err := propose.Draft(t.Context(), propose.Config{Head: propose.Head("github", nil, nil), Vendor: "github", Object: "Case",
			Samples: []propose.Sample{{Type: "issues.opened", Value: decode(t, payload)}}})
		require.NoError(t, err)
		assert.Contains(t, draft.Text, "from: "+key+"}   # decide: the external ID field of Case; the events name no object;", payload)
	}
}
